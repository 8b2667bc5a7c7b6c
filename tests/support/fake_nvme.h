/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVMe drive at register and DMA level, in the caller's thread and in virtual time, that can misbehave on request.
 * It is strict: whatever the specification forbids a host is counted as a violation, with the reason.
 *
 * The one source file of a test program that uses it includes fake_nvme_port.h, which makes it the hosted port.
 */
#ifndef FAKE_NVME_H
#define FAKE_NVME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_REGISTERS        UINT64_C(0x40000000)
#define FAKE_TICKS_PER_SECOND UINT64_C(1000000)
#define FAKE_QUEUES_MAX       8u
#define FAKE_PENDING_MAX      1024u
#define FAKE_JOURNAL_MAX      65536u
#define FAKE_FAULTS_MAX       8u
#define FAKE_RING_ENTRIES_MAX 256u
#define FAKE_TORN_MAX         64u

enum fake_action {
  FAKE_STATUS,      /* complete with `value` as the status field, without carrying the command out */
  FAKE_LOSE,        /* carry out, never complete; an Abort does not find it */
  FAKE_STALL,       /* do nothing until aborted */
  FAKE_DOUBLE,      /* complete twice */
  FAKE_DELAY,       /* complete `value` ticks later */
  FAKE_WRONG_ID,    /* complete with another identifier first: XOR `value` */
  FAKE_WRONG_QUEUE, /* complete with another submission queue identifier first */
  FAKE_FATAL,       /* CSTS.CFS, nothing completes */
  FAKE_GONE,        /* registers read all ones from now on */
  FAKE_POWER_CUT,   /* lose power and come back disabled, one power cycle older */
};

/* On I/O commands (or admin ones): `skip` of them pass, then `count` are hit. opcode −1: any. */
struct fake_fault {
  enum fake_action action;
  bool admin;
  int opcode;
  unsigned skip, count;
  uint32_t value;
};

struct fake_command {
  uint32_t dwords[16];
  uint16_t queue;
  uint64_t ticks;
  uint32_t bytes; /* of data, as walked */
};

struct fake_ring {
  uint64_t address;
  uint32_t entries, head, tail;
  uint16_t cq; /* of a submission queue */
  bool phase;
};

struct fake_pending {
  uint64_t due_ticks;
  uint32_t entry[4];
  uint16_t queue;
  bool used, stalled;
};

/* What the host's barriers ordered: see fake_nvme_order.c. */
struct fake_order {
  uint8_t visible[FAKE_QUEUES_MAX + 1]
                 [FAKE_RING_ENTRIES_MAX * 64u]; /* the submission rings, at the last write barrier */
  bool write_barrier;                           /* since the last register write that needs one */
  unsigned read_barriers, retired;              /* since the last completion doorbell */
  struct fake_torn {                            /* completions of which the first three dwords are on their way */
    uint8_t *entry;
    uint32_t dwords[3];
  } torn[FAKE_TORN_MAX];
  unsigned torn_count;
};

struct fake_nvme {
  /* What the drive is: set by fake_nvme_init(), changed by a test before the driver opens it. */
  uint64_t cap;
  uint32_t version; /* VS */
  uint64_t registers_bytes;
  uint8_t controller_page[4096]; /* Identify */
  uint8_t namespace_page[4096];
  uint8_t health_page[512];
  uint32_t namespaces[8]; /* active ones, 0 terminated */
  uint8_t *media;
  uint64_t blocks;
  unsigned block_shift;
  uint32_t queue_pairs;
  bool write_cache;

  /* How it behaves. */
  uint64_t ready_ticks; /* CC.EN to CSTS.RDY */
  uint64_t latency_ticks;
  uint64_t shutdown_ticks; /* CC.SHN to the end of the shutdown */
  bool never_ready, never_disabled, fatal_on_enable;
  bool ignores_control;        /* CC keeps what it has, though CSTS.RDY falls as it should */
  bool subsystem_reset_mends;  /* after that reset it comes up */
  bool torn;                   /* dword 3 of a completion is there at once, the others at the next read barrier */
  bool shuffle;                /* complete in any order */
  bool no_media;               /* walk the data, but do not move it */
  unsigned gone_after_enables; /* from this enabling on registers read all ones; 0: never */
  struct fake_fault faults[FAKE_FAULTS_MAX];
  unsigned fault_count;

