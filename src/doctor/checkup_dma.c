/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the drive reach queue memory, and do processor and drive see each other's stores there? One command says it. Its
 * submission entry is not cleaned from the caches, and its completion entry is looked at before and after an
 * invalidate.
 *
 *   the completion is                          conclusion
 *   seen, and to this command                  queue memory is right
 *   seen, and to another command               the drive reads old entries: cached, not coherent
 *   seen after its entry was invalidated       the processor reads old entries: the same
 *   never seen                                 the drive does not reach this memory
 *
 * A drive that does not see the entry fetches the zeros that were there before. They are the command Delete I/O
 * Submission Queue with identifier 0, which every drive refuses.
 */
#include "checkup.h"

enum { PAGE_ADMIN_SQ, PAGE_ADMIN_CQ, PAGE_IO_SQ, PAGE_IO_CQ, PAGE_IDENTITY, PAGE_OTHER, PAGES };

#define VERSION_1_1 UINT32_C(0x00010100)

static struct nvme_command identify(uint32_t what, uint32_t nsid, const volatile void *to) {
  return (struct nvme_command){.opcode = NVME_IDENTIFY, .nsid = nsid, .data = to, .dword10 = what};
}

static void not_reached(struct checkup_dma *dma) {
  const uint32_t status = spate_port_read32(dma->checkup->device.bar0 + NVME_CSTS);

  spate_checkup_found(dma->checkup, SPATE_DOCTOR_QUEUE_MEMORY_UNREACHED,
                      (struct checkup_values){.numbers = {spate_port_dma_address(dma->admin.sq), status}});
}

static void cached(struct checkup_dma *dma) {
  spate_checkup_found(dma->checkup, SPATE_DOCTOR_QUEUE_MEMORY_CACHED, (struct checkup_values){.name = NULL});
}

/* The page's first quadword is never all ones in Identify Controller: vendor and serial number. */
static bool has_identity(const struct checkup_dma *dma) {
  return ((const volatile uint64_t *)dma->identity)[0] != UINT64_MAX;
}

static bool is_completed(struct checkup_dma *dma) {
  const struct nvme_command command = identify(NVME_IDENTIFY_CONTROLLER, 0, dma->identity);

  *(volatile uint64_t *)dma->identity = UINT64_MAX;
  spate_port_cache_clean(dma->identity, SPATE_PAGE_BYTES);
  spate_checkup_send(&dma->admin, &command);
  const struct checkup_completion completion = spate_checkup_wait(&dma->admin);
  if (!completion.seen) {
    spate_port_dma_read_barrier();
    spate_port_cache_invalidate((void *)(uintptr_t)dma->admin.cq, SPATE_PAGE_BYTES);
    if (spate_checkup_look(&dma->admin).seen)
      cached(dma);
    else
      not_reached(dma);
    return false;
  }
  if (!completion.is_to_this) {
    cached(dma);
    return false;
  }
  if (completion.status == 0) return true;
  spate_checkup_found(dma->checkup, SPATE_DOCTOR_COMMAND_REFUSED,
                      (struct checkup_values){.name = spate_nvme_status_name(completion.status)});
  return false;
}

/* The data of the same command. */
static bool is_identified(struct checkup_dma *dma) {
  if (has_identity(dma)) return true;
  spate_port_cache_invalidate(dma->identity, SPATE_PAGE_BYTES);
  if (has_identity(dma))
    cached(dma);
  else
    not_reached(dma);
  return false;
}

static bool test_queue_memory(struct checkup_dma *dma) {
  const bool good = is_completed(dma) && is_identified(dma);

  if (good)
    spate_checkup_fact(dma->checkup, "DMA", NULL, "queue memory at {0x}: the drive reads and writes it",
                       (struct checkup_values){.numbers = {spate_port_dma_address(dma->admin.sq)}});
  return good;
}

