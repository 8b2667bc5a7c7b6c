/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVMe host driver (NVM Express base specification 1.4): one controller, its admin queue and I/O queue pairs. Each
 * pair is a spate_block for one namespace.
 *
 * Bring-up and recovery are one state machine that polling advances: disable, enable, identify, set up queues, replay
 * commands that had not completed. An error in the middle of a stream therefore costs the stream only time, and no
 * other work on the processor waits for it. The blocking functions at the end of this file poll until they are done. If
 * a recovery is needed meanwhile, they advance it, and may call `done` of requests in flight, as poll() does.
 *
 * Each command has a slot. The slot holds the request and says which of the request's commands this one is. So commands
 * may complete in any order, be retried, or be replayed after a reset. A command identifier contains a generation. A
 * completion that the drive sends twice has another generation and is ignored. Stale completions cannot survive a
 * reset: the queue is cleared after the controller has stopped.
 *
 * Other headers and comments refer to the errors of a call that waits for the drive as the errors of the controller.
 *
 * Errors of the controller: COMMAND (the drive refused the command: spate_nvme_last_status()), BUSY (another call
 * waits: this one was made from `done`, which must not wait), INVALID (the controller is closed or shut down), and the
 * errors with which a controller is given up: GONE, FATAL, TIMEOUT, NOT_STOPPED, and, if it could not be brought up
 * again after a reset, COMMAND_SET, PAGE_SIZE, UNSUPPORTED and MEMORY.
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

/* Eight bits of the command identifier are the slot number. The limit is one below 256, so that the queue has 256
 * entries and no identifier is FFFFh, which the Error Information log uses for "none" (5.14.1.1). */
#define SPATE_NVME_QUEUE_DEPTH_MAX 255u

/* Resets in the order in which they are tried. Before these the driver tries an NVM subsystem reset by itself, if the
 * drive has one (CAP.NSSRS). */
enum spate_nvme_reset {
  SPATE_NVME_RESET_FUNCTION, /* function level reset */
  SPATE_NVME_RESET_BUS,      /* secondary bus reset */
  SPATE_NVME_RESET_SLOT,     /* PERST# */
  SPATE_NVME_RESETS
};

/*
 * The functions of the bus that the driver calls. Each may be NULL, and none may wait. spate/nvme_pcie.h has them for
 * PCI Express.
 */
struct spate_nvme_bus {
  /* Returns whether the drive has been on the bus without interruption since it was last opened or restored. Called
   * before each access to registers and again after reads, but not on the data path, which reads none. If it returns
   * false, the driver does not access the registers, and discards the values that it just read. This is the only way to
   * recognise that a drive is gone if the bridge returns arbitrary data for it. NULL: the driver decides by the
   * registers themselves (all ones; or CAP, VS and CSTS all zeros). */
  bool (*link_is_up)(void *context);
  /* Brings back the link and the drive's configuration, usually by spate_pcie_restore(). Called once a millisecond
   * while the drive is off the bus, until it returns OK. BUSY: not yet. Any other error: give up. After OK the
   * controller is brought up as after a reset, and requests continue. restore() is called again if the drive is still
   * not there, or if it is another drive (by serial number, or by size, format or identifiers of a namespace in use).
   * spate_nvme_shutdown() waits for the drive as requests do. spate_nvme_open() calls it only after a reset of its own.
   * NULL: a drive that falls off the bus is GONE within a second. */
  enum spate_error (*restore)(void *context);
  /* Called when a reset by CC.EN does not recover the controller, also in spate_nvme_open(), once a millisecond while
   * it returns BUSY. OK: the reset is done, and restore() follows. Any other error: this reset is not available, and
   * the next one is tried. */
  enum spate_error (*reset)(void *context, enum spate_nvme_reset how);
  /* Turns bus mastering off for a controller that is given up and does not stop, or whose registers are silent. OK: the
   * controller no longer writes to memory. It has to be restored or enumerated before it is opened again. */
  enum spate_error (*isolate)(void *context);
  void *context;
  /* From the drive's configuration space, to recognise drives that need more than the specification asks for
   * (src/nvme/quirks.def). 0: not known; the drive is then treated as any other. */
  uint16_t vendor_id, device_id;
};

/* The controller, and the memory that it may use. The memory is the caller's until spate_nvme_shutdown(), or longer:
 * see NOT_STOPPED at spate_nvme_open(). */
