/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the driver. Section numbers are those of the NVM Express base specification 1.4. */
#ifndef SPATE_NVME_INTERNAL_H
#define SPATE_NVME_INTERNAL_H

#include "shared.h"

#include <spate/port.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "queue entries are stored as they are");

#define SPATE_NVME_CANCELLED 0x8000u /* not a status of a drive: the field has 15 bits */

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

#define ADMIN_TIMEOUT_MS 5000u
#define ABORT_TIMEOUT_MS 1000u

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
  void (*supervise)(struct spate_nvme *controller); /* aborts the request when its timeout has passed */
  void (*end)(struct spate_nvme *controller, enum spate_error error);
};
/* Ends the request, if there is one. The drive no longer writes to its buffer. */
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
/* Starts a reset. Until the controller runs again submit returns FULL. */
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
/* Do AQA, ASQ and ACQ have what spate_nvme_admin_reset() wrote? */
bool spate_nvme_admin_registers_are_ours(const struct spate_nvme *controller);
/* For a controller that was ready. FATAL: it reports a fatal error (CSTS.CFS), or it is not ready any more, for example
 * because it lost power. */
enum spate_error spate_nvme_status_check(const struct spate_nvme *controller);

/* quirks.c */
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
void spate_nvme_queue_kick(struct spate_block *block);
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
