/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a drive, as data: sim/profiles/NAME.profile has one key a line, with its value, its unit and its
 * source. The files are compiled in, so that a program needs no path. Profiles of other drives are read from files.
 * The rules of the text: profile_text.h.
 *
 *   model      "Samsung SSD 980 PRO 2TB"  # data sheet: the name in Identify Controller
 *   slc_bytes  226 GB                     # data sheet: 10 GB default and 216 GB intelligent TurboWrite
 *
 * The first word of a source is its kind: `data sheet`, `report` (what such a drive reports of itself), `review`,
 * `seed` (a published measurement of a comparable recorder, with which the figures are compared), `fitted` (chosen so
 * that a simulated curve meets a measured point, which the source names), `derived`, `assumed`, or `measured` (by
 * `spate calibrate` on a drive). A point of a curve is a prediction only if no `fitted` line names it. The seeds:
 *
 *   1  a 970 EVO Plus on a Zynq UltraScale+, bare metal, raw and FAT32 (2019)
 *   3  a 980 PRO on the same, exFAT, whole drives (2021)
 *   4  a 990 PRO on a Versal, Linux, by block size (2024)
 *   5  a 960 PRO, a 980 PRO, a Starblaze and an Exascend on a ZU7EV, pure logic, 1000 GB raw each
 *
 * A profile says what the drive does. The limits of the host's bridge and of the link are in sim_link_config.
 */
#ifndef SPATE_SIM_PROFILE_H
#define SPATE_SIM_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_profile {
  char name[32]; /* as on the command line: "980pro" */
  char model[41];
  uint64_t capacity_bytes;
  uint8_t generation, lanes; /* the fastest link it supports */

  /* controller */
  uint32_t mdts_pages;       /* largest transfer in 4 KiB pages, a power of two */
  uint32_t queue_entries;    /* CAP.MQES + 1 */
  uint32_t command_ns;       /* the front end takes one command after the other: IOPS ≤ 1e9 / this */
  uint32_t write_latency_ns; /* from the data's arrival to the completion, into the cache */
  uint32_t read_latency_ns;  /* from the command to the first byte, from the media */
  uint32_t ready_ms;         /* CC.EN to CSTS.RDY */

  /* rates of the media, bytes per second */
  double read_rate;   /* sequential */
  double slc_rate;    /* writes while the SLC cache has room */
  double direct_rate; /* past the SLC cache, straight to TLC or MLC */
  double fold_rate;   /* host writes while the cache is folded at the same time */
  double full_rate;   /* on a drive that was written full and not trimmed: garbage collection runs */

  /* SLC cache */
  uint64_t slc_bytes;      /* on an empty, trimmed drive */
  uint64_t slc_full_bytes; /* on a full one: the fixed part */
  double slc_refill_rate;  /* folded while the drive idles ... */
  uint32_t slc_rest_ms;    /* ... after this long without writes */
  uint64_t fold_bytes;     /* host bytes written at fold_rate once the cache is full, before direct_rate */

  /* volatile cache */
  bool volatile_cache;
  uint64_t buffer_bytes; /* written data held before the media takes it */
  uint32_t flush_ns;     /* of an empty cache */
  uint32_t fua_ns;       /* added to a write with FUA */

  /* pauses: every pause_bytes written the media takes nothing for pause_ms */
  uint64_t pause_bytes;
  uint32_t pause_ms;

  /* heat: C dT/dt = P - (T - ambient) / R */
  double idle_watts, joules_per_byte; /* power = idle_watts + rate * joules_per_byte */
  double heat_capacity;               /* J/K */
  double heat_resistance;             /* K/W to the air; a heat sink makes it small */
  double ambient_c, warning_c, throttle_c, recover_c;
  double throttle_factor; /* multiplies every rate, from throttle_c until recover_c */
  double critical_c;
  uint16_t atomic_bytes; /* power-fail atomic write unit; 0: one block */
};

/* By name. NULL: there is no such profile. */
const struct sim_profile *sim_profile_find(const char *name);
/* The compiled-in profiles in the order of their names. NULL after the last. */
const struct sim_profile *sim_profile_at(unsigned index);

/* By name, or from a file: a word with a '/' or a '.' is a path. Valid until the program ends. NULL: `why`, of
 * SIM_PROFILE_WHY_BYTES (profile_text.h), says what is wrong. */
const struct sim_profile *sim_profile_open(const char *word, char *why);

#endif
