/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the driver. Section numbers are those of the NVM Express base specification 1.4. */
#ifndef SPATE_NVME_INTERNAL_H
#define SPATE_NVME_INTERNAL_H

#include "entries.h"
#include "pages.h"
#include "quirks.h"

#include <spate/nvme.h>
#include <spate/port.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "queue entries are stored as they are");

/* Controller registers (3.1). */
enum {
  NVME_CAP = 0x00,
  NVME_VS = 0x08,
  NVME_CC = 0x14,
  NVME_CSTS = 0x1c,
  NVME_NSSR = 0x20,
  NVME_AQA = 0x24,
  NVME_ASQ = 0x28,
  NVME_ACQ = 0x30,
  NVME_DOORBELLS = 0x1000,
};

#define NVME_CC_ENABLE          UINT32_C(1)
#define NVME_CC_SHUTDOWN_NORMAL (UINT32_C(1) << 14)
/* IOCQES 4: entries of 16 bytes. IOSQES 6: entries of 64 bytes. MPS 0: 4 KiB pages. AMS 0: round robin. CSS 0: NVM
 * command set. */
#define NVME_CC_START (UINT32_C(4) << 20 | UINT32_C(6) << 16 | NVME_CC_ENABLE)

#define NVME_CSTS_READY             UINT32_C(1)
#define NVME_CSTS_FATAL             UINT32_C(2)
#define NVME_CSTS_SHUTDOWN_MASK     UINT32_C(0xc)
#define NVME_CSTS_SHUTDOWN_COMPLETE UINT32_C(0x8)
#define NVME_ALL_ONES               UINT32_C(0xffffffff) /* returned for a device that is off the bus */

#define NVME_AQA_BOTH(entries) (((entries)-1u) << 16 | ((entries)-1u)) /* ACQS and ASQS */

enum nvme_admin_opcode {
  NVME_DELETE_SQ = 0x00,
  NVME_CREATE_SQ = 0x01,
  NVME_GET_LOG = 0x02,
  NVME_DELETE_CQ = 0x04,
  NVME_CREATE_CQ = 0x05,
  NVME_IDENTIFY = 0x06,
  NVME_ABORT = 0x08,
  NVME_SET_FEATURES = 0x09,
  NVME_GET_FEATURES = 0x0a,
  NVME_ASYNC_EVENT = 0x0c,
  NVME_NAMESPACE_MANAGEMENT = 0x0d,
  NVME_FIRMWARE_DOWNLOAD = 0x11,
  NVME_NAMESPACE_ATTACHMENT = 0x15,
  NVME_DIRECTIVE_SEND = 0x19,
  NVME_DIRECTIVE_RECEIVE = 0x1a,
  NVME_VIRTUALIZATION = 0x1c,
  NVME_DOORBELL_BUFFER = 0x7c,
  NVME_FORMAT = 0x80,
  NVME_SECURITY_SEND = 0x81,
  NVME_SECURITY_RECEIVE = 0x82,
  NVME_SANITIZE = 0x84,
};

enum nvme_opcode {
  NVME_FLUSH = 0,
  NVME_WRITE = 1,
  NVME_READ = 2,
  NVME_COMPARE = 5,
  NVME_WRITE_ZEROES = 8,
  NVME_DATASET = 9
};

enum nvme_feature {
  NVME_FEATURE_POWER = 0x02,
  NVME_FEATURE_WRITE_CACHE = 0x06,
  NVME_FEATURE_QUEUES = 0x07,
  NVME_FEATURE_EVENTS = 0x0b,
  NVME_FEATURE_AUTONOMOUS_POWER = 0x0c,
  NVME_FEATURE_HOST_BUFFER = 0x0d,
  NVME_FEATURE_TIMESTAMP = 0x0e,
  NVME_FEATURE_KEEP_ALIVE = 0x0f,
  NVME_FEATURE_HOST_BEHAVIOR = 0x16,
};

enum nvme_identify { NVME_IDENTIFY_NAMESPACE = 0, NVME_IDENTIFY_CONTROLLER = 1, NVME_IDENTIFY_ACTIVE = 2 };

#define NVME_LOG_HEALTH     0x02u
#define NVME_ZERO_CELSIUS_K 273u
#define NVME_LOG_BYTES      512u
#define NVME_ALL_NAMESPACES UINT32_C(0xffffffff)
#define NVME_ADMIN_ENTRIES  64u /* a page of submission entries: some drives do not work with fewer */

