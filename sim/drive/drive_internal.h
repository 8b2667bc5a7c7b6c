/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the parts of the drive. Each file calls only files that this list names after it, and fetch.c calls
 * execute.c through a pointer:
 *
 *   drive.c                                creation
 *   controller.c                           registers
 *   execute.c, fault.c                     what happens to a command
 *   reset.c                                resets besides CC.EN, link drops, power cuts
 *   admin.c, feature.c, log.c, identify.c  admin commands
 *   io.c                                   I/O commands
 *   sanitize.c                             the admin command, and what I/O commands see of it
 *   doorbell.c                             doorbells
 *   transfer.c, prp.c                      data over the link, page lists
 *   complete.c, fault_completion.c         when a command completes
 *   event.c                                asynchronous events
 *   post.c                                 completion entries
 *   fetch.c                                command fetch
 *   commands.c, host_memory.c, powercut.c, commands in progress, the host's memory, what a power cut may lose,
 *     error_log.c, filled.c                the error log, the share of the drive that was written before
 *
 * Section numbers are those of the NVM Express base specification 1.4.
 */
#ifndef SPATE_SIM_DRIVE_INTERNAL_H
#define SPATE_SIM_DRIVE_INTERNAL_H

#include "../machine/internal.h"
#include <spate/bytes.h>

#define DRIVE_SQ_BYTES       64u
#define DRIVE_CQ_BYTES       16u
#define DRIVE_QUEUES_MAX     64u   /* I/O queue pairs */
#define DRIVE_COMMANDS_MAX   1088u /* in progress at once; others stay in their queues */
#define DRIVE_ADMIN_RESERVED 64u   /* of these, only for the admin queue */
#define DRIVE_FETCHES_MAX    4u    /* in progress at once */
#define DRIVE_FETCH_ENTRIES  8u
#define DRIVE_CHUNK_BYTES    32768u /* a command's data cross the link in chunks; commands take turns */
#define DRIVE_WINDOW_BYTES   65536u /* data handed to the link and not yet arrived, per direction */
#define DRIVE_EVENTS_MAX     4u     /* asynchronous event requests (AERL + 1), and pending events */
#define DRIVE_FAULTS_MAX     32u
#define DRIVE_NAMESPACES_MAX 8u
#define DRIVE_ERRORS_MAX     4u                     /* in the error log */
#define DRIVE_FUA            (UINT32_C(1) << 30)    /* dword 12 of Write */
#define DRIVE_DROPPED        UINT16_MAX             /* the queue of a command whose queue was deleted */
#define DRIVE_DISABLE_PS     (100u * SIM_PS_PER_US) /* from CC.EN = 0 to CSTS.RDY = 0 */

/* Log pages (5.14.1). */
enum { PAGE_ERRORS = 1, PAGE_HEALTH = 2, PAGE_FIRMWARE = 3, PAGE_TELEMETRY = 7, PAGE_SANITIZE = 0x81 };

/* Status fields without the phase bit (4.6.1), with DNR if a real drive sets it. */
enum {
  STATUS_OK = 0,
  STATUS_OPCODE = 0x4001,
  STATUS_FIELD = 0x4002,
  STATUS_TRANSFER = 0x0004,
  STATUS_SANITIZE_FAILED = 0x001c,
  STATUS_SANITIZING = 0x001d,
  STATUS_ABORTED = 0x0007,
  STATUS_SEQUENCE = 0x400c,
  STATUS_NAMESPACE = 0x400b,
  STATUS_PRP_OFFSET = 0x4013,
  STATUS_LBA = 0x4080,
  STATUS_CQ_INVALID = 0x4100,
  STATUS_QUEUE_ID = 0x4101,
  STATUS_QUEUE_SIZE = 0x4102,
  STATUS_EVENT_LIMIT = 0x0105,
  STATUS_VECTOR = 0x4108,
  STATUS_LOG_PAGE = 0x4109,
  STATUS_FORMAT = 0x410a,
  STATUS_QUEUE_DELETION = 0x010c,
  STATUS_NOT_SAVEABLE = 0x410d,
  STATUS_NOT_OF_NAMESPACE = 0x410f,
  STATUS_COMPARE = 0x0285,
  STATUS_PENDING = 0xffff, /* no status yet: the command completes later */
};

