/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVMe host driver (NVM Express base specification 1.4): one controller, its admin queue and I/O queue pairs, each
 * of which is a spate_block for one namespace.
 *
 * Bring-up and recovery are one state machine, advanced by polling: disable, enable, identify, set up queues, replay
 * what had not completed. So an error in the middle of a stream costs the stream nothing but time, and nothing else on
 * the processor waits for it. The blocking functions at the end just poll until the machine is done; if a recovery
 * comes about meanwhile, they drive it, and so may call `done` of requests in flight, as poll() does.
 *
 * Each command lives in a slot that knows its request and which part of it, so that completions may come in any order,
 * be retried, or be replayed after a reset. A command identifier carries a generation, so that a completion the drive
 * sends twice, or one from before a reset, retires nothing.
 */
#ifndef SPATE_NVME_H
#define SPATE_NVME_H

#include <spate/block.h>
#include <spate/dma.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Eight bits of the command identifier name the slot. One below 256, so that the ring has 256 entries and no identifier
 * is FFFFh, which the Error Information log uses for "none" (5.14.1.1). */
#define SPATE_NVME_QUEUE_DEPTH_MAX 255u

/* In this order they are tried, behind an NVM subsystem reset, which the driver does by itself (CAP.NSSRS). */
enum spate_nvme_reset {
  SPATE_NVME_RESET_FUNCTION, /* function level reset */
  SPATE_NVME_RESET_BUS,      /* secondary bus reset */
  SPATE_NVME_RESET_SLOT,     /* PERST# */
  SPATE_NVME_RESETS
};

/*
 * What the driver asks of the bus below it. Each may be NULL, and none may wait. spate/nvme_pcie.h has a ready one.
 */
struct spate_nvme_bus {
  /* Has the drive been on the bus ever since it was last opened or restored? Asked before and after registers are
   * touched, outside the data path, which reads none. Where it says no, they are not touched, and what was just read
   * does not count: on a bridge that gives arbitrary data for a drive that is gone nothing else can tell. NULL: the
   * registers themselves tell (all ones; or CAP, VS and CSTS all zeros). */
  bool (*link_is_up)(void *context);
  /* NULL: a drive that falls off the bus is gone for good, within a second. Called when it is, once in a millisecond
   * until it gives OK: bring the link and the drive's configuration back, usually by spate_pcie_restore(). BUSY: not
   * yet; any other error: give up. After OK the controller is brought up as after any reset, and requests go on; if it
   * is still not there, or is another drive (by serial number, or the size, format or identifiers of a namespace in
   * use), this is called again. spate_nvme_shutdown() waits for the drive as requests do; spate_nvme_open() does not,
   * and ends with GONE. */
  enum spate_error (*restore)(void *context);
  /* Called when CC.EN does not help any more, also in spate_nvme_open(), once in a millisecond while it gives BUSY. OK:
   * it was reset, and restore() follows. Any other error: there is no such reset, the next one is tried. */
  enum spate_error (*reset)(void *context, enum spate_nvme_reset how);
  /* Take bus mastering away from a controller that is given up and does not stop. OK: it writes no more. Before it is
   * opened again it has to be restored or enumerated. */
  enum spate_error (*isolate)(void *context);
  void *context;
  /* Of the drive's configuration space, for what some drives need beyond the specification (src/nvme/quirks.c). 0: not
   * known, and then none needs anything. */
  uint16_t vendor_id, device_id;
};

struct spate_nvme_config {
  uintptr_t registers;              /* BAR 0, for the CPU */
  uint64_t registers_bytes;         /* its size: doorbells beyond it are refused */
  struct spate_arena *queue_memory; /* DMA memory for queues, lists and logs; uncached where not coherent */
  uint32_t command_timeout_ms;      /* 0 = 10000. Then abort, then reset. Format and whole-drive work have their own */
  void *host_buffer; /* page aligned, contiguous: lent to a drive that wants a host memory buffer, and the drive's alone
                        from open to shutdown. NULL = none */
  uint64_t host_buffer_bytes;
  struct spate_nvme_bus bus;
  /* 0 = 10000. Of one absence, from when it is noticed until requests go on: a link that bounces meanwhile does not
   * begin it anew. Then the drive is GONE, unless it is just being brought up. A reset by the driver begins an absence
   * of its own; after that the next reset is tried before the drive is GONE. */
  uint32_t reattach_timeout_ms;
};

