/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVMe 1.4 controller and its namespaces, modelled at register and DMA level, behind its own root port. It is
 * strict: when the host does what the specification forbids, it reports a violation with the reason (sim.h), and also
 * returns the status that a drive would return.
 *
 * Implemented: CAP, VS, INTMS/INTMC, CC, CSTS, AQA, ASQ, ACQ, doorbells at any stride; Create and Delete I/O queues,
 * Get Log Page (error, SMART, firmware slot, telemetry), Identify (CNS 0-3), Abort, Set and Get Features, Asynchronous
 * Event Request, Format NVM; Flush, Write, Read, Write Zeroes, Dataset Management; FUA; shutdown notification; NVM
 * subsystem reset if CAP.NSSRS is set; function level reset, secondary bus reset, PERST#; PRPs with chained lists;
 * round-robin arbitration. Not implemented: SGLs, metadata, interrupts (the library polls, there is no MSI-X).
 *
 * A command's life: doorbell → fetch over the link → front end (one command at a time) → PRP list fetch → data over the
 * link and through the media model → completion over the link. Each step is an event. Many commands are in progress at
 * once, and each completes when its own steps are done.
 */
#ifndef SPATE_SIM_DRIVE_H
#define SPATE_SIM_DRIVE_H

#include "../bus/link.h"
#include "../machine/sim.h"
#include "../nand/media.h"
#include "../nand/store.h"
#include "fault.h"

struct sim_drive_options {
  struct sim_link_config link; /* generation 0: the profile's, MPS 256, MRRS 512, 250 ns one way, 2 % */
  uint8_t block_shift;         /* 9 or 12; 0: 9. Format NVM changes it */
  uint64_t bytes;              /* capacity; 0: the profile's */
  double filled;               /* share of the capacity, at its end, that is already written and not trimmed */
  bool no_volatile_cache;      /* overrides the profile */
  bool keeps_write_cache;   /* Set Features 6 survives a reset, as if saved. Otherwise a reset restores the default */
  bool journal;             /* record every write, flush and trim with its data: see below */
  bool shuffle;             /* complete commands in random order (seeded) */
  uint32_t write_delay_us;  /* a Write is carried out up to this much later (seeded): later commands overtake it */
  bool log_commands;        /* record every command as fetched: sim_drive_commands() */
  bool counts_no_power_cut; /* the SMART log's counters do not rise at a power cut */
  bool clears_admin_when_disabled; /* AQA, ASQ and ACQ read 0 after CC.EN was cleared */
  bool hides_admin_registers;      /* they always read 0 */
  uint8_t stale_fatal_ms;          /* CSTS.CFS is 1 for so long after CC.EN was set */
  bool keeps_cache_on;             /* Set Features 6 succeeds, and a cache that is on stays on */
  bool reads_4k_of_ranges;    /* Dataset Management reads 4 KiB of its range list, whatever the number of ranges is */
  bool follows_last_entry;    /* the last entry of a PRP list page is always a pointer to the next one, needed or not */
  uint16_t queue_pairs;       /* how many the drive grants; 0: 8 */
  uint16_t completion_queues; /* it grants only so many of these; 0: one for each submission queue */
  uint8_t doorbell_stride;    /* CAP.DSTRD */
  uint32_t version;           /* VS; 0: 1.4 (00010400h). It only changes what Identify returns: see identify.c */
  /* What trimmed blocks read as: 0 zeros, 1 ones, 2 their old contents, 3 any of these for each trim (seeded). 1 and 3
   * store them as data, so do not use them for terabytes. */
  uint8_t deallocated;
  char serial[21]; /* empty: made from the drive's number */
};

/* NULL options: all defaults. The machine owns the drive. */
struct sim_drive *sim_drive_add(struct sim *sim, const struct sim_profile *profile,
                                const struct sim_drive_options *options);
struct sim_drive *sim_drive_at(struct sim *sim, unsigned index);

/* ---- what the drive reports: tests change this before the library opens it ---- */

uint64_t *sim_drive_cap(struct sim_drive *drive);
uint8_t *sim_drive_identify_controller(struct sim_drive *drive); /* 4096 bytes each */
uint8_t *sim_drive_identify_namespace(struct sim_drive *drive);
/* Identifiers of the active namespaces, ascending, then 0; room for 8. All have the same Identify page. They lie on the
 * media one after the other, each with the blocks of this page (NSZE). One that goes beyond the end of the media
 * takes no I/O. Only the first can be formatted. */
uint32_t *sim_drive_namespaces(struct sim_drive *drive);
/* 512 bytes. The temperature, and what was counted since the start, are added when the host reads the log. */
uint8_t *sim_drive_smart(struct sim_drive *drive);
/* The milliseconds that Timestamp adds to those since the last reset, or since it was set; from bit 48 on its
 * attributes. */
uint64_t *sim_drive_timestamp(struct sim_drive *drive);

/* ---- how it behaves ---- */