enum { ADMIN_DELETE_SQ, ADMIN_CREATE_SQ, ADMIN_GET_LOG, ADMIN_DELETE_CQ = 4, ADMIN_CREATE_CQ, ADMIN_IDENTIFY };
enum {
  ADMIN_ABORT = 8,
  ADMIN_SET_FEATURES,
  ADMIN_GET_FEATURES,
  ADMIN_EVENT = 0x0c,
  ADMIN_FORMAT = 0x80,
  ADMIN_SANITIZE = 0x84
};
enum { IO_FLUSH, IO_WRITE, IO_READ, IO_COMPARE = 5, IO_WRITE_ZEROES = 8, IO_DATASET };

struct drive_sq {
  uint64_t address;
  uint32_t entries;       /* 0: the queue does not exist */
  uint32_t tail;          /* last value of the doorbell */
  uint32_t fetch_next;    /* the next entry to fetch */
  uint32_t head;          /* the next entry to arrive; completions report it */
  uint32_t reported_head; /* in the last completion: entries before it belong to the host again */
  uint16_t cq;
};

struct drive_cq {
  uint64_t address;
  uint32_t entries;
  uint32_t head, tail;
  bool phase;
};

struct drive_fetch {
  uint16_t queue;
  uint32_t first, count;
};

struct drive_command;
typedef void drive_step(struct sim_drive *drive, struct drive_command *command);

struct drive_command {
  uint64_t generation; /* of this use of the slot; 0: free. An event of an earlier use is ignored */
  uint32_t dwords[16];
  uint16_t queue, id;
  uint16_t status;
  uint32_t result;
  uint64_t submitted; /* sequence number of the doorbell write that submitted it */
  uint64_t fetched;   /* sequence number of the fetch */
  drive_step *listed; /* called when its PRPs are known */
  drive_step *moved_all;
  bool up;      /* direction of its data: true to the host */
  bool fails;   /* it failed: the rest of its data is not moved */
  bool stalled; /* until an Abort */
  bool blocked; /* its completion queue is full */
  bool fault;   /* fault_action applies */
  enum sim_action fault_action;
  uint32_t fault_value;
  uint32_t held; /* later commands that must complete before it */
  bool holding;  /* its own work is done */
  bool kept;     /* counted in drive->held */

  uint64_t first_lba, reachable_blocks;   /* I/O: of its namespace, on the media */
  uint64_t bytes, asked, moved;           /* of data: in total, handed to the link, arrived */
  uint64_t at;                            /* position on the media, in bytes */
  uint64_t ready_first_ps, ready_last_ps; /* reads: when the media has the first and the last chunk */
  uint64_t taken_ps;                      /* writes: when the buffer has it all */
  uint64_t post_ps;                       /* reads: when the completion after the last chunk arrives; 0: not sent */
  uint8_t *buffer;                        /* a page or more, for data that is not on the media */
  bool buffered;

  uint64_t *pages; /* page_count of them, room for page_room; kept when the slot is free */
  uint32_t page_count, page_room, pages_needed;
  uint64_t list; /* where the next part of the PRP list is */
  struct drive_change *change;
};

/* One direction of the link, and the commands that move data in this direction. They take turns. */
struct drive_pipe {
  uint16_t waiting[DRIVE_COMMANDS_MAX];
  uint32_t first, count;
  uint64_t outstanding_bytes;
};

struct blob;

/* A change to the media: powercut.c. It belongs to its command until all of it has arrived, then to the list. */
struct drive_change {
  struct drive_change *next;
  struct drive_change *sibling; /* next change of the same command: TRIM has several ranges */
  enum sim_journal_op op;
  uint8_t shift;
  bool fua;
  bool durable;
  bool done; /* no longer in flight: `completed` is valid */
  uint64_t lba;
  uint32_t blocks, arrived;
  uint64_t arrived_bytes;
  uint64_t completed; /* sequence number */
  struct blob *data;  /* NULL: the blocks are empty afterwards */
  uint64_t journal;   /* index of its entry since the start, cleared entries included */
};

struct drive_cache {
  struct drive_change *first, **end;
  struct sim_store *durable; /* what is durable */
  struct sim_journal_entry *journal;
  size_t journal_count, journal_room;
  uint64_t journal_first; /* number of entries that were cleared */
};

struct drive_registers {
  uint64_t cap, asq, acq;
  uint32_t cc, csts, aqa, intms;
};

