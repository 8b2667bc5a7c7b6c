/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVMe 1.4 controller with one namespace at register and DMA level, behind a root port of its own. It is strict:
 * what the specification forbids a host is a violation, with the reason (sim.h), besides the status a drive would give.
 *
 * Implemented: CAP, VS, INTMS/INTMC, CC, CSTS, AQA, ASQ, ACQ, doorbells at any stride; Create and Delete I/O queues,
 * Get Log Page (error, SMART, firmware slot, telemetry), Identify (CNS 0-3), Abort, Set and Get Features, Asynchronous
 * Event Request, Format NVM; Flush, Write, Read, Write Zeroes, Dataset Management; FUA; shutdown notification; NVM
 * subsystem reset where CAP.NSSRS is set; function level reset, secondary bus reset, PERST#; PRPs with chained lists.
 * Round-robin arbitration. No SGLs, no metadata, no interrupts (the library polls; MSI-X is not there).
 *
 * A command's life: doorbell → fetch over the link → front end (one after the other) → PRP list fetch → data over the
 * link and through the media model → completion over the link. Each step is an event; many commands are on their way at
 * once, and finish in the order that their times say.
 */
#ifndef SPATE_SIM_DRIVE_H
#define SPATE_SIM_DRIVE_H

#include "fault.h"
#include "link.h"
#include "media.h"
#include "sim.h"
#include "store.h"

struct sim_drive_options {
  struct sim_link_config link; /* generation 0: the profile's, MPS 256, MRRS 512, 250 ns one way, 2 % */
  uint8_t block_shift;         /* 9 or 12; 0: 9. Format NVM changes it */
  uint64_t bytes;              /* capacity; 0: the profile's */
  double filled;               /* share of the capacity, at its end, that was written before and not trimmed */
  bool no_volatile_cache;      /* whatever the profile says */
  bool keeps_write_cache;      /* Set Features 6 outlives a reset, as if it were saved. Otherwise the default is back */
  bool journal;                /* keep every write, flush and trim with its data: see below */
  bool shuffle;                /* complete commands in any order, by the seed */
  bool log_commands;           /* keep every command as fetched: sim_drive_commands() */
  uint16_t queue_pairs;        /* that it grants; 0: 8 */
  uint8_t doorbell_stride;     /* CAP.DSTRD */
  uint32_t version;            /* VS; 0: 1.4 (00010400h). Only Identify knows the difference: see identify.c */
  /* What trimmed blocks read as: 0 zeros, 1 ones, 2 what they held, 3 each any of these, by the seed. 1 and 3 keep them
   * as data: not for terabytes. */
  uint8_t deallocated;
  char serial[21]; /* empty: made from the drive's number */
};

/* NULL options: all defaults. The machine owns the drive. */
struct sim_drive *sim_drive_add(struct sim *sim, const struct sim_profile *profile,
                                const struct sim_drive_options *options);
struct sim_drive *sim_drive_at(struct sim *sim, unsigned index);

/* ---- what it is, for tests to change before the library opens it ---- */

uint64_t *sim_drive_cap(struct sim_drive *drive);
uint8_t *sim_drive_identify_controller(struct sim_drive *drive); /* 4096 bytes each */
uint8_t *sim_drive_identify_namespace(struct sim_drive *drive);
/* Identifiers of the active namespaces, ascending, then 0; room for 8. The first is the one there is; others show its
 * Identify page and take no I/O. */
uint32_t *sim_drive_namespaces(struct sim_drive *drive);
/* 512 bytes. Temperature, and what was counted since the start, come on top when the log is read. */
uint8_t *sim_drive_smart(struct sim_drive *drive);

/* ---- how it behaves ---- */

void sim_drive_fault(struct sim_drive *drive, struct sim_fault fault);
void sim_drive_clear_faults(struct sim_drive *drive);
/* CSTS.RDY does not follow CC.EN: to 1, to 0; CSTS.CFS instead. */
void sim_drive_stick(struct sim_drive *drive, bool never_ready, bool never_disabled, bool fatal_on_enable);
/* CC keeps the value it has, although CSTS.RDY follows what is written to CC.EN. */
void sim_drive_ignore_control(struct sim_drive *drive);
/* A shutdown takes so long, beside what it takes to write back the cache. */
void sim_drive_slow_shutdown(struct sim_drive *drive, uint32_t ms);
/* Resets beyond CC.EN, from the gentlest to the hardest. */
enum sim_reset_kind {
  SIM_RESET_SUBSYSTEM, /* NSSR, where CAP.NSSRS is set */
  SIM_RESET_FUNCTION,  /* Initiate Function Level Reset, in Device Control */
  SIM_RESET_BUS,       /* Secondary Bus Reset, in the port's Bridge Control */
  SIM_RESET_SLOT,      /* PERST#: sim_drive_perst() */
  SIM_RESET_KINDS
};
/* CSTS.CFS, now and after each enabling, until a reset of just this kind. */
void sim_drive_break(struct sim_drive *drive, enum sim_reset_kind cure);
/* The board's PERST# of its slot. */
void sim_drive_perst(struct sim_drive *drive, bool asserted);
/* What a fault can do, now. */
void sim_drive_power_cut(struct sim_drive *drive); /* what was not durable is decided by the seed: with a journal any
                                                      version, otherwise all of it stays */
