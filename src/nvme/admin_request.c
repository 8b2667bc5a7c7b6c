/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admin commands of the caller, one at a time, while I/O continues. A command that exceeds its timeout is aborted. If
 * the abort does not end it, the controller is reset. A command that a reset cancelled ends only when the controller
 * has stopped: until then the drive may write to the buffer.
 */
#include "internal.h"

#define OPCODE_TO_DRIVE 1u /* bits 1:0 of an opcode (figure 139) */
#define OPCODE_TO_HOST  2u
#define IDENTIFY_BYTES  4096u

/* Commands and features that would change what the driver itself has set. */
static bool is_reserved_for_driver(const struct spate_nvme_admin_request *request) {
  switch (request->opcode) {
  case NVME_DELETE_SQ:
  case NVME_CREATE_SQ:
  case NVME_DELETE_CQ:
  case NVME_CREATE_CQ:
  case NVME_ABORT:
  case NVME_ASYNC_EVENT:
  case NVME_VIRTUALIZATION:
  case NVME_DOORBELL_BUFFER: return true;
  case NVME_SET_FEATURES: break;
  default: return false;
  }
  switch (request->dwords_10_15[0] & 0xffu) {
  case NVME_FEATURE_POWER:
  case NVME_FEATURE_AUTONOMOUS_POWER:
  case NVME_FEATURE_WRITE_CACHE:
  case NVME_FEATURE_QUEUES:
  case NVME_FEATURE_EVENTS:
  case NVME_FEATURE_HOST_BUFFER:
  case NVME_FEATURE_KEEP_ALIVE:
  case NVME_FEATURE_HOST_BEHAVIOR: return true;
  default: return false;
  }
}

static bool changes_namespaces(uint8_t opcode) {
  return opcode == NVME_FORMAT || opcode == NVME_SANITIZE || opcode == NVME_NAMESPACE_MANAGEMENT ||
         opcode == NVME_NAMESPACE_ATTACHMENT;
}

/* The transfer length in the command itself; 0: it has none. A drive would write beyond a buffer that is shorter. */
static uint64_t length_in_command(const struct spate_nvme_admin_request *request) {
  const uint32_t *dwords = request->dwords_10_15;

  switch (request->opcode) {
  case NVME_IDENTIFY: return IDENTIFY_BYTES;
  case NVME_GET_LOG: return (((uint64_t)(dwords[1] & 0xffffu) << 16 | dwords[0] >> 16) + 1u) * 4u;
  case NVME_FIRMWARE_DOWNLOAD:
  case NVME_DIRECTIVE_SEND:
  case NVME_DIRECTIVE_RECEIVE: return ((uint64_t)dwords[0] + 1u) * 4u;
  case NVME_SECURITY_SEND:
  case NVME_SECURITY_RECEIVE: return dwords[1];
  default: return 0;
  }
}

static bool data_fits(const struct spate_nvme *controller, const struct spate_nvme_admin_request *request) {
  const uint32_t transfer_bytes = controller->identity.transfer_bytes_max;
  const uint32_t bytes = request->bytes;

  if (bytes == 0) return true;
  if (request->buffer == NULL || (request->opcode & (OPCODE_TO_DRIVE | OPCODE_TO_HOST)) == 0) return false;
  const uint64_t address = spate_port_dma_address(request->buffer);
  if (((uintptr_t)request->buffer & (SPATE_DMA_ALIGN - 1u)) != 0 || (address & 3u) != 0 || (bytes & 3u) != 0)
    return false;
  if ((address & (SPATE_PAGE_BYTES - 1u)) + bytes > (uint64_t)SPATE_NVME_BUFFER_PAGES * SPATE_PAGE_BYTES) return false;
  return transfer_bytes == 0 || bytes <= transfer_bytes;
}

static enum spate_error check(const struct spate_nvme *controller, const struct spate_nvme_admin_request *request) {
  if (is_reserved_for_driver(request) || request->timeout_ms == 0 || request->done == NULL) return SPATE_E_INVALID;
  if (length_in_command(request) > request->bytes || !data_fits(controller, request)) return SPATE_E_INVALID;
  if (controller->state == SPATE_NVME_DEAD || controller->state == SPATE_NVME_CLOSED) return controller->error;
  if (changes_namespaces(request->opcode) && controller->queues != NULL) return SPATE_E_BUSY;
  return controller->request != NULL || !spate_nvme_is_running(controller) ? SPATE_E_FULL : SPATE_OK;
}

/* Most programs submit no request that needs a list, so the memory is taken when the first one does. It is kept: the
 * arena never takes memory back. */
static enum spate_error lists_take(struct spate_nvme *controller, const struct spate_nvme_admin_request *request) {
  if (controller->request_lists != NULL || request->bytes == 0 ||
      spate_nvme_prps_lists(spate_port_dma_address(request->buffer), request->bytes) == 0)
    return SPATE_OK;
  controller->request_lists =
      spate_arena_take(controller->config.queue_memory, SPATE_NVME_ADMIN_LISTS_BYTES, SPATE_PAGE_BYTES);
  return controller->request_lists == NULL ? SPATE_E_MEMORY : SPATE_OK;
}