struct drive_features {
  uint32_t values[256]; /* dword 11, as set */
  uint32_t over_k, under_k;
  bool acre;
  uint32_t host_buffer[5]; /* dwords 11 … 15 */
  uint64_t host_buffer_descriptor[2];
  uint64_t timestamp, timestamp_set_ps; /* in ms, below the attributes */
};

struct drive_events {
  uint16_t ids[DRIVE_EVENTS_MAX]; /* of the pending requests */
  uint32_t requests;
  uint32_t waiting[DRIVE_EVENTS_MAX]; /* pending events */
  uint32_t count;
  uint8_t masked; /* types reported whose log page the host has not read yet */
  bool hot;       /* above a threshold, and reported */
};

/* The last Sanitize. Neither a reset nor a power cut changes it. */
struct drive_sanitize {
  uint64_t begin_ps, end_ps; /* while one runs */
  uint32_t dword10;
  uint8_t state; /* SSTAT: 0 never, 1 done, 2 running, 3 failed */
  bool left;     /* a failed one, left by Exit Failure Mode */
  bool fails;    /* the next one fails */
};

struct sim_drive {
  struct sim *sim;
  unsigned index;
  struct sim_profile profile;
  struct sim_drive_options options;
  struct sim_link link;
  struct sim_media media;
  struct sim_store *store;
  uint8_t *filled; /* filled.c */
  uint8_t identify_controller[4096], identify_namespace[4096], smart[512];
  uint32_t namespaces[DRIVE_NAMESPACES_MAX + 1]; /* active ones, ascending, then 0 */
  uint64_t blocks;
  uint8_t block_shift;

  struct drive_registers registers;
  uint32_t epoch; /* rises when all commands in flight are dropped */
  bool never_ready, never_disabled, fatal_on_enable, ignores_control;
  uint32_t shutdown_ms; /* in addition to the time to write back the cache */
  bool link_down;
  bool silent;
  bool broken; /* after sim_drive_break(), until the reset of kind `cure` */
  enum sim_reset_kind cure;
  uint64_t reset_begun_ps; /* of a reset that lasts (secondary bus reset, PERST#) */
  uint32_t link_drops;     /* count; only the latest drop ends by itself */
  uint32_t disables;       /* count */
  uint64_t patience_ps;    /* when CAP.TO ends after an enable: a host waits for CSTS.RDY until then */
  bool surprised;          /* it reset itself without the host's knowledge; ends when the host writes CC */
  uint64_t surprised_ps;   /* when it did */
  bool shut_down;          /* cleanly, since the last enable */
  struct drive_sq sq[DRIVE_QUEUES_MAX + 1];
  struct drive_cq cq[DRIVE_QUEUES_MAX + 1];
  struct drive_fetch fetches[DRIVE_FETCHES_MAX];
  uint32_t fetch_first, fetch_count;
  uint16_t fetch_turn; /* the queue to fetch from first */
  uint32_t promised;   /* slots reserved for entries being fetched */
  uint64_t front_free_ps;
  uint64_t last_data_ps;

  drive_step *execute;            /* of a command that the front end has reached: execute.c */
  struct drive_command *commands; /* DRIVE_COMMANDS_MAX */
  uint16_t free_slots[DRIVE_COMMANDS_MAX];
  uint32_t free_count;
  uint64_t generations;
  uint32_t blocked, held;                    /* commands whose completion waits, or will wait */
  uint64_t *submitted[DRIVE_QUEUES_MAX + 1]; /* sequence number of each entry's doorbell */
  uint8_t *ids[DRIVE_QUEUES_MAX + 1];        /* a bit for each identifier in flight */
  struct drive_pipe down, up;

  uint64_t drained_ps; /* when data cached before the cache was turned off is on the media */
  struct drive_features features;
  bool cache_chosen; /* the host has used Set Features 6 */
  struct drive_events events;
  struct drive_sanitize sanitize;
  struct drive_cache cache;
  struct sim_fault faults[DRIVE_FAULTS_MAX];
  unsigned fault_count;
  uint64_t media_errors, error_entries;
  uint8_t errors[DRIVE_ERRORS_MAX][64]; /* the error log, newest first */
  uint64_t read_units_512, written_units_512, read_commands, write_commands;
  struct sim_drive_counters counters;
  uint8_t *bounce; /* one chunk */
  struct sim_command *log;
  size_t log_count, log_room;
};