struct spate_nvme_config {
  uintptr_t registers;              /* BAR 0, at the CPU's address */
  uint64_t registers_bytes;         /* the size of BAR 0. A queue whose doorbells are beyond it is refused */
  struct spate_arena *queue_memory; /* DMA memory for queues, lists and logs; uncached where not coherent */
  uint32_t command_timeout_ms;      /* 0 = 10000. Then abort, then reset. A flush has 30000 if this is less, and ends
                                       at its second timeout. Format and admin requests have their own. 100 … 6553400 */
  void *host_buffer; /* page aligned, contiguous: for a drive that wants a host memory buffer. Only the drive may use it
                        from open to shutdown. NULL = none */
  uint64_t host_buffer_bytes;
  struct spate_nvme_bus bus;
  /* 0 = 10000. The time from the detection of a link drop until requests continue. Further link drops in this time do
   * not restart it. When it has passed, the drive is GONE, unless it is being brought up at that moment. After a reset
   * by the driver the time starts again. If the drive does not come back from a reset in time, the next reset is tried
   * before the drive is GONE. */
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

/* Identify Controller and CAP, decoded. Strings are trimmed and NUL-terminated; '?' replaces non-printable bytes. */
struct spate_nvme_identity {
  char serial[21], model[41], firmware[9];
  uint32_t version;            /* VS: 0x00010400 = 1.4 */
  uint32_t namespaces_max;     /* NN */
  uint32_t transfer_bytes_max; /* from MDTS; 0 = the drive states none */
  uint32_t ready_timeout_ms;   /* CAP.TO */
  uint32_t queue_entries_max;  /* CAP.MQES + 1 */
  uint32_t doorbell_stride_bytes;
  int16_t warning_temperature_c, critical_temperature_c; /* WCTEMP, CCTEMP; 0: not stated, or not above 0 C */
  uint32_t atomic_blocks; /* AWUPF + 1: a power cut does not tear a write of at most this many logical blocks */
  uint32_t host_buffer_wanted_bytes, host_buffer_min_bytes;
  bool volatile_cache, can_trim, can_zero, can_format;
  bool several_controllers; /* CMIC: the NVM subsystem may have others, which reach the same namespaces */
  bool formats_all;         /* FNA: Format NVM, or its secure erase, applies to all namespaces */
  uint8_t power_states;     /* number of them */
  uint8_t sanitize;         /* enum spate_nvme_sanitize_capability; 0: the drive has no Sanitize */
};

#define SPATE_NVME_FORMATS_MAX 64u /* 16 before NVMe 2.0 */

/* Identify Namespace, decoded. */
struct spate_nvme_namespace {
  uint32_t nsid;
  uint64_t blocks;
  uint32_t block_bytes;                                /* 0: no format that can be used */
  uint8_t formats;                                     /* number of LBA formats */
  uint8_t format;                                      /* the one in use */
  uint16_t format_block_bytes[SPATE_NVME_FORMATS_MAX]; /* 0: with metadata, or not of 512 … 32768 bytes */
  bool metadata; /* the format in use has metadata or protection information, which are not supported */
};

/* From the SMART / Health log: how often the drive slowed down because of heat. The counters never wrap. */
struct spate_nvme_throttling {
  uint64_t transitions, seconds; /* by host or drive controlled thermal management, light and heavy together */
  uint64_t hot_minutes;          /* above the warning or the critical limit */
};

/* Traffic and recoveries since spate_nvme_open(). Each wraps at the end of its type. */
struct spate_nvme_counters {
  uint64_t commands, completions, doorbells;
  uint32_t retries, aborts, timeouts, resets, replays;
  uint32_t reattachments;        /* link drops after which requests continued */
  uint32_t hard_resets;          /* beyond CC.EN: of the subsystem, the function, the bus, the slot */
  uint32_t spurious_completions; /* with a wrong identifier, generation or queue: ignored */
  uint32_t power_losses;         /* resets at which the drive is taken to have lost power: nvme/power.c has the table */
  uint32_t power_unknown;        /* resets with which the drive may have lost power: nothing shows whether it did */
  uint32_t events;               /* asynchronous events received */
};

/* What the driver is doing with the controller. */
enum spate_nvme_state {
  SPATE_NVME_CLOSED,
  SPATE_NVME_DETACHED,  /* off the bus; config.bus.restore is called to bring it back */
  SPATE_NVME_RESETTING, /* a reset by CC.EN did not help: a harder reset is under way */
  SPATE_NVME_DISABLING, /* CC.EN = 0 written, waiting for CSTS.RDY = 0 */
  SPATE_NVME_ENABLING,  /* CC.EN = 1 written, waiting for CSTS.RDY = 1 */
  SPATE_NVME_SETUP,     /* admin commands, one after the other: see nvme/setup.c */
  SPATE_NVME_RUNNING,
  SPATE_NVME_ABORTING, /* running; a command exceeded its timeout, and its abort is in flight */
  SPATE_NVME_STOPPING, /* CC.SHN written, waiting for CSTS.SHST */
  SPATE_NVME_HALTING,  /* given up, but it may still write to memory: waiting for CSTS.RDY = 0 */
  SPATE_NVME_DEAD,     /* given up: every request ends with `error`. It no longer writes to memory, except after
                          NOT_STOPPED, and after GONE if it could not be isolated */
};

/*
 * Memory that the functions below take from config->queue_memory: whole pages. An arena that begins at a multiple of
 * SPATE_PAGE_BYTES, and is used for this and for the tables of regions only, loses nothing to alignment. Any other
 * loses up to a page each time.
 *
 * The number of entries of a queue is a power of two that is larger than the number of commands. So an index is a count
 * of commands with a mask.
 */
#define SPATE_NVME_QUEUE_ENTRIES(depth)                                                                                \
  ((depth) < 4u     ? 4u                                                                                               \
   : (depth) < 8u   ? 8u                                                                                               \
   : (depth) < 16u  ? 16u                                                                                              \
   : (depth) < 32u  ? 32u                                                                                              \
   : (depth) < 64u  ? 64u                                                                                              \
   : (depth) < 128u ? 128u                                                                                             \
                    : 256u)
/* Slots of a queue. A power of two, so that any identifier in a completion entry, with a mask, is one of them. */
#define SPATE_NVME_SLOTS(depth)                                                                                        \
  ((depth) <= 2u     ? 2u                                                                                              \
   : (depth) <= 4u   ? 4u                                                                                              \
   : (depth) <= 8u   ? 8u                                                                                              \
   : (depth) <= 16u  ? 16u                                                                                             \
   : (depth) <= 32u  ? 32u                                                                                             \
   : (depth) <= 64u  ? 64u                                                                                             \
   : (depth) <= 128u ? 128u                                                                                            \
                     : 256u)
#define SPATE_NVME_PAGES_BYTES(bytes) (((bytes) + SPATE_PAGE_BYTES - 1u) / SPATE_PAGE_BYTES * SPATE_PAGE_BYTES)

/* Two admin queues, whose pages also have the logs, and a data page. */
#define SPATE_NVME_CONTROLLER_MEMORY_BYTES (3u * SPATE_PAGE_BYTES)
/* Taken by the first request of spate_nvme_admin_submit() whose buffer is in more than two pages: two PRP list pages,
 * which the controller keeps for later requests. */
#define SPATE_NVME_ADMIN_LISTS_BYTES (2u * SPATE_PAGE_BYTES)
/* Submission queue, completion queue, TRIM's range, PRP list pages (0: 1, as in spate_nvme_queue_config). */
#define SPATE_NVME_QUEUE_MEMORY_BYTES(depth, list_pages)                                                               \
  (SPATE_NVME_PAGES_BYTES(SPATE_NVME_QUEUE_ENTRIES(depth) * 64u) +                                                     \
   SPATE_NVME_PAGES_BYTES(SPATE_NVME_QUEUE_ENTRIES(depth) * 16u) +                                                     \
   (1u + ((list_pages) == 0 ? 1u : (list_pages))) * SPATE_PAGE_BYTES)

#define SPATE_NVME_LIST_PAGES_MAX 4u
/* The most pages of one command without a region: the first, and those that its list pages describe, one or two that
 * are chained. That is 2 MiB, or 4 MiB - 4 KiB, from the start of a page, and up to one page less from any other
 * address. */
#define SPATE_NVME_BUFFER_PAGES_ONE_LIST 512u
#define SPATE_NVME_BUFFER_PAGES          1023u

#define SPATE_NVME_QUEUES_MAX     64u /* I/O queue pairs that the driver requests */
#define SPATE_NVME_RECOVERIES_MAX 3u  /* recoveries that fail in a row; then the resets beyond CC.EN are tried */
#define SPATE_NVME_ATTEMPTS_MAX   4u  /* of one command, retries and replays together */
#define SPATE_NVME_LINK_DROPS_MAX 16u /* of one command: each counts as a quarter of an attempt */

/*
 * The objects that the caller allocates: struct spate_nvme, a controller, and struct spate_nvme_queue, an I/O queue
 * pair. Neither may move while it is open. A program may read these fields of a controller, and sets none:
 *
 *   config     as it was given to spate_nvme_open()
 *   identity   what the drive says about itself
 *   health     the last log: spate_nvme_health_start()
 *   counters   since spate_nvme_open()
 *   state      where it is in its life
 *   error      why it is DEAD, or why the last recovery began
 *
 * and of a queue `block`, its block device.
 */
#include <spate/private/nvme.h>

/*
 * Start the controller: reset, enable, identify, host memory buffer, asynchronous events, ACRE. All memory comes from
 * config->queue_memory (SPATE_NVME_CONTROLLER_MEMORY_BYTES).
 *
 * A drive whose registers are silent, although its link is up or not known, has two seconds to respond. Then waits at
 * most three times CAP.TO + 0.5 s (to be ready, to stop, to be ready again) plus the time of the commands. The
 * drives in src/nvme/quirks.def may need 2.3 s more for each stop. If that fails, it waits the same time again for each
 * available reset beyond CC.EN, plus reattach_timeout_ms, 2 s for the reset itself, and CAP.TO + 0.5 s for the
 * controller to stop.
 *
 * Errors: CLOCK, INVALID (host_buffer), GONE, FATAL, TIMEOUT, COMMAND_SET, PAGE_SIZE, UNSUPPORTED (fewer than 4 queue
 * entries, or doorbells outside BAR 0), MEMORY, COMMAND, NOT_STOPPED. After CLOCK, INVALID, COMMAND_SET, PAGE_SIZE,
 * UNSUPPORTED and MEMORY the controller is as it was before. After FATAL, TIMEOUT and COMMAND it no longer accesses
 * memory.
 *
 * NOT_STOPPED, here and for requests and calls on a controller that is given up: the controller responds, but it did
 * not stop within CAP.TO + 0.5 s, and config.bus.isolate could not isolate it. It may still write to queue memory, to
 * the host memory buffer, and to the buffers of requests that ended with this error. Do not use any of this memory
 * before the drive is reset or without power.
 *
 * GONE: the registers are silent. A link that dropped has cost the drive its addresses: enumerate the bus again before
 * the next open. A drive that is off the bus does not write to memory, and config.bus.isolate is called in case it is
 * still on the bus. Without isolate(), or if it fails, a drive that is still on the bus and whose memory decoding was
 * turned off may write to the same memory as after NOT_STOPPED.
 *
 * A request whose completion entry is already in memory at that time ends with the status of the entry, and not with
 * these errors. An entry with a status that allows a retry is the exception: that request ends with one of these
 * errors.
 */
SPATE_MUST_CHECK enum spate_error spate_nvme_open(struct spate_nvme *controller,
                                                  const struct spate_nvme_config *config);

/* What the drive stated when it was last brought up. The result points into `controller`, and is valid as long as
 * `controller` is. A recovery reads it again. */
const struct spate_nvme_identity *spate_nvme_identity(const struct spate_nvme *controller);

/* The counters. The result points into `controller`, and is valid as long as `controller` is. The counters start at 0
 * with spate_nvme_open(), and keep their values after spate_nvme_shutdown(). */
const struct spate_nvme_counters *spate_nvme_counters(const struct spate_nvme *controller);

/* The identifiers of the active namespaces, ascending, at most `max`. `count` is the number of active namespaces, of
 * which the driver sees at most 1024; 0 after an error. Errors: NO_NAMESPACE (none is active), and those of the
 * controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_namespaces(struct spate_nvme *controller, uint32_t *nsids, unsigned max,
                                                        unsigned *count);

/* Identify a namespace. It need not be one that the driver supports. Errors: NO_NAMESPACE (it is not active, or there
 * is none with this identifier), and those of the controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_namespace(struct spate_nvme *controller, uint32_t nsid,
                                                       struct spate_nvme_namespace *out);

/* What a queue pair is for, and its memory. `slots` is the caller's. */
struct spate_nvme_queue_config {
  uint32_t nsid;  /* 0: the first active namespace */
  unsigned depth; /* commands, 2 … SPATE_NVME_QUEUE_DEPTH_MAX. queue->block.depth is less if the drive allows less */
  /* PRP list pages, 1 … SPATE_NVME_LIST_PAGES_MAX; 0: 1. Only a command without a region whose buffer is in more than
   * two pages uses one, or two beyond 2 MiB. If too few are free, the command waits in its slot for its turn. File
   * systems and partition tables have one such command at a time. A program that streams from buffers outside regions
   * needs more. */
  unsigned list_pages;
  /* At least SPATE_NVME_SLOTS(depth), in ordinary memory: only the processor uses them, for each command. They must not
   * move, or be used by another queue, until this one is closed or the controller is shut down. */
  struct spate_nvme_slot *slots;
  unsigned slot_count;
};

/* Create an I/O queue pair. `queue` must not move until it is closed or the controller is shut down. Memory:
 * SPATE_NVME_QUEUE_MEMORY_BYTES. Errors: INVALID (depth, list_pages, too few slots), NO_NAMESPACE, BLOCK_SIZE,
 * METADATA, UNSUPPORTED (the drive states a size beyond 64 bits in bytes), MEMORY, FULL (the drive has no more queues),
 * OPEN (this queue is open), and those of the controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_queue_open(struct spate_nvme *controller, struct spate_nvme_queue *queue,
                                                        const struct spate_nvme_queue_config *config);

/* Delete the queue pair. The next queue that is opened on this controller uses its memory, and takes more from the
 * arena only if it is deeper or has more list pages. Do not use the block afterwards: its submit returns INVALID while
 * the object exists and is not opened again. Waits for the drive. After an error nothing has changed. Errors: INVALID
 * (not an open queue of this controller), BUSY (requests are in flight), OPEN (a volume or a stripe on it is open),
 * COMMAND (the drive refuses. If it refuses only to delete the completion queue, the queue pair is closed and its
 * identifier is lost), and other errors of the controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_queue_close(struct spate_nvme *controller, struct spate_nvme_queue *queue);

/* The status of the last admin command that the drive refused (SPATE_E_COMMAND), for spate_nvme_status_name(). */
uint16_t spate_nvme_last_status(const struct spate_nvme *controller);

/* How many I/O queue pairs the drive granted (Number of Queues feature). */
unsigned spate_nvme_queues_max(const struct spate_nvme *controller);

/*
 * Any admin command: telemetry, firmware, self-test, security, vendor specific. The caller owns the object. It must not
 * move or change until `done` is called, as a spate_io. I/O continues meanwhile.
 */
struct spate_nvme_admin_request {
  uint8_t opcode; /* bits 1:0 are the direction of the data: 1 to the drive, 2 to the host (5, figure 139) */
  uint32_t nsid;
  uint32_t dwords_10_15[6];
  void *buffer; /* DMA memory that starts and ends at multiples of SPATE_DMA_ALIGN. NULL: none */
  /* A multiple of 4, at most MDTS and 4 MiB - 8 KiB (4 MiB - 4 KiB from the start of a page); 0: none. */
  uint32_t bytes;
  uint32_t timeout_ms; /* not 0. Then it is aborted, and if it has not ended a second later, the controller is reset */
  void (*done)(struct spate_nvme_admin_request *request); /* may submit the next one; must not wait */
  void *context;