void sim_drive_link_drop(struct sim_drive *drive, uint32_t ms); /* UINT32_MAX: for good */
/* CSTS.CFS, until CC.EN is cleared. What is in flight never completes. */
void sim_drive_fail(struct sim_drive *drive);
/* Its registers answer nothing, and it does not touch memory, while its link and its configuration space are as they
 * were: a controller that hangs, or whose memory decoding went. When that ends, it is as after a reset. */
void sim_drive_silence(struct sim_drive *drive, bool silent);
bool sim_drive_is_silent(const struct sim_drive *drive);
void sim_drive_reset(struct sim_drive *drive);                /* behind the host's back; nothing in the cache is lost */
void sim_drive_heat(struct sim_drive *drive, double celsius); /* as if it had become this hot */
void sim_drive_fail_sanitize(struct sim_drive *drive);        /* the next one */
/* An asynchronous event, if the host asked to be told. */
bool sim_drive_event(struct sim_drive *drive, uint8_t type, uint8_t info, uint8_t log_page);

/* ---- what it did ---- */

struct sim_drive_counters {
  uint64_t admin[256], io[256]; /* commands by opcode */
  uint64_t fua_writes;
  uint64_t read_bytes, written_bytes;
  uint64_t doorbells, enables, shutdowns, resets, power_cycles, unsafe_shutdowns;
  uint64_t hot_shutdowns; /* with I/O queues still there */
  uint32_t in_flight_max;
  uint32_t hard_resets[SIM_RESET_KINDS];
  uint64_t data_gap_ps_max; /* longest time between two data commands' arrivals, since counters were cleared */
};
const struct sim_drive_counters *sim_drive_counters(const struct sim_drive *drive);
void sim_drive_clear_counters(struct sim_drive *drive);
struct sim_media *sim_drive_media(struct sim_drive *drive);
struct sim_link *sim_drive_link(struct sim_drive *drive);
struct sim_store *sim_drive_store(struct sim_drive *drive);
uint64_t sim_drive_blocks(const struct sim_drive *drive);
uint8_t sim_drive_block_shift(const struct sim_drive *drive);

/* What the host has set: dword 11 of Set Features, or the default. */
uint32_t sim_drive_feature(const struct sim_drive *drive, uint8_t feature);
/* Memory that the host lends it (feature 0Dh, once Identify's HMPRE is not 0). */
struct sim_host_buffer {
  bool enabled, returned; /* returned: with the contents that it had before */
  uint32_t pages;         /* in all */
  uint32_t descriptors;
  uint64_t address; /* of the list of them */
  uint64_t first_address;
  uint32_t first_pages; /* what the first one describes */
};
struct sim_host_buffer sim_drive_host_buffer(const struct sim_drive *drive);
/* The host asked for retry delays (feature 16h, ACRE). */
bool sim_drive_retry_delays(const struct sim_drive *drive);

/* Commands as they were fetched, with options.log_commands. */
struct sim_command {
  uint32_t dwords[16];
  uint16_t queue;
  uint64_t fetched_ps;
};
const struct sim_command *sim_drive_commands(const struct sim_drive *drive, size_t *count);
void sim_drive_clear_commands(struct sim_drive *drive);

/*
 * The journal: what was asked of the medium, with when the host rang for it, when the drive took it,
 * and when it told the host. Sequence numbers
 * are the machine's, rising over all drives, so that "A completed before B was submitted" is a comparison across a
 * stripe. Format NVM is not in it, and ends what could be lost before it.
 */
enum sim_journal_op { SIM_JOURNAL_WRITE, SIM_JOURNAL_FLUSH, SIM_JOURNAL_TRIM, SIM_JOURNAL_ZERO };
struct sim_journal_entry {
  enum sim_journal_op op;
  bool fua;
  uint32_t blocks;
  uint32_t arrived; /* of them were done so far: in flight it may be fewer */
  uint64_t lba;
  uint64_t submitted; /* sequence number of the doorbell, as it left the processor */
  uint64_t fetched;   /* sequence number */
  uint64_t completed; /* UINT64_MAX: not yet, or never */
  uint64_t completed_ps;
  uint8_t *data; /* WRITE: blocks << block_shift bytes */
};
const struct sim_journal_entry *sim_drive_journal(const struct sim_drive *drive, size_t *count);
void sim_drive_clear_journal(struct sim_drive *drive);

#endif