/* From the SMART / Health log (5.14.1.2). Counters saturate at 64 bits. */
struct spate_nvme_health {
  uint32_t sequence; /* rises with each log read */
  int16_t temperature_c;
  uint8_t critical_warning; /* bits as in the log */
  uint8_t spare_percent, spare_threshold_percent, used_percent;
  uint64_t read_units, written_units; /* thousands of 512 bytes */
  uint64_t power_cycles, power_on_hours, unsafe_shutdowns, media_errors;
};

/* Bits of SANICAP. */
enum spate_nvme_sanitize_capability {
  SPATE_NVME_CAN_SANITIZE_CRYPTO = 1,
  SPATE_NVME_CAN_SANITIZE_BLOCK = 2,
  SPATE_NVME_CAN_SANITIZE_OVERWRITE = 4,
};

/* Identify Controller and CAP, decoded. Strings are trimmed and NUL terminated, non-printable bytes replaced by '?'. */
struct spate_nvme_identity {
  char serial[21], model[41], firmware[9];
  uint32_t version;            /* VS: 0x00010400 = 1.4 */
  uint32_t namespaces_max;     /* NN */
  uint32_t transfer_bytes_max; /* from MDTS; 0 = the drive states none */
  uint32_t ready_timeout_ms;   /* CAP.TO */
  uint32_t queue_entries_max;  /* CAP.MQES + 1 */
  uint32_t doorbell_stride_bytes;
  uint32_t warning_temperature_k, critical_temperature_k; /* 0: not stated */
  uint32_t atomic_blocks; /* AWUPF + 1: a write of so many logical blocks stays whole in a power cut */
  uint32_t host_buffer_wanted_bytes, host_buffer_min_bytes;
  bool volatile_cache, can_trim, can_zero, can_format;
  bool several_controllers; /* CMIC: the NVM subsystem may have others, which reach the same namespaces */
  bool formats_all;         /* FNA: Format NVM, or its secure erase, takes all namespaces at once */
  uint8_t power_states;     /* number of them */
  uint8_t sanitize;         /* enum spate_nvme_sanitize_capability; 0: the drive has no Sanitize */
};

#define SPATE_NVME_FORMATS_MAX 64u /* 16 before NVMe 2.0 */

struct spate_nvme_namespace {
  uint32_t nsid;
  uint64_t blocks;
  uint32_t block_bytes; /* 0: no format that can be used */
  uint8_t formats;      /* number of LBA formats; format_block_bytes of each (0: has metadata, not for us) */
  uint8_t format;       /* the one in use */
  uint16_t format_block_bytes[SPATE_NVME_FORMATS_MAX];
  bool metadata; /* bytes beside each block, or protection information: not for us */
};

/* From the SMART / Health log: how often it slowed down because of heat. Counters do not wrap in a drive's life. */
struct spate_nvme_throttling {
  uint64_t transitions, seconds; /* by host or drive controlled thermal management, light and heavy together */
  uint64_t hot_minutes;          /* above the warning or the critical limit */
};

/* What went wrong and was mended: every recovery is counted. */
struct spate_nvme_counters {
  uint64_t commands, completions, doorbells;
  uint32_t retries, aborts, timeouts, resets, replays;
  uint32_t reattachments;        /* absences that ended well */
  uint32_t hard_resets;          /* beyond CC.EN: of the subsystem, the function, the bus, the slot */
  uint32_t spurious_completions; /* wrong id, generation or queue: ignored */
  uint32_t power_losses;         /* resets after which the drive's power cycle counters had risen */
  uint32_t events;               /* asynchronous events taken */
};

enum spate_nvme_state {
  SPATE_NVME_CLOSED,
  SPATE_NVME_DETACHED,  /* off the bus, config.bus.restore is asked to bring it back */
  SPATE_NVME_RESETTING, /* CC.EN did not help: a harder reset is under way */
  SPATE_NVME_DISABLING, /* CC.EN = 0 written, waiting for CSTS.RDY = 0 */
  SPATE_NVME_ENABLING,  /* CC.EN = 1 written, waiting for CSTS.RDY = 1 */
  SPATE_NVME_SETUP,     /* admin commands one after the other: see nvme/setup.c */
  SPATE_NVME_RUNNING,
  SPATE_NVME_ABORTING, /* running, with an abort outstanding for a command past its deadline */
  SPATE_NVME_STOPPING, /* CC.SHN written, waiting for CSTS.SHST */
  SPATE_NVME_HALTING,  /* given up, but it may still write to memory: waiting for CSTS.RDY = 0 */
  SPATE_NVME_DEAD,     /* given up, and it writes no more (but for NOT_STOPPED): every request ends with `error` */
};