/* Status field without the phase bit (4.6.1). */
#define NVME_STATUS_CODE(status)  ((status)&0x7ffu) /* code and type */
#define NVME_STATUS_TYPE(status)  (((status) >> 8) & 7u)
#define NVME_STATUS_DELAY(status) (((status) >> 11) & 3u) /* CRD */
#define NVME_STATUS_DO_NOT_RETRY  0x4000u
#define NVME_STATUS_MEDIA         2u
#define NVME_STATUS_ABORTED       0x007u
#define NVME_STATUS_NAMESPACE     0x00bu  /* Invalid Namespace or Format */
#define NVME_STATUS_NOT_READY     0x082u  /* Namespace Not Ready */
#define SPATE_NVME_CANCELLED      0x8000u /* not a status of a drive: the field has 15 bits */

/* Flags in slot->sent, above the namespace identifiers that are in use. A completion on the fast path matches only a
 * slot without flags. */
#define SLOT_SLOW_PATH (UINT64_C(1) << 63) /* one part of several, or there is work to do when it completes */
#define SLOT_IDLE      (UINT64_C(1) << 62) /* not sent: the slot is free, or its command waits to be sent (again) */
#define SLOT_FREE      SLOT_IDLE           /* without any other bit: no request */

#define SLOT_GENERATION UINT64_C(0xff000000) /* bits 15:8 of the command identifier */

/* In slot->attempts. A link drop costs 1. */
#define ATTEMPTS_BUDGET SPATE_NVME_LINK_DROPS_MAX
#define ATTEMPT_COST    (ATTEMPTS_BUDGET / SPATE_NVME_ATTEMPTS_MAX)

#define SILENT_AT_OPEN_MS 2000u /* some drives read as all ones for so long after a reset */
#define INTERVAL_MS       100u  /* between calls of service; also the unit of the drive's retry delays */
#define FLUSH_TIMEOUT_MS  30000u

#define NVME_STALE_FATAL_MS 10u /* CSTS.CFS of before was seen 1 ms after CC.EN was set */

#define ADMIN_TIMEOUT_MS 5000u
#define ABORT_TIMEOUT_MS 1000u

/* The fields of an admin command that may be other than zero. */
struct nvme_command {
  void (*completed)(
      struct spate_nvme *controller); /* takes the completion from the slot; NULL: the sender polls the slot */
  uint32_t opcode, nsid;
  const volatile void *data; /* NULL: none */
  uint64_t second_prp;       /* 0: the data are within one page, or are a queue */
  uint32_t dword10, dword11;
  uint64_t dwords_12_13, dwords_14_15;
};

/* admin.c */
void spate_nvme_admin_reset(struct spate_nvme *controller);
void spate_nvme_admin_cancel(struct spate_nvme *controller);
void spate_nvme_admin_send(struct spate_nvme *controller, enum spate_nvme_admin_user user,
                           const struct nvme_command *command, uint32_t timeout_ms);
void spate_nvme_admin_reap(struct spate_nvme *controller);
bool spate_nvme_admin_expired(const struct spate_nvme *controller);
/* The command that creates the submission or the completion queue. */
void spate_nvme_create(const struct spate_nvme_queue *queue, enum nvme_admin_opcode half, struct nvme_command *command);

/* call.c: sends one command and waits for its completion. The result is in admin[CALLER].result. */
void spate_nvme_wait_for_running(struct spate_nvme *controller);
SPATE_MUST_CHECK enum spate_error spate_nvme_call(struct spate_nvme *controller, const struct nvme_command *command,
                                                  uint32_t timeout_ms);
/* The same for a command that has only dwords 10 and 11. */
SPATE_MUST_CHECK enum spate_error spate_nvme_call_dwords(struct spate_nvme *controller, uint32_t opcode,
                                                         uint32_t dword10, uint32_t dword11);

/* admin_request.c: admin commands of the caller. The first one sets the pointer to these functions, so a program that
 * submits none is linked without them. */
struct spate_nvme_request_ops {
  void (*deliver)(struct spate_nvme *controller);
  void (*supervise)(struct spate_nvme *controller); /* aborts the request when its time-out has passed */
  void (*end)(struct spate_nvme *controller, enum spate_error error);
};
/* Ends the request, if there is one. The drive writes to its buffer no more. */
static inline void spate_nvme_request_end(struct spate_nvme *controller, enum spate_error error) {
  if (controller->request != NULL) controller->request_ops->end(controller, error);
}