static inline uint64_t drive_number(const struct sim_drive *drive, const struct drive_command *command) {
  return command->generation << 16 | (uint64_t)(command - drive->commands);
}

/* The command that an event names. NULL: its slot was freed since. */
static inline struct drive_command *drive_command_of(struct sim_drive *drive, uint64_t number) {
  struct drive_command *command = &drive->commands[number & 0xffffu];
  return command->generation == number >> 16 ? command : NULL;
}

static inline uint64_t drive_qword(const struct drive_command *command, unsigned dword) {
  return (uint64_t)command->dwords[dword + 1u] << 32 | command->dwords[dword];
}

#define CSTS_READY UINT32_C(1)
#define CSTS_FATAL UINT32_C(2)

/* The host has set CC.EN. */
static inline bool drive_enabled(const struct sim_drive *drive) { return (drive->registers.cc & 1u) != 0; }

static inline bool drive_running(const struct sim_drive *drive) {
  return (drive->registers.csts & (CSTS_READY | CSTS_FATAL)) == CSTS_READY;
}

/* Entries from one index of a ring to another. */
static inline uint32_t drive_distance(uint32_t from, uint32_t to, uint32_t entries) {
  return to >= from ? to - from : to + entries - from;
}

/* Free slots for commands of this queue that are not reserved for others. */
static inline uint32_t drive_slots_for(const struct sim_drive *drive, uint16_t queue) {
  const uint32_t kept = drive->promised + (queue == 0 ? 0 : DRIVE_ADMIN_RESERVED);

  return drive->free_count > kept ? drive->free_count - kept : 0;
}

/* ---- commands.c ---- */
/* A command of its queue has this identifier from now on, or no longer. */
void drive_id_begins(struct sim_drive *drive, const struct drive_command *command);
void drive_id_ends(struct sim_drive *drive, const struct drive_command *command);
struct drive_command *drive_find(struct sim_drive *drive, uint16_t queue, uint16_t id);
/* Drops all commands in flight and deletes all queues. The contents stay. */
void drive_forget(struct sim_drive *drive);
void drive_fatal(struct sim_drive *drive);

/* ---- host_memory.c ---- */
bool drive_may_master(struct sim_drive *drive);
/* Reports a violation unless the data that the drive reads was visible to it when the register write `sequence`
 * left. */
void drive_check_shown(struct sim_drive *drive, const char *what, uint64_t address, uint64_t bytes, uint64_t sequence);

/* ---- fetch.c ---- */
void drive_fetch_more(struct sim_drive *drive);

/* ---- post.c ---- */
/* Posts the completion now. */
void drive_post(struct sim_drive *drive, struct drive_command *command);
void drive_free(struct sim_drive *drive, struct drive_command *command);
void drive_drop_queue(struct sim_drive *drive, uint16_t queue);
/* For a completion queue about to be used: reports a violation if its phase bits were not cleared before `sequence`. */
void drive_check_phases(struct sim_drive *drive, const struct drive_cq *cq, uint64_t sequence);
/* A completion without a command in a slot: for an asynchronous event request, or from a fault. */
bool drive_can_post(const struct sim_drive *drive, uint16_t queue);
void drive_post_entry(struct sim_drive *drive, uint16_t queue, const uint32_t entry[4], bool wrong_phase);

/* ---- event.c ---- */
#define DRIVE_EVENT_HEALTH 1u /* a type, as DRIVE_WARN_HEAT is a critical warning */
#define DRIVE_WARN_HEAT    2u
uint16_t drive_event_request(struct sim_drive *drive, struct drive_command *command);
void drive_raise_event(struct sim_drive *drive, uint32_t event);
/* Called when the completion queue may have room again. */
void drive_match_events(struct sim_drive *drive);
void drive_check_heat(struct sim_drive *drive);
/* Is the drive beyond a threshold that the host has set? */
bool drive_is_hot(const struct sim_drive *drive);
uint16_t drive_kelvin(const struct sim_drive *drive);

/* ---- error_log.c ---- */
void drive_error_taken(struct sim_drive *drive, const struct drive_command *command);

/* ---- complete.c ---- */
/* Completes a command at `at_ps`. After this come only faults and the completion's way to the host. */
void drive_complete_at(struct sim_drive *drive, struct drive_command *command, uint64_t at_ps);
void drive_complete(struct sim_drive *drive, struct drive_command *command, uint16_t status);

