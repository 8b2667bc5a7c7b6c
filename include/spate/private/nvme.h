/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of spate/nvme.h. They are installed because the caller allocates them. Their fields are private, except
 * those that spate/nvme.h names, and change without notice.
 */
#ifndef SPATE_PRIVATE_NVME_H
#define SPATE_PRIVATE_NVME_H

#ifndef SPATE_NVME_H
#error "include <spate/nvme.h>, which defines what this header uses"
#endif

struct spate_nvme_queue;
struct spate_nvme_admin_request;
struct spate_nvme_request_ops;

/* One I/O command. The request and the command's number in it are enough to build the command each time it is sent. */
struct spate_nvme_slot {
  uint32_t order;   /* number of commands submitted before it; the low 8 bits are the generation */
  uint8_t part;     /* which of the request's commands, from 0 */
  uint8_t attempts; /* that failed, as shares of SPATE_NVME_LINK_DROPS_MAX */
  uint16_t age;     /* in service intervals: since it was first seen in flight; while it waits, the time left */
  uint64_t base;    /* CDW0 and NSID of a Read from this slot, generation 0 */
  union {
    struct spate_io *io;
    struct spate_nvme_slot *next_free; /* while free */
  };
  uint64_t sent; /* base with the generation, and the flags in nvme/internal.h. Compared with the completion entry */
};

/* An I/O queue pair: submission queue, completion queue, and the slots of the commands in flight. */
struct spate_nvme_queue {
  struct spate_block block; /* first: a queue is a block device */

  /* The fields that submit uses, in the order of use. */
  uint64_t fast_boundary_bytes; /* a fast-path request crosses no multiple of this; 0 while the controller recovers */
  uint64_t fast_lba_max;        /* a request that starts beyond it takes the slow path, which checks where it ends */
  uint64_t *sq;                 /* 64-byte entries */
  uint32_t sq_mask;             /* for an index in quadwords */
  uint32_t sq_tail;             /* number of entries ever written */
  uint32_t sq_rung;             /* sq_tail at the last doorbell write */
  bool waiting;                 /* a slot has a command to send */
  struct spate_nvme_slot *free;

  /* The fields that poll uses. */
  struct spate_nvme *controller;
  const volatile uint64_t *cq_head; /* 16-byte entries: the next to be reaped, the end, and the first */
  const volatile uint64_t *cq_end, *cq;
  uint64_t phase;      /* of a new entry, at its bit in dwords 2 and 3 */
  uint64_t fast_match; /* slot->sent XOR the completion entry of a success in this phase: see nvme/queue.c */
  struct spate_nvme_slot *slots;
  uint32_t slot_mask; /* their number less one */
  uint32_t entries;   /* of each queue */
  uintptr_t sq_doorbell, cq_doorbell;

  struct spate_nvme_queue *next;
  uint64_t *range; /* TRIM's, at the start of a page whose other bytes are zeros */
  struct spate_nvme_slot *range_owner;
  uint64_t *lists; /* list_pages pages */
  struct spate_nvme_slot *list_owner[SPATE_NVME_LIST_PAGES_MAX];
  uint32_t list_pages;
  uint32_t buffer_bytes_max; /* MDTS, for a command without a region */
  uint64_t namespace_mark;   /* a hash by which the namespace is recognised: nvme/identify.c */
  uint32_t nsid;
  uint16_t id;            /* queue identifier, from 1 */
  bool pages_wanted;      /* a command waits for list pages: later ones that need some wait for it */
  uint8_t next_for_pages; /* the slot that waits for list pages, and is the next to get some */
};

/* Memory of an I/O queue pair. When the queue is closed, the next queue with this identifier uses it. */
struct spate_nvme_queue_memory {
  uint8_t *start;   /* NULL: none yet */
  uint16_t entries; /* capacity of each queue */
  uint8_t list_pages;
  bool in_use;
};

/* Users of the admin queue. Each has at most one command in flight. */
enum spate_nvme_admin_user {
  SPATE_NVME_ADMIN_CALLER, /* bring-up, and the blocking functions */
  SPATE_NVME_ADMIN_EVENT,
  SPATE_NVME_ADMIN_LOG,
  SPATE_NVME_ADMIN_ABORT,
  SPATE_NVME_ADMIN_REQUEST, /* spate_nvme_admin_submit() */
  SPATE_NVME_ADMIN_SLOTS,
};

/* An admin command in flight. */
struct spate_nvme_admin_slot {
  void (*completed)(struct spate_nvme *controller); /* NULL: the sender polls `busy` */
  uint64_t deadline_ticks;                          /* UINT64_MAX: none */
  uint32_t result;                                  /* dword 0 of the completion */
  uint16_t id;
  uint16_t status; /* without the phase bit; SPATE_NVME_CANCELLED when a reset cancelled the command */
  bool busy;
};