/*
 * Memory that the functions below take from config->queue_memory, alignment included. Rings have a power of two of
 * entries, one more than commands, so that an index is a mask away from a count that never wraps in practice.
 */
#define SPATE_NVME_RING_ENTRIES(depth)                                                                                 \
  ((depth) < 4u     ? 4u                                                                                               \
   : (depth) < 8u   ? 8u                                                                                               \
   : (depth) < 16u  ? 16u                                                                                              \
   : (depth) < 32u  ? 32u                                                                                              \
   : (depth) < 64u  ? 64u                                                                                              \
   : (depth) < 128u ? 128u                                                                                             \
                    : 256u)
#define SPATE_NVME_PAGES_BYTES(bytes) (((bytes) + SPATE_PAGE_BYTES - 1u) / SPATE_PAGE_BYTES * SPATE_PAGE_BYTES)

/* Two admin rings (the logs share a page with one of them), a data page, two pages of a PRP list for admin requests,
 * and the way to the first page boundary. */
#define SPATE_NVME_CONTROLLER_MEMORY_BYTES (6u * SPATE_PAGE_BYTES)
/* Submission ring, completion ring with the TRIM ranges, PRP list pages, and the way to the first page boundary. */
#define SPATE_NVME_QUEUE_MEMORY_BYTES(depth)                                                                           \
  (SPATE_NVME_PAGES_BYTES(SPATE_NVME_RING_ENTRIES(depth) * 64u) +                                                      \
   SPATE_NVME_PAGES_BYTES(SPATE_NVME_RING_ENTRIES(depth) * 32u) + (SPATE_NVME_LIST_PAGES + 1u) * SPATE_PAGE_BYTES)

/* PRP list pages of a queue, for requests without a region. A command that finds none waits in its slot for one. */
#define SPATE_NVME_LIST_PAGES 4u
/* Most pages that one command without a region touches: what two chained list pages describe, after the first. Just
 * under 4 MiB at any address, 4 MiB at the start of a page. */
#define SPATE_NVME_BUFFER_PAGES 1024u

#define SPATE_NVME_QUEUES_MAX     64u /* I/O queue pairs asked of the drive */
#define SPATE_NVME_RECOVERIES_MAX 3u  /* failed ones in a row, then the controller is DEAD */
#define SPATE_NVME_ATTEMPTS_MAX   4u  /* of one command, retries and replays together */
#define SPATE_NVME_ABSENCES_MAX   16u /* that one command is replayed after: each counts as a quarter of an attempt */

/* Private from here to the functions: shown so that the caller can allocate the objects. */

struct spate_nvme_queue;
struct spate_nvme_admin_request;

/* One I/O command: its request and which part of it, which is all that is needed to build it, again if need be. */
struct spate_nvme_slot {
  uint32_t order;   /* count of commands submitted before it; its low 8 bits are the generation */
  uint8_t part;     /* of the request, from 0 */
  uint8_t attempts; /* that failed, in parts of SPATE_NVME_ABSENCES_MAX */
  uint16_t age;     /* in service intervals: since it was sent; for a slot that waits, still to wait */
  uint64_t base;    /* first quadword of a read: namespace, slot number, opcode */
  union {
    struct spate_io *io;
    struct spate_nvme_slot *next_free; /* while free */
  };
  uint64_t sent; /* base with the generation, and flags: nvme/internal.h. What a completion is held against */
};

struct spate_nvme_queue {
  struct spate_block block; /* first: a queue is a block device */

  /* What submit touches, in the order it does. */
  uint64_t plain_bytes;   /* a plain request crosses no multiple of this; 0 while the controller recovers */
  uint64_t plain_lba_max; /* nearer to the end of the namespace, length and end are checked with more care */
  uint64_t *sq;           /* 64-byte entries */
  uint32_t sq_mask;       /* for an index in quadwords */
  uint32_t sq_tail;       /* count of entries ever written */
  uint32_t sq_rung;       /* sq_tail at the last doorbell */
  bool waiting;           /* a slot has a command to send again */
  struct spate_nvme_slot *free;