/* ---- doorbell.c ---- */
void drive_doorbell(struct sim_drive *drive, uint32_t offset, uint32_t value, uint64_t sequence);

/* ---- reset.c ---- */
void drive_subsystem_reset(struct sim_drive *drive);

/* ---- execute.c ---- */
void drive_execute(struct sim_drive *drive, struct drive_command *command);

/* ---- prp.c ---- */
/* Finds out where `bytes` of data are, then calls `listed`. On an error it completes the command with its status. */
void drive_list(struct sim_drive *drive, struct drive_command *command, uint64_t bytes, drive_step *listed);
uint64_t drive_data_range(const struct drive_command *command, uint64_t position, uint64_t *bytes);

/* ---- transfer.c ---- */
/* Moves command->bytes between the host's memory and the buffer or the media, then calls `moved_all`. */
void drive_move(struct sim_drive *drive, struct drive_command *command, bool up, drive_step *moved_all);
/* The same for at most a page of the command's own buffer, to or from PRP1 and PRP2. */
void drive_send_page(struct sim_drive *drive, struct drive_command *command, uint64_t bytes);
void drive_take_page(struct sim_drive *drive, struct drive_command *command, uint64_t bytes, drive_step *moved_all);
uint8_t *drive_page(struct drive_command *command);
uint8_t *drive_buffer(struct drive_command *command, uint64_t bytes); /* the same for any size */

/* ---- admin.c, feature.c, log.c, identify.c ---- */
uint16_t drive_admin(struct sim_drive *drive, struct drive_command *command);
uint16_t drive_set_feature(struct sim_drive *drive, struct drive_command *command);
uint16_t drive_get_feature(struct sim_drive *drive, struct drive_command *command);
void drive_features_reset(struct sim_drive *drive);
uint16_t drive_get_log(struct sim_drive *drive, struct drive_command *command);
void drive_identify_init(struct sim_drive *drive);
void drive_geometry(struct sim_drive *drive, uint8_t block_shift);
uint16_t drive_identify(struct sim_drive *drive, struct drive_command *command);

/* ---- sanitize.c ---- */
uint16_t drive_sanitize(struct sim_drive *drive, struct drive_command *command);
/* The status of a command that Sanitize blocks, while one runs or after it failed. STATUS_OK: not blocked. */
uint16_t drive_sanitize_status(struct sim_drive *drive);
void drive_sanitize_log(struct sim_drive *drive, uint8_t *page);

/* ---- io.c ---- */
uint16_t drive_io(struct sim_drive *drive, struct drive_command *command);

/* ---- filled.c ---- */
void drive_filled_init(struct sim_drive *drive);
uint64_t drive_really_fresh(const struct sim_drive *drive, uint64_t at, uint64_t bytes, uint64_t fresh);
uint64_t drive_discard(struct sim_drive *drive, uint64_t at, uint64_t bytes);

/* ---- powercut.c ---- */
bool drive_cache_on(const struct sim_drive *drive); /* the volatile write cache */
void drive_cache_init(struct sim_drive *drive);
void drive_cache_free(struct sim_drive *drive);
/* With options.journal. Without it, these do nothing. */
void drive_change_begin(struct sim_drive *drive, struct drive_command *command, enum sim_journal_op op, uint64_t lba,
                        uint32_t blocks);
void drive_change_arrived(struct sim_drive *drive, struct drive_command *command, const uint8_t *data, uint64_t bytes);
void drive_change_completed(struct sim_drive *drive, struct drive_command *command);
/* The command never completes. */
void drive_change_lost(struct sim_drive *drive, struct drive_command *command);
void drive_flushed(struct sim_drive *drive, uint64_t submitted);
/* Commands in flight will never complete. */
void drive_changes_orphaned(struct sim_drive *drive);
void drive_changes_cut(struct sim_drive *drive);
void drive_changes_formatted(struct sim_drive *drive);

/* ---- fault.c, fault_completion.c ---- */
/* Does this fault apply to the command? */
static inline bool drive_has_fault(const struct drive_command *command, enum sim_action action) {
  return command->fault && command->fault_action == action;
}
/* Chooses a fault for a command that was just fetched. True: the fault happened, and the command is not carried out. */
bool drive_fault_before(struct sim_drive *drive, struct drive_command *command);
/* Applies a fault to the completion that is about to be posted. False: the completion is not posted. */
bool drive_fault_after(struct sim_drive *drive, struct drive_command *command);

#endif