  /* What happened. */
  unsigned violations;
  const char *violation;
  struct fake_command journal[FAKE_JOURNAL_MAX]; /* I/O commands as fetched */
  unsigned journal_count;
  unsigned admin_count[256];      /* by opcode */
  uint32_t admin_dwords[256][16]; /* of the last one of each */
  uint32_t features[256];
  uint32_t host_buffer[5]; /* dwords 11 … 15 of the last Set Features 0Dh */
  uint64_t host_buffer_descriptor[2];
  bool behavior_acre;
  unsigned enables, shutdowns, doorbells, events_armed, subsystem_resets;
  bool link_asked;         /* set by a test's hook; the next access of a register takes it back */
  unsigned unasked_resets; /* of the subsystem, without that */
  uint64_t disabled_ticks; /* when CC.EN was cleared; 0 once CSTS was read after that */
  uint64_t pause_ticks;    /* from the last clearing of CC.EN to that read */
  bool hot_shutdown;       /* shut down with I/O queues still there */

  /* Its state. */
  uint64_t ticks;
  uint32_t cc, csts, aqa;
  uint64_t asq, acq;
  uint64_t ready_at_ticks, shut_down_at_ticks;
  uint64_t not_before_ticks; /* a host may disable what did not get ready from then on */
  bool gone;
  bool arbitrary; /* what is read of a drive that is gone: anything */
  unsigned reads_gone, writes_gone;
  bool power_was_cut; /* and the host cannot know yet */
  struct fake_ring sq[FAKE_QUEUES_MAX + 1], cq[FAKE_QUEUES_MAX + 1];
  struct fake_pending pending[FAKE_PENDING_MAX];
  unsigned pending_count; /* in use */
  uint32_t event_id;
  bool event_armed;
  uint32_t random;
  struct fake_order order;
};

/* 8 MiB of 512-byte blocks, 128 KiB transfers, 64 entries, in working order. Allocates `media`. */
void fake_nvme_init(struct fake_nvme *drive, unsigned block_shift);
void fake_nvme_free(struct fake_nvme *drive);
/* Set the LBA format in use and the size in Identify Namespace. */
void fake_nvme_geometry(struct fake_nvme *drive, uint64_t blocks, unsigned block_shift);
void fake_nvme_fault(struct fake_nvme *drive, struct fake_fault fault);
/* Complete the asynchronous event request, if one is there. */
bool fake_nvme_event(struct fake_nvme *drive, uint32_t result);
/* A cut of the drive's power alone. */
void fake_nvme_power_cut(struct fake_nvme *drive);
/* A drive that was gone is there again, reset by that; its power was on all the time. */
void fake_nvme_return(struct fake_nvme *drive);

uint32_t fake_nvme_read32(struct fake_nvme *drive, uint64_t address);
void fake_nvme_write32(struct fake_nvme *drive, uint64_t address, uint32_t value);
/* The host's barriers, and a request that it reports as done. */
void fake_nvme_write_barrier(struct fake_nvme *drive);
void fake_nvme_read_barrier(struct fake_nvme *drive);
void fake_nvme_retired(struct fake_nvme *drive);
/* The fake's own: a completion is stored in two steps; CC is written; a doorbell is rung, up to `value`, before the
 * drive acts on it. */
void fake_nvme_order_tear(struct fake_nvme *drive, uint8_t *entry, const uint32_t dwords[3]);
void fake_nvme_order_control(struct fake_nvme *drive, bool enable);
void fake_nvme_order_submission(struct fake_nvme *drive, unsigned queue, uint32_t value);
void fake_nvme_order_completion(struct fake_nvme *drive, unsigned queue, uint32_t value);
void fake_nvme_violate(struct fake_nvme *drive, const char *why);
/* Virtual time passes, and completions whose time has come are posted. */
void fake_nvme_advance(struct fake_nvme *drive, uint64_t ticks);

/*
 * The independent reader of PRPs: calls `piece` for each contiguous stretch. Returns 0, or the status a drive would
 * answer; `why` says what is wrong.
 */
uint16_t fake_nvme_walk_prps(uint64_t first, uint64_t second, uint64_t bytes,
                             void (*piece)(void *context, uint8_t *at, uint64_t bytes), void *context,
                             const char **why);

#endif