/* The first active namespace. A drive of NVMe 1.0 has no list, and its namespaces begin with 1. */
static void find_namespace(struct checkup_dma *dma) {
  const struct nvme_command list = identify(NVME_IDENTIFY_ACTIVE, 0, dma->page);

  dma->nsid = 1;
  if (dma->checkup->controller.identity.version < VERSION_1_1) return;
  spate_checkup_send(&dma->admin, &list);
  const struct checkup_completion completion = spate_checkup_wait(&dma->admin);
  dma->nsid = completion.seen && completion.is_to_this && completion.status == 0 ? (uint32_t)dma->page[0] : 0;
}

/* ---- the step ---- */

static void judge_not_ready(struct spate_checkup *checkup) {
  const uintptr_t at = checkup->device.bar0;
  const struct spate_doctor_registers registers = {.capabilities = spate_port_read64(at + NVME_CAP),
                                                   .configuration = spate_port_read32(at + NVME_CC),
                                                   .status = spate_port_read32(at + NVME_CSTS)};

  spate_doctor_judge_registers(checkup->doctor, &registers, true);
}

/* What spate_nvme_doorbell() and spate_nvme_pause() need of a controller that is not open. */
static void prepare(struct spate_checkup *checkup) {
  const uint64_t cap = spate_port_read64(checkup->device.bar0 + NVME_CAP);
  struct spate_nvme *controller = &checkup->controller;

  controller->config.registers = checkup->device.bar0;
  controller->config.registers_bytes = checkup->device.bar0_bytes;
  controller->config.bus.vendor_id = checkup->device.vendor_id;
  controller->config.bus.device_id = checkup->device.device_id;
  controller->needs = spate_nvme_needs(checkup->device.vendor_id, checkup->device.device_id);
  controller->identity.version = spate_port_read32(checkup->device.bar0 + NVME_VS);
  controller->ticks_per_ms = spate_port_ticks_per_second() / 1000u;
  controller->doorbell_shift = 2u + (uint32_t)(cap >> 32 & 0xfu);
  controller->identity.ready_timeout_ms = (uint32_t)(cap >> 24 & 0xffu) * 500u;
}

static bool run(struct spate_checkup *checkup, uint8_t *pages) {
  struct checkup_dma dma = {.checkup = checkup,
                            .identity = (uint64_t *)(void *)(pages + PAGE_IDENTITY * SPATE_PAGE_BYTES),
                            .page = (uint64_t *)(void *)(pages + PAGE_OTHER * SPATE_PAGE_BYTES)};

  spate_checkup_queue_init(&dma.admin, &checkup->controller, 0, pages + PAGE_ADMIN_SQ * SPATE_PAGE_BYTES,
                           pages + PAGE_ADMIN_CQ * SPATE_PAGE_BYTES);
  spate_checkup_queue_init(&dma.io, &checkup->controller, 1, pages + PAGE_IO_SQ * SPATE_PAGE_BYTES,
                           pages + PAGE_IO_CQ * SPATE_PAGE_BYTES);
  if (dma.io.cq_doorbell == 0) { /* beyond BAR 0 */
    spate_checkup_found(checkup, SPATE_DOCTOR_NOT_STARTED, (struct checkup_values){.numbers = {SPATE_E_UNSUPPORTED}});
    return false;
  }
  if (!spate_checkup_start(checkup, &dma.admin)) {
    judge_not_ready(checkup);
    return false;
  }
  if (!test_queue_memory(&dma)) return false;
  find_namespace(&dma);
  spate_checkup_timestamp(&dma);
  spate_checkup_data(&dma);
  return true;
}

bool spate_checkup_dma(struct spate_checkup *checkup) {
  struct spate_arena *arena = checkup->config->queue_memory;

  prepare(checkup);
  uint8_t *pages = spate_arena_take(arena, (size_t)PAGES * SPATE_PAGE_BYTES, SPATE_PAGE_BYTES);
  if (pages == NULL) return false; /* spate_checkup() looked */
  if (!spate_checkup_stop(checkup)) {
    judge_not_ready(checkup);
    return false;
  }
  const bool good = run(checkup, pages);
  const bool stopped = spate_checkup_stop(checkup);
  if (stopped) arena->used_bytes = checkup->arena_used_bytes;
  if (!stopped && good) judge_not_ready(checkup);
  return good && stopped;
}