/* The length in whole cache lines. The last line has nothing else in it. */
static size_t cache_bytes(const struct spate_nvme_admin_request *request) {
  return ((size_t)request->bytes + SPATE_DMA_ALIGN - 1u) & ~(size_t)(SPATE_DMA_ALIGN - 1u);
}

static void completed(struct spate_nvme *controller) {
  const struct spate_nvme_admin_slot *slot = &controller->admin[SPATE_NVME_ADMIN_REQUEST];
  struct spate_nvme_admin_request *request = controller->request;

  request->error = SPATE_OK;
  request->detail = slot->status;
  request->result = slot->result;
  if (slot->status != 0) request->error = SPATE_E_COMMAND;
  if (controller->request_aborted && NVME_STATUS_CODE(slot->status) == NVME_STATUS_ABORTED)
    request->error = SPATE_E_TIMEOUT;
  controller->request_completed = true;
}

static void send(struct spate_nvme *controller, const struct spate_nvme_admin_request *request) {
  uint64_t *const first = controller->request_lists; /* NULL: the buffer needs no list */
  uint64_t *const lists[] = {first, first == NULL ? NULL : first + SPATE_PAGE_BYTES / sizeof first[0]};
  const uint32_t *dwords = request->dwords_10_15;
  struct nvme_prps prps = {0, 0};

  if (request->bytes != 0)
    spate_nvme_prps_chained(lists, spate_port_dma_address(request->buffer), request->bytes, &prps);
  const struct nvme_command command = {.completed = completed,
                                       .opcode = request->opcode,
                                       .nsid = request->nsid,
                                       .data = request->bytes == 0 ? NULL : request->buffer,
                                       .second_prp = prps.second,
                                       .dword10 = dwords[0],
                                       .dword11 = dwords[1],
                                       .dwords_12_13 = (uint64_t)dwords[3] << 32 | dwords[2],
                                       .dwords_14_15 = (uint64_t)dwords[5] << 32 | dwords[4]};
  spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_REQUEST, &command, 0);
}

/* Called when the admin queue is consistent, because `done` may submit the next request. */
static void deliver(struct spate_nvme *controller) {
  struct spate_nvme_admin_request *request = controller->request;

  controller->request = NULL;
  controller->request_completed = false;
  if (request->bytes != 0 && (request->opcode & OPCODE_TO_HOST) != 0)
    spate_port_cache_invalidate(request->buffer, cache_bytes(request));
  request->done(request);
}

/* Aborts a request whose timeout has passed, as soon as no other abort is in flight: a drive need not accept more than
 * one. From then on the slot has a deadline, as the driver's own commands have, after which the controller is reset. */
static void supervise(struct spate_nvme *controller) {
  struct spate_nvme_admin_slot *slot = &controller->admin[SPATE_NVME_ADMIN_REQUEST];
  const uint64_t now = spate_port_ticks();

  if (!slot->busy || controller->request_aborted || now < controller->request_by_ticks ||
      controller->admin[SPATE_NVME_ADMIN_ABORT].busy)
    return;
  const struct nvme_command command = {.opcode = NVME_ABORT, .dword10 = nvme_abort_cdw10(0, slot->id)};
  spate_port_log("nvme: admin request timed out, aborted, opcode", controller->request->opcode);
  controller->counters.timeouts++;
  controller->counters.aborts++;
  controller->request_aborted = true;
  slot->deadline_ticks = now + spate_nvme_ticks(controller, ABORT_TIMEOUT_MS);
  spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_ABORT, &command, ABORT_TIMEOUT_MS);
}

static void end(struct spate_nvme *controller, enum spate_error error) {
  struct spate_nvme_admin_request *request = controller->request;

  if (!controller->request_completed) {
    request->error = error;
    request->detail = 0;
    request->result = 0;
    controller->request_completed = true;
  }
  deliver(controller);
}

static const struct spate_nvme_request_ops ops = {.deliver = deliver, .supervise = supervise, .end = end};

enum spate_error spate_nvme_admin_submit(struct spate_nvme *controller, struct spate_nvme_admin_request *request) {
  enum spate_error error = check(controller, request);

  if (error == SPATE_OK) error = lists_take(controller, request);
  if (error != SPATE_OK) return error;
  if (request->bytes != 0) {
    if ((request->opcode & OPCODE_TO_DRIVE) != 0) spate_port_cache_clean(request->buffer, cache_bytes(request));
    /* A dirty line might be evicted later, over what the drive wrote. */
    if ((request->opcode & OPCODE_TO_HOST) != 0) spate_port_cache_invalidate(request->buffer, cache_bytes(request));
  }
  controller->request = request;
  controller->request_ops = &ops;
  controller->request_aborted = false;
  controller->request_completed = false;
  controller->request_by_ticks = spate_port_ticks() + spate_nvme_ticks(controller, request->timeout_ms);
  send(controller, request);
  return SPATE_OK;
}