  /* What poll touches. */
  struct spate_nvme *controller;
  const volatile uint64_t *cq_head; /* 16-byte entries: the next to be reaped, the first, and the end */
  const volatile uint64_t *cq, *cq_end;
  uint64_t phase; /* of a new entry, where its second quadword has it */
  uint64_t want;  /* by what a plain completion in phase 0 differs from slot->sent: see nvme/queue.c */
  uintptr_t sq_doorbell, cq_doorbell;
  uint32_t entries; /* of each ring */

  struct spate_nvme_queue *next;
  uint64_t *ranges; /* one TRIM range for each slot */
  uint64_t *lists;  /* SPATE_NVME_LIST_PAGES pages */
  struct spate_nvme_slot *list_owner[SPATE_NVME_LIST_PAGES];
  uint32_t buffer_bytes_max; /* MDTS, for a command without a region */
  uint64_t namespace_mark;   /* by which it is known again: nvme/identify.c */
  uint32_t nsid;
  uint16_t id; /* queue identifier, from 1 */
  struct spate_nvme_slot slots[SPATE_NVME_QUEUE_DEPTH_MAX + 1u];
};

/* Memory of an I/O queue pair. It stays with its queue identifier when the queue is closed, for the next one. */
struct spate_nvme_queue_memory {
  uint8_t *start;   /* NULL: none yet */
  uint16_t entries; /* that each ring has room for */
  bool in_use;
};

/* Who has which admin command in flight: one at a time each. */
enum spate_nvme_admin_user {
  SPATE_NVME_ADMIN_CALLER, /* bring-up, and the functions that wait */
  SPATE_NVME_ADMIN_EVENT,
  SPATE_NVME_ADMIN_LOG,
  SPATE_NVME_ADMIN_ABORT,
  SPATE_NVME_ADMIN_REQUEST, /* spate_nvme_admin_submit() */
  SPATE_NVME_ADMIN_SLOTS,
};

struct spate_nvme_admin_slot {
  uint64_t deadline_ticks; /* UINT64_MAX: none */
  uint32_t result;         /* dword 0 of the completion */
  uint16_t id;
  uint16_t status; /* without the phase bit; SPATE_NVME_CANCELLED when a reset took the command away */
  bool busy;
};

struct spate_nvme {
  struct spate_nvme_config config;
  struct spate_nvme_identity identity;
  struct spate_nvme_health health;
  struct spate_nvme_counters counters;
  enum spate_nvme_state state;
  enum spate_error error; /* why it is DEAD, or why the last recovery began */

  uint64_t ticks_per_ms;
  uint64_t interval_ticks; /* between looks at the commands' ages and at CSTS */
  uint64_t serviced_ticks;
  uint64_t look_ticks;     /* until then registers are left alone: CC.EN was just cleared */
  uint64_t deadline_ticks; /* of the state; DETACHED and RESETTING: when to ask again */
  uint64_t absent_ticks;   /* since when its registers are silent; 0: they are not */
  uint64_t reset_by_ticks; /* the end of our patience with a reset */
  uint64_t back_by_ticks;  /* the end of our patience with an absence; 0: there is none */
  uint32_t doorbell_shift;
  uint16_t age_max; /* of an I/O command, in intervals */
  uint8_t failures; /* recoveries in a row that failed */

  bool opening; /* spate_nvme_open() has not ended yet */
  bool disable_sent;
  bool can_reset_subsystem; /* CAP.NSSRS */
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
  uint64_t *request_lists;                  /* two pages */
  uint64_t request_by_ticks;                /* its deadline */
  bool request_aborted;                     /* it expired, and the drive was told */
  bool request_answered;