/* controller.c */
void spate_nvme_service(struct spate_nvme *controller);
/* Services the controller, then polls the queue. For a controller that is dead, ends the requests instead. */
unsigned spate_nvme_service_poll(struct spate_nvme_queue *queue, unsigned max);
void spate_nvme_enter(struct spate_nvme *controller, enum spate_nvme_state state, uint32_t timeout_ms);
/* Starts the first bring-up. */
void spate_nvme_start(struct spate_nvme *controller);
/* Starts a reset. Until the controller runs again submit answers FULL. */
void spate_nvme_recover(struct spate_nvme *controller, enum spate_error error);
/* Stops the controller; its requests end with this error when it has stopped. */
void spate_nvme_give_up(struct spate_nvme *controller, enum spate_error error);

/* registers.c: outside the data path. GONE: the drive is off the bus, and the values that were read are not valid. */
bool spate_nvme_link_is_up(const struct spate_nvme *controller);
SPATE_MUST_CHECK enum spate_error spate_nvme_control_status(const struct spate_nvme *controller, uint32_t *control,
                                                            uint32_t *status);
SPATE_MUST_CHECK enum spate_error spate_nvme_capabilities(const struct spate_nvme *controller, uint64_t *cap,
                                                          uint32_t *version);
void spate_nvme_write_control(const struct spate_nvme *controller, uint32_t control);
/* 0: not in BAR 0. `index`: 2 * queue identifier for the submission queue, 1 more for the completion queue. */
uintptr_t spate_nvme_doorbell(const struct spate_nvme *controller, unsigned index);
/* Do AQA, ASQ and ACQ have what spate_nvme_admin_reset() wrote? */
bool spate_nvme_admin_registers_are_ours(const struct spate_nvme *controller);
/* For a controller that was ready. FATAL: it reports a fatal error (CSTS.CFS), or it is not ready any more, for example
 * because it lost power. */
enum spate_error spate_nvme_status_check(const struct spate_nvme *controller);

/* quirks.c: delays the next register read after CC.EN was cleared, where this drive needs it, and extends the deadline
 * of the state by the same time. */
void spate_nvme_pause(struct spate_nvme *controller);
/* Takes back what the drive announces and should not be used: can_zero, can_trim. */
void spate_nvme_needs_apply(struct spate_nvme *controller);

/* escalate.c: resets beyond CC.EN */
enum nvme_reset_step {
  NVME_RESET_DONE,      /* the controller was reset */
  NVME_RESET_UNDER_WAY, /* call spate_nvme_reset_poll() */
  NVME_RESET_NONE_LEFT
};
/* Starts the next reset. */
enum nvme_reset_step spate_nvme_escalate(struct spate_nvme *controller);
enum nvme_reset_step spate_nvme_reset_poll(struct spate_nvme *controller);

/* giving_up.c: BUSY: it has not stopped yet. Otherwise the error with which its requests end. */
enum spate_error spate_nvme_halt(struct spate_nvme *controller);

/* setup.c */
void spate_nvme_setup_start(struct spate_nvme *controller);
/* OK: bring-up is complete. BUSY: a command is in flight. Otherwise bring-up has failed. */
enum spate_error spate_nvme_setup_advance(struct spate_nvme *controller);
void spate_nvme_write_cache_take(struct spate_nvme *controller, bool on);

/* identify.c */
enum spate_error spate_nvme_identity_take(struct spate_nvme *controller);
/* A hash by which the namespace that was just identified is recognised later. */
uint64_t spate_nvme_namespace_mark(const struct spate_nvme *controller);

/* closed.c */
extern const struct spate_block_ops spate_nvme_closed_ops;

/* queue_ops.c */
extern const struct spate_block_ops spate_nvme_queue_ops;

/* queue.c: the data path */
enum spate_error spate_nvme_queue_submit(struct spate_block *block, struct spate_io *io);
void spate_nvme_queue_kick(struct spate_nvme_queue *queue);
/* Reaps completions, sends the commands that wait, and rings pending doorbells. */
unsigned spate_nvme_queue_poll(struct spate_nvme_queue *queue, unsigned max);
void spate_nvme_queue_rings(struct spate_nvme_queue *queue);