  enum spate_error error; /* OK; COMMAND; TIMEOUT; if a reset cancelled it: the cause of the reset */
  uint16_t detail;        /* COMMAND: the status field */
  uint32_t result;        /* OK: dword 0 of the completion */
};

/*
 * Submit an admin request. It ends while any queue of the controller is polled (up to 100 ms after the drive completed
 * it), or in spate_nvme_poll(). It is sent only once: after a reset it is not known whether the drive carried it out.
 * spate_nvme_shutdown() waits 32 s for it. After an error `done` is not called.
 *
 * INVALID: `timeout_ms` is 0, or `done` is NULL. The buffer is not as stated above, there is one although the opcode
 * has no data, or it is shorter than the length in the command (Get Log Page, Identify, Firmware Image Download,
 * Directives, Security). The command would change what the driver itself has set: Create and Delete I/O Queue, Abort,
 * Asynchronous Event Request, Doorbell Buffer Config, Virtualization Management; Set Features of the number of queues,
 * the power state and its autonomous transitions, the write cache, the asynchronous events, the host memory buffer, the
 * keep alive timer and host behavior.
 *
 * MEMORY: the buffer is in more than two pages, the controller has no list pages for it yet, and config->queue_memory
 * has less than SPATE_NVME_ADMIN_LISTS_BYTES left.
 *
 * BUSY: Format NVM, Sanitize or a namespace command while a queue is open. FULL: a request is in flight already (there
 * is room for one), or the controller recovers. A dead or closed controller returns its error, one of the errors of the
 * controller.
 */
SPATE_MUST_CHECK enum spate_error spate_nvme_admin_submit(struct spate_nvme *controller,
                                                          struct spate_nvme_admin_request *request);

/* Service the controller, as polling a queue does every 100 ms. Never waits. For a controller without queues, or to end
 * an admin request sooner. */
void spate_nvme_poll(struct spate_nvme *controller);

/* Start to read the health log. Never waits: while the caller polls a queue, the new log comes into
 * spate_nvme_health(), with a higher `sequence`. If the drive refuses the log, or returns one of zeros, nothing
 * changes. Errors: BUSY (the controller does not run, or a log page is being read). */
SPATE_MUST_CHECK enum spate_error spate_nvme_health_start(struct spate_nvme *controller);

/* Read the health log, and wait for it. Errors: UNSUPPORTED (the drive returned a log of zeros), and those of the
 * controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_health_read(struct spate_nvme *controller);

/* The last health log; `sequence` 0: none was read. The result points into `controller`. */
const struct spate_nvme_health *spate_nvme_health(const struct spate_nvme *controller);

/*
 * Decode pages that come from elsewhere, for example from another driver or a file: the Identify Controller data
 * structure (4096 bytes, 5.15.2.2; fields that come from CAP and VS do not change) and the SMART / Health log (512
 * bytes; `sequence` rises). The pages are at a multiple of 8.
 */
void spate_nvme_identity_decode(struct spate_nvme_identity *identity, const void *page);

/* Decode the SMART / Health log. Returns false if the log is all zeros, as some drives return it; then `health` has not
 * changed. */
bool spate_nvme_health_decode(struct spate_nvme_health *health, const void *log);

/* Decode the throttling counters of the same log. */
void spate_nvme_throttling_decode(struct spate_nvme_throttling *throttling, const void *log);

/* Decode Identify Namespace (5.15.2.1, 4096 bytes) of this namespace. Returns false if it is not active. */
bool spate_nvme_namespace_decode(struct spate_nvme_namespace *out, uint32_t nsid, const void *page);

/* Read whether the write cache is on. Waits. Errors: UNSUPPORTED (the drive has no volatile cache), and those of the
 * controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_write_cache_get(struct spate_nvme *controller, bool *on);

/* Turn the write cache on or off. Off: flushes. Waits. After an error the cache counts as on. Errors: UNSUPPORTED (the
 * drive has no volatile cache, or keeps it on), TIMEOUT (the controller was reset each time), those of the controller,
 * and, from the flush, those of the device. */
SPATE_MUST_CHECK enum spate_error spate_nvme_write_cache_set(struct spate_nvme *controller, bool on);

/* Read the power state. Waits. Errors: those of the controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_power_state_get(struct spate_nvme *controller, uint8_t *state);

/* Set the power state. A recovery sets it again, unless the drive carries out no I/O in it. Waits. Errors: INVALID (the
 * drive has no such state), and those of the controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_power_state_set(struct spate_nvme *controller, uint8_t state);

/* What Format NVM does to the data, besides making them inaccessible. */
enum spate_nvme_erase { SPATE_NVME_ERASE_NONE = 0, SPATE_NVME_ERASE_USER = 1, SPATE_NVME_ERASE_CRYPTO = 2 };

/* Format NVM: everything on the namespace is lost. Of the first 16 LBA formats, those without metadata and with
 * `block_bytes` (512 or 4096), it uses the one that the drive rates best. Waits up to `timeout_ms` (a full erase takes
 * minutes). Errors: INVALID (another `block_bytes`, or `timeout_ms` is 0), BUSY (a queue is open), UNSUPPORTED (no
 * Format NVM, or no such format), NO_NAMESPACE, and those of the controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_format(struct spate_nvme *controller, uint32_t nsid, uint32_t block_bytes,
                                                    enum spate_nvme_erase erase, uint32_t timeout_ms);

/*
 * Sanitize: erases all data in all namespaces of the drive, in its cache and in its spare blocks. The drive completes
 * the command at once, works by itself for seconds or hours, and refuses reads and writes meanwhile. A reset or a power
 * cut does not end it: the drive continues when the power is back. After a sanitize that failed the drive still refuses
 * reads and writes, until another sanitize succeeds, or until EXIT ends this state. After EXIT some data may still be
 * there.
 */
enum spate_nvme_sanitize_action {
  SPATE_NVME_SANITIZE_EXIT = 1,
  SPATE_NVME_SANITIZE_BLOCK = 2,
  SPATE_NVME_SANITIZE_OVERWRITE = 3, /* once, with zeros */
  SPATE_NVME_SANITIZE_CRYPTO = 4,
};

/* Whether a sanitize is running, and how the last one ended. */
enum spate_nvme_sanitize_state {
  SPATE_NVME_SANITIZE_NEVER = 0,
  SPATE_NVME_SANITIZE_DONE = 1,
  SPATE_NVME_SANITIZE_RUNNING = 2,
  SPATE_NVME_SANITIZE_FAILED = 3,
  SPATE_NVME_SANITIZE_DONE_DEALLOCATED = 4, /* done, but blocks were deallocated against the request */
};

/* The Sanitize Status log page, decoded. */
struct spate_nvme_sanitize_status {
  uint16_t progress;                       /* RUNNING: of 65536 */
  uint8_t state, action;                   /* of the last sanitize: values of the enumerations above */
  uint8_t passes;                          /* OVERWRITE: number of completed passes */
  bool nothing_written;                    /* since the last sanitize that succeeded, or since the drive was made */
  uint32_t overwrite_s, block_s, crypto_s; /* estimates; UINT32_MAX: none */
};

/* Whether the drive has this action (SANICAP). EXIT: whether it has any. */
bool spate_nvme_can_sanitize(const struct spate_nvme_identity *identity, enum spate_nvme_sanitize_action action);

/* Start a sanitize. Errors: BUSY (a queue is open), UNSUPPORTED (SANICAP), and those of the controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_sanitize(struct spate_nvme *controller,
                                                      enum spate_nvme_sanitize_action action);

/* Read the Sanitize Status log page. Waits. Errors: those of the controller. */
SPATE_MUST_CHECK enum spate_error spate_nvme_sanitize_status(struct spate_nvme *controller,
                                                             struct spate_nvme_sanitize_status *status);

/* Dword 10 of Sanitize, for programs that send the command by another driver. */
uint32_t spate_nvme_sanitize_dword10(enum spate_nvme_sanitize_action action);

/* Decode the log page (512 bytes, at a multiple of 8), for the same programs. */
void spate_nvme_sanitize_decode(struct spate_nvme_sanitize_status *status, const void *log);

/*
 * Normal shutdown (3.1.5, CC.SHN). Waits first for the requests in flight, up to 32 s. After OK everything that
 * completed is durable, unless counters.power_unknown has risen, and the drive does not count an unsafe shutdown. If
 * the drive is reset meanwhile, or falls off the bus, the shutdown begins again, at most SPATE_NVME_RECOVERIES_MAX
 * times; each recovery has its own deadlines.
 *
 * Errors: POWER_LOST (the drive lost power during this call and has stopped since; what had completed and not been
 * flushed may be lost), INVALID (the controller is closed or was shut down before), and, if the controller was given
 * up, other errors of the controller. A request that has not ended by then ends with INVALID when its block is polled.
 * Until then the queue, its slots, and the queue memory are in use.
 */
SPATE_MUST_CHECK enum spate_error spate_nvme_shutdown(struct spate_nvme *controller);

/* The specification's name of a status field (without the phase bit), e.g. "LBA Out of Range". Never NULL. */
const char *spate_nvme_status_name(uint16_t status);

#ifdef __cplusplus
}
#endif
#endif