  uint8_t *data; /* a page for the caller's admin command */
  uint8_t *log;  /* 512 bytes for the log reader */
  uint64_t *host_buffer_list;
  uint8_t *behavior;           /* 512 bytes of Host Behavior Support, zero but for the first */
  uint8_t log_page;            /* being read; 0: none */
  uint32_t logs_waiting[8];    /* a bit for each log page to be read after that */
  uint64_t events_until_ticks; /* a second behind the last event for each one that was seen */
  uint64_t event_again_ticks;  /* when to ask for the next asynchronous event; 0: not at all, or it is asked for */
  bool host_buffer_lent;
  bool cache_on;
  uint8_t cache_choice;    /* what the caller set: 0 nothing, 1 off, 2 on */
  uint16_t retry_delay[3]; /* CRDT1 … 3, in service intervals of 100 ms */
  uint16_t queues_max;
  uint32_t shutdown_ms; /* RTD3 entry latency */
  struct spate_nvme_queue *queues;
  struct spate_nvme_queue_memory queue_memory[SPATE_NVME_QUEUES_MAX]; /* of queue identifier 1 … */

  struct spate_nvme_queue *abort_queue; /* of the command being aborted */
  struct spate_nvme_slot *abort_slot;
  uint64_t abort_sent; /* as it was then */
};

/*
 * Start the controller: reset, enable, identify, host memory buffer, asynchronous events, ACRE. Waits, at most
 * three times the drive's own CAP.TO (to be ready, to stop, to be ready again) plus the time of the commands; where
 * that fails, as long once more for each reset beyond CC.EN that there is, with reattach_timeout_ms and 2 s for the
 * reset itself, and CAP.TO for the controller to stop. All memory comes from config->queue_memory
 * (SPATE_NVME_CONTROLLER_MEMORY_BYTES). Errors: INVALID (host_buffer), GONE, FATAL, TIMEOUT, COMMAND_SET, PAGE_SIZE,
 * UNSUPPORTED (fewer than 4 queue entries, or doorbells outside BAR 0), MEMORY, COMMAND; NOT_STOPPED. After any but
 * NOT_STOPPED and GONE the controller does not touch memory.
 *
 * NOT_STOPPED, here and for requests and calls of a controller that is given up: it answers, but neither stopped by
 * itself within CAP.TO nor could config.bus.isolate keep it off the bus. It may still write to queue memory, to the
 * host memory buffer, and to the buffers of requests that ended with this error: none of them may be used again before
 * the drive is reset or without power.
 *
 * GONE: its registers are silent. A drive that is off the bus writes no more, and config.bus.isolate is asked to keep
 * away one that is not. Without that hook, or where it fails, a drive whose registers alone are silent (its memory
 * decoding was turned off) may still write to the same memory as after NOT_STOPPED.
 *
 * A request whose completion had arrived in memory by then ends as the drive said, not with these errors. If that
 * status is one that asks for a retry, there is nobody left to retry, and the request ends with one of these errors.
 */
SPATE_MUST_CHECK enum spate_error spate_nvme_open(struct spate_nvme *controller,
                                                  const struct spate_nvme_config *config);

const struct spate_nvme_identity *spate_nvme_identity(const struct spate_nvme *controller);
const struct spate_nvme_counters *spate_nvme_counters(const struct spate_nvme *controller);

/* The active namespaces' identifiers, ascending, at most `max`; `count` says how many there are. */
SPATE_MUST_CHECK enum spate_error spate_nvme_namespaces(struct spate_nvme *controller, uint32_t *nsids, unsigned max,
                                                        unsigned *count);

/* What Identify says of a namespace, suitable or not. */
SPATE_MUST_CHECK enum spate_error spate_nvme_namespace(struct spate_nvme *controller, uint32_t nsid,
                                                       struct spate_nvme_namespace *out);

/* An I/O queue pair with `depth` commands (2 … SPATE_NVME_QUEUE_DEPTH_MAX; less where the drive allows less: see
 * queue->block.depth) on a namespace (0: the first active one). `queue` stays in place until it is closed or the
 * controller is shut down. Memory: SPATE_NVME_QUEUE_MEMORY_BYTES. Errors: NO_NAMESPACE, BLOCK_SIZE, METADATA, MEMORY,
 * FULL (the drive has no more queues), COMMAND, OPEN (this queue is open). */
SPATE_MUST_CHECK enum spate_error spate_nvme_queue_open(struct spate_nvme *controller, struct spate_nvme_queue *queue,
                                                        uint32_t nsid, unsigned depth);