/* A controller. It must not move while it is open. nvme.h says which fields a program may read. */
struct spate_nvme {
  struct spate_nvme_config config;
  struct spate_nvme_identity identity;
  struct spate_nvme_health health;
  struct spate_nvme_counters counters;
  enum spate_nvme_state state;
  enum spate_error error;
  /* private */
  uint64_t ticks_per_ms;
  uint64_t interval_ticks; /* between checks of the commands' ages and of CSTS */
  uint64_t serviced_ticks, aged_ticks, enabled_ticks;
  uint64_t pause_until_ticks;  /* no register access before: CC.EN was just cleared (nvme/quirks.h) */
  uint64_t deadline_ticks;     /* of the state; DETACHED and RESETTING: the time of the next call */
  uint64_t silent_since_ticks; /* since when the registers are silent; 0: they are not */
  uint64_t reset_by_ticks;     /* deadline of a reset beyond CC.EN, or of the stop before it */
  uint64_t reattach_by_ticks;  /* deadline of a link drop; 0: there is none */
  uint32_t needs;              /* of this drive beyond the specification: nvme/quirks.h */
  uint32_t doorbell_shift;
  uint16_t age_max; /* of an I/O command, in intervals */
  uint8_t failures; /* recoveries in a row that failed */

  uint8_t power_doubt; /* since the last health log: nvme/power.c */
  bool admin_registers_written, admin_registers_readable, admin_registers_kept;
  bool stopped_by_us;     /* CC.EN was cleared since the controller was ready */
  bool stop_was_doubtful; /* the drive has confirmed a shutdown, and the registers said that it had restarted */
  bool power_counts_known;
  uint64_t power_cycles, unsafe_shutdowns; /* of the last log with contents */

  bool opening; /* spate_nvme_open() has not returned yet */
  bool disable_sent;
  bool can_reset_subsystem; /* CAP.NSSRS */
  bool reset_begun;         /* config.bus.reset was called for the present kind */
  uint8_t resets_tried;     /* beyond CC.EN, since it last ran */
  uint8_t setup_step;
  bool setup_sent;
  struct spate_nvme_queue *setup_queue;

  uint64_t *admin_sq;
  const volatile uint32_t *admin_cq;
  uint16_t admin_tail, admin_head;
  uint16_t admin_phase;
  uint16_t status; /* of the last admin command that failed */
  struct spate_nvme_admin_slot admin[SPATE_NVME_ADMIN_SLOTS];

  struct spate_nvme_admin_request *request; /* accepted and not ended; NULL: none */
  const struct spate_nvme_request_ops *request_ops;
  uint64_t *request_lists;   /* two pages; NULL: no request needed them yet */
  uint64_t request_by_ticks; /* its deadline */
  bool request_aborted;      /* an abort was sent, because the request timed out */
  bool request_completed;

  uint8_t *data; /* a page for the commands of SPATE_NVME_ADMIN_CALLER */
  uint8_t *log;  /* 512 bytes for the log reader */
  uint64_t *host_buffer_list;
  uint8_t *behavior;           /* 512 bytes of Host Behavior Support; only the first is not zero */
  uint8_t log_page;            /* being read; 0: none */
  uint32_t logs_waiting[8];    /* a bit for each log page to be read next */
  uint64_t events_until_ticks; /* limits the rate of event requests: each event moves it on by a second */
  uint64_t event_again_ticks;  /* when to request the next asynchronous event; 0: never, or it is requested already */
  bool host_buffer_lent;
  bool cache_on;
  uint8_t cache_choice;    /* of the caller: 0 none, 1 off, 2 on */
  uint8_t power_choice;    /* of the caller: 0 none, or the power state and 1 */
  uint32_t power_sleeps;   /* bit i: power state i carries out no I/O */
  bool chooses_power;      /* the drive changes its power state by itself: bring-up turns that off */
  uint16_t retry_delay[3]; /* CRDT1 … 3, in service intervals of 100 ms */
  uint16_t queues_max;
  uint32_t shutdown_ms; /* RTD3 entry latency */
  struct spate_nvme_queue *queues;
  struct spate_nvme_queue_memory queue_memory[SPATE_NVME_QUEUES_MAX]; /* of queue identifier 1 … */

  struct spate_nvme_queue *abort_queue; /* of the command being aborted */
  struct spate_nvme_slot *abort_slot;
  uint64_t abort_sent;     /* abort_slot->sent when the abort was sent */
  uint64_t abort_by_ticks; /* then the controller is reset */
};

#endif