/* request.c: the slow path */
enum spate_error spate_nvme_submit_parts(struct spate_nvme_queue *queue, struct spate_io *io);
void spate_nvme_issue(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot);
void spate_nvme_issue_waiting(struct spate_nvme_queue *queue);
/* TRIM or Write Zeroes, and the device is known not to carry it out: it is not sent again. */
bool spate_nvme_is_unsupported(const struct spate_nvme_queue *queue, const struct spate_nvme_slot *slot);
/* Reaps one completion entry of any kind and does not ring the doorbell. False: there is no new entry. */
bool spate_nvme_complete(struct spate_nvme_queue *queue);
void spate_nvme_finish(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, enum spate_error error,
                       uint16_t detail);

/* prp.c */
struct nvme_prps {
  uint64_t first, second;
};
void spate_nvme_prps_region(const struct spate_region *region, uint64_t offset_bytes, uint64_t bytes,
                            struct nvme_prps *prps);
/* False: not enough list pages are free. */
bool spate_nvme_prps_buffer(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, uint64_t address,
                            uint64_t bytes, struct nvme_prps *prps);
/* The same with list pages of the caller: as many as spate_nvme_prps_lists() says, at most two. */
void spate_nvme_prps_chained(uint64_t *const lists[], uint64_t address, uint64_t bytes, struct nvme_prps *prps);
unsigned spate_nvme_prps_lists(uint64_t address, uint64_t bytes);
void spate_nvme_lists_free(struct spate_nvme_queue *queue, const struct spate_nvme_slot *slot);

/* recovery.c: what becomes of the requests in flight */
/* A reset begins: nothing is submitted, and no doorbell is rung, until the replay. */
void spate_nvme_hold(struct spate_nvme *controller);
void spate_nvme_quiesce(struct spate_nvme *controller);
/* Sends again what the reset interrupted. */
void spate_nvme_replay(struct spate_nvme *controller, bool was_link_drop);
/* Of a controller that runs. OK, or why it must be reset. While an abort is in flight, abort_slot is not NULL. */
SPATE_MUST_CHECK enum spate_error spate_nvme_supervise(struct spate_nvme *controller);
bool spate_nvme_has_requests(const struct spate_nvme_queue *queue);
unsigned spate_nvme_fail_requests(struct spate_nvme_queue *queue, unsigned max);

/* health.c */
void spate_nvme_log_command(struct nvme_command *command, uint8_t page, void *to);
/* False: the log has no contents. */
bool spate_nvme_health_take(struct spate_nvme *controller, const void *log);
void spate_nvme_event_arm(struct spate_nvme *controller);
void spate_nvme_event_supervise(struct spate_nvme *controller);

/* power.c: did the drive lose power? */
/* The controller has restarted since it was ready. */
bool spate_nvme_power_is_doubtful(const struct spate_nvme *controller);
/* It is, at the end of a shutdown: the drive restarted just before, or clears its registers when it stops. */
void spate_nvme_power_doubt(struct spate_nvme *controller);
/* The controller is disabled, and its registers are as it left them. */
void spate_nvme_power_look(struct spate_nvme *controller);
/* A reset of the driver cleared the controller's registers. */
void spate_nvme_power_reset(struct spate_nvme *controller);
/* `good`: health has a new log. False: the drive gave none. */
void spate_nvme_power_judge(struct spate_nvme *controller, bool good);

static inline bool spate_nvme_is_running(const struct spate_nvme *controller) {
  return controller->state == SPATE_NVME_RUNNING || controller->state == SPATE_NVME_ABORTING;
}

static inline struct spate_nvme_queue *spate_nvme_queue_of(struct spate_block *block) {
  return (struct spate_nvme_queue *)(void *)block;
}

static inline bool spate_nvme_in_flight(const struct spate_nvme_slot *slot) { return (slot->sent & SLOT_IDLE) == 0; }

/* The completion queue was reaped up to `head`. */
static inline void spate_nvme_reaped(struct spate_nvme_queue *queue, const volatile uint64_t *head) {
  queue->cq_head = head;
  if (head != queue->cq_end) return;
  queue->cq_head = queue->cq;
  queue->phase ^= NVME_CQE_PHASE;
  queue->fast_match ^= nvme_cqe_from_sqid(NVME_CQE_PHASE);
}

/* CDW0 and NSID of a Read from this slot, with the generation of the command that is number `order`. */
static inline uint64_t spate_nvme_read_cdw0_nsid(const struct spate_nvme_slot *slot, uint32_t order) {
  return (slot->base & ~SLOT_GENERATION) | ((uint64_t)order << 24 & SLOT_GENERATION);
}

static inline uint64_t spate_nvme_ticks(const struct spate_nvme *controller, uint32_t ms) {
  return controller->ticks_per_ms * ms;
}

#endif