/* Delete the queue pair. Its memory goes to the next queue that is opened on this controller: only a deeper one takes
 * more from the arena. The block is not to be used any more; until the object is gone or opened again its submit
 * answers INVALID. Waits for the drive. After an error nothing has changed. Errors: INVALID (not an open queue of this
 * controller), BUSY (requests are in flight), OPEN (a volume or a stripe on it is open), COMMAND (the drive refuses; if
 * it refuses only the second half of the pair, the queue is closed and its identifier is lost). */
SPATE_MUST_CHECK enum spate_error spate_nvme_queue_close(struct spate_nvme *controller, struct spate_nvme_queue *queue);

/* The status of the last admin command that the drive refused (SPATE_E_COMMAND), for spate_nvme_status_name(). */
uint16_t spate_nvme_last_status(const struct spate_nvme *controller);

/* How many I/O queue pairs the drive gave (Number of Queues feature). */
unsigned spate_nvme_queues_max(const struct spate_nvme *controller);

/*
 * Any admin command: telemetry, firmware, self-test, security, or of the vendor's own. It belongs to whoever submits it
 * and lies still until `done`, as a spate_io does. I/O goes on meanwhile.
 */
struct spate_nvme_admin_request {
  uint8_t opcode; /* its bits 1:0 tell which way the data go: 1 to the drive, 2 to the host (5, figure 139) */
  uint32_t nsid;
  uint32_t dwords_10_15[6];
  void *buffer;        /* DMA memory at a multiple of SPATE_DMA_ALIGN, up to such a multiple. NULL: none */
  uint32_t bytes;      /* a multiple of 4, at most MDTS and 4 MiB - 4 KiB (4 MiB from the start of a page); 0: none */
  uint32_t timeout_ms; /* then it is aborted; if it does not end within another second, the controller is reset */
  void (*done)(struct spate_nvme_admin_request *request); /* may submit the next one; must not wait */
  void *context;

  enum spate_error error; /* OK; COMMAND; TIMEOUT; of a reset that took it away: the reset's cause */
  uint16_t detail;        /* COMMAND: the status field */
  uint32_t result;        /* OK: dword 0 of the completion */
};

/*
 * Submit one. It ends while any queue of the controller is polled (up to 100 ms after the drive's answer), or in
 * spate_nvme_poll(). It is sent once: after a reset nobody knows whether it was carried out. spate_nvme_shutdown()
 * waits 30 s for it. After any answer but OK the request is still the caller's.
 *
 * Refused (INVALID) is what the driver itself relies on: Create and Delete I/O Queue, Abort, Asynchronous Event
 * Request, Doorbell Buffer Config, Virtualization Management; Set Features of the number of queues, the write cache,
 * the host memory buffer, the keep alive timer and host behavior. Also a buffer that is shorter than what the command
 * names (Get Log Page, Identify, Firmware Image Download, Directives, Security). Format NVM, Sanitize and the namespace
 * commands answer BUSY while a queue is open. FULL: one is in flight (there is room for one), or the controller
 * recovers. DEAD and closed controllers answer their error.
 */
SPATE_MUST_CHECK enum spate_error spate_nvme_admin_submit(struct spate_nvme *controller,
                                                          struct spate_nvme_admin_request *request);

/* One look at the controller, as polling a queue takes one every 100 ms. Never waits. For a controller without queues,
 * and where an admin request's answer is wanted sooner. */
void spate_nvme_poll(struct spate_nvme *controller);

/* Health. start() never waits: the log arrives in controller health with its sequence raised, while the caller polls
 * a queue. read() waits for a fresh one. */
SPATE_MUST_CHECK enum spate_error spate_nvme_health_start(struct spate_nvme *controller);
SPATE_MUST_CHECK enum spate_error spate_nvme_health_read(struct spate_nvme *controller);
const struct spate_nvme_health *spate_nvme_health(const struct spate_nvme *controller);

/*
 * What a drive says of itself, decoded from pages that somebody else read: another driver, or a file. The Identify
 * Controller data structure (4096 bytes, 5.15.2.2; fields that come from CAP and VS stay as they are) and the
 * SMART / Health log (512 bytes; `sequence` rises). All at a multiple of 8.
 */
void spate_nvme_identity_decode(struct spate_nvme_identity *identity, const void *page);
void spate_nvme_health_decode(struct spate_nvme_health *health, const void *log);
void spate_nvme_throttling_decode(struct spate_nvme_throttling *throttling, const void *log);
/* Identify Namespace (5.15.2.1, 4096 bytes) of this namespace. False: it is not active. */
bool spate_nvme_namespace_decode(struct spate_nvme_namespace *out, uint32_t nsid, const void *page);