void sim_drive_fault(struct sim_drive *drive, struct sim_fault fault);
void sim_drive_clear_faults(struct sim_drive *drive);
/* CSTS.RDY does not follow CC.EN to 1, or to 0, or CSTS.CFS is set instead. */
void sim_drive_stick(struct sim_drive *drive, bool never_ready, bool never_disabled, bool fatal_on_enable);
/* AQA, ASQ and ACQ read 0: options.hides_admin_registers. */
void sim_drive_hide_admin_registers(struct sim_drive *drive, bool hides);
/* CC keeps its value, although CSTS.RDY follows the value written to CC.EN. */
void sim_drive_ignore_control(struct sim_drive *drive);
/* A shutdown takes this long, in addition to the time to write back the cache. */
void sim_drive_slow_shutdown(struct sim_drive *drive, uint32_t ms);
/* Resets beyond CC.EN, from the gentlest to the hardest. */
enum sim_reset_kind {
  SIM_RESET_SUBSYSTEM, /* NSSR, where CAP.NSSRS is set */
  SIM_RESET_FUNCTION,  /* Initiate Function Level Reset, in Device Control */
  SIM_RESET_BUS,       /* Secondary Bus Reset, in the port's Bridge Control */
  SIM_RESET_SLOT,      /* PERST#: sim_drive_perst() */
  SIM_RESET_KINDS
};
/* Sets CSTS.CFS, now and after each enable, until a reset of exactly this kind. */
void sim_drive_break(struct sim_drive *drive, enum sim_reset_kind cure);
/* The PERST# signal of the drive's slot. */
void sim_drive_perst(struct sim_drive *drive, bool asserted);
/* These do at once what a fault can do. */
/* The seed decides what happens to data that was not durable: with a journal, a block may hold any version; without,
 * all of it stays. */
void sim_drive_power_cut(struct sim_drive *drive);
void sim_drive_link_drop(struct sim_drive *drive, uint32_t ms); /* UINT32_MAX: for good */
/* Sets CSTS.CFS until CC.EN is cleared. Commands in flight never complete. */
void sim_drive_fail(struct sim_drive *drive);
/*
 * The drive does not answer register accesses and does not access memory. Its link and its configuration space stay as
 * they are. This models a controller that hangs, or one that lost memory decoding. When `silent` ends, the drive is in
 * the state after a reset.
 */
void sim_drive_silence(struct sim_drive *drive, bool silent);
bool sim_drive_is_silent(const struct sim_drive *drive);
void sim_drive_reset(struct sim_drive *drive);                /* without the host's knowledge; no cached data is lost */
void sim_drive_heat(struct sim_drive *drive, double celsius); /* sets the temperature */
void sim_drive_fail_sanitize(struct sim_drive *drive);        /* the next sanitize fails */
/* An asynchronous event, if the host requested events of this type. */
bool sim_drive_event(struct sim_drive *drive, uint8_t type, uint8_t info, uint8_t log_page);

/* ---- what it did ---- */

struct sim_drive_counters {
  uint64_t admin[256], io[256]; /* commands by opcode */
  uint64_t fua_writes;
  uint64_t read_bytes, written_bytes;
  uint64_t doorbells, enables, shutdowns, resets, power_cycles, unsafe_shutdowns;
  uint64_t hot_shutdowns; /* while I/O queues still existed */
  uint32_t in_flight_max;
  uint32_t hard_resets[SIM_RESET_KINDS];
  uint64_t data_gap_ps_max; /* longest time between the arrivals of two data commands */
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
/* Memory that the host lends to the drive (feature 0Dh, if Identify's HMPRE is not 0). */
struct sim_host_buffer {
  bool enabled, returned; /* returned: with its former contents */
  uint32_t pages;         /* in total */
  uint32_t descriptors;
  uint64_t address; /* of the list of descriptors */
  uint64_t first_address;
  uint32_t first_pages; /* of the first descriptor */
};
struct sim_host_buffer sim_drive_host_buffer(const struct sim_drive *drive);
/* Whether the host enabled retry delays (feature 16h, ACRE). */
bool sim_drive_retry_delays(const struct sim_drive *drive);

/* Commands as they were fetched, if options.log_commands is set. */
struct sim_command {
  uint32_t dwords[16];
  uint16_t queue;
  uint64_t fetched_ps;
};
const struct sim_command *sim_drive_commands(const struct sim_drive *drive, size_t *count);
void sim_drive_clear_commands(struct sim_drive *drive);

/*
 * The journal: each change to the media, with the time stamps of its doorbell, of its fetch and of its completion.
 * A time stamp is a sequence number of the machine, which rises over all drives. So "A completed before B was
 * submitted" is a comparison, also across the drives of a stripe. Format NVM is not in the journal. Data written before
 * a Format NVM cannot be lost any more.
 */
enum sim_journal_op { SIM_JOURNAL_WRITE, SIM_JOURNAL_FLUSH, SIM_JOURNAL_TRIM, SIM_JOURNAL_ZERO };
struct sim_journal_entry {
  enum sim_journal_op op;
  bool fua;
  uint32_t blocks;
  uint32_t arrived; /* blocks that have arrived so far; fewer than `blocks` while in flight */
  uint64_t lba;
  uint64_t submitted; /* sequence number of the doorbell write, when it left the processor */
  uint64_t fetched;   /* sequence number */
  uint64_t completed; /* UINT64_MAX: not completed */
  uint64_t completed_ps;
  uint8_t *data; /* WRITE: blocks << block_shift bytes */
};
const struct sim_journal_entry *sim_drive_journal(const struct sim_drive *drive, size_t *count);
void sim_drive_clear_journal(struct sim_drive *drive);

#endif