/* Features; waiting. */
SPATE_MUST_CHECK enum spate_error spate_nvme_write_cache_get(struct spate_nvme *controller, bool *on);
SPATE_MUST_CHECK enum spate_error spate_nvme_write_cache_set(struct spate_nvme *controller, bool on);
SPATE_MUST_CHECK enum spate_error spate_nvme_power_state_get(struct spate_nvme *controller, uint8_t *state);
SPATE_MUST_CHECK enum spate_error spate_nvme_power_state_set(struct spate_nvme *controller, uint8_t state);

enum spate_nvme_erase { SPATE_NVME_ERASE_NONE = 0, SPATE_NVME_ERASE_USER = 1, SPATE_NVME_ERASE_CRYPTO = 2 };

/* Format NVM: everything on the namespace is lost. `block_bytes` 512 or 4096 picks the LBA format without metadata that
 * the drive rates best. No queue may be open. Waits up to `timeout_ms` (a full erase takes minutes). */
SPATE_MUST_CHECK enum spate_error spate_nvme_format(struct spate_nvme *controller, uint32_t nsid, uint32_t block_bytes,
                                                    enum spate_nvme_erase erase, uint32_t timeout_ms);

/*
 * Sanitize: what was in any namespace of the drive, in its cache or in its spare blocks is gone afterwards. The drive
 * answers at once and works by itself for seconds or hours. Meanwhile it refuses reads and writes. A reset or a power
 * cut does not end it: the drive goes on when the power is back. After one that failed it still refuses reads and
 * writes, until another sanitize succeeds, or EXIT leaves that state with whatever is left of the data.
 */
enum spate_nvme_sanitize_action {
  SPATE_NVME_SANITIZE_EXIT = 1,
  SPATE_NVME_SANITIZE_BLOCK = 2,
  SPATE_NVME_SANITIZE_OVERWRITE = 3, /* once, with zeros */
  SPATE_NVME_SANITIZE_CRYPTO = 4,
};
enum spate_nvme_sanitize_state {
  SPATE_NVME_SANITIZE_NEVER = 0,
  SPATE_NVME_SANITIZE_DONE = 1,
  SPATE_NVME_SANITIZE_RUNNING = 2,
  SPATE_NVME_SANITIZE_FAILED = 3,
  SPATE_NVME_SANITIZE_DONE_DEALLOCATED = 4, /* done, although blocks were to stay allocated */
};
struct spate_nvme_sanitize_status {
  uint16_t progress;                       /* RUNNING: of 65536 */
  uint8_t state, action;                   /* of the last one: the enumerations above */
  uint8_t passes;                          /* OVERWRITE: completed */
  bool nothing_written;                    /* since the last one that succeeded, or since the drive was made */
  uint32_t overwrite_s, block_s, crypto_s; /* estimates; UINT32_MAX: none */
};

bool spate_nvme_can_sanitize(const struct spate_nvme_identity *identity, enum spate_nvme_sanitize_action action);
/* Start one. No queue may be open. Errors: BUSY, UNSUPPORTED (SANICAP), COMMAND, those of the controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_sanitize(struct spate_nvme *controller,
                                                      enum spate_nvme_sanitize_action action);
/* The Sanitize Status log page. */
SPATE_MUST_CHECK enum spate_error spate_nvme_sanitize_status(struct spate_nvme *controller,
                                                             struct spate_nvme_sanitize_status *status);
/* For whoever sends the command by another driver: its dword 10, and the log (512 bytes, at a multiple of 8). */
uint32_t spate_nvme_sanitize_dword10(enum spate_nvme_sanitize_action action);
void spate_nvme_sanitize_decode(struct spate_nvme_sanitize_status *status, const void *log);

/* Normal shutdown (3.1.5, CC.SHN): what was completed is safe, and the drive counts no unsafe shutdown. Requests still
 * in flight are waited for first. */
SPATE_MUST_CHECK enum spate_error spate_nvme_shutdown(struct spate_nvme *controller);

/* The specification's name of a status field (without the phase bit), e.g. "LBA Out of Range". Never NULL. */
const char *spate_nvme_status_name(uint16_t status);

#ifdef __cplusplus
}
#endif
#endif
