/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that the drive writes to ordinary memory. The drive first writes the health log, and the processor loads the
 * page, so that its lines are in the caches, and not dirty: a dirty line would be evicted over the drive's data. Then
 * the drive writes Identify Controller, which is known from queue memory.
 *
 *   the processor sees it                          conclusion
 *   at once                                        coherent
 *   after an invalidate                            maintained, as it should be without coherency
 *   never, but the drive finds it there (Compare)  the processor reads old lines, or other memory
 *   never, and the drive does not find it there    the drive does not reach this memory
 *   never, and the drive has no Compare            one of the two
 */
#include "checkup.h"

#define COMPARED_BYTES 3072u /* the rest belongs to the vendor, and may change */

static bool has_identity(const struct checkup_dma *dma) {
  const volatile uint64_t *buffer = dma->checkup->config->buffer;
  const volatile uint64_t *identity = dma->identity;
  uint64_t difference = 0;

  for (unsigned i = 0; i < COMPARED_BYTES / 8u; i++)
    difference |= buffer[i] ^ identity[i];
  return difference == 0;
}

static void load(const struct checkup_dma *dma) {
  const volatile uint64_t *buffer = dma->checkup->config->buffer;

  for (unsigned i = 0; i < SPATE_PAGE_BYTES / 8u; i++)
    (void)buffer[i];
}

/* Has the drive write into the buffer. False: it does not, because it cannot reach it. */
static bool write_data(struct checkup_dma *dma, const struct nvme_command *command) {
  spate_checkup_send(&dma->admin, command);
  const struct checkup_completion completion = spate_checkup_wait(&dma->admin);

  return completion.seen && completion.is_to_this && completion.status == 0;
}

static void judge_not_seen(struct checkup_dma *dma, bool written) {
  struct checkup_values values = {.numbers = {spate_port_dma_address(dma->checkup->config->buffer)}};
  const bool read_back = written && spate_checkup_reads_back(dma, &values.name);

  if (read_back)
    spate_checkup_found(dma->checkup, SPATE_DOCTOR_DATA_UNSEEN, values);
  else
    spate_checkup_found(dma->checkup, values.name == NULL ? SPATE_DOCTOR_DATA_UNREACHED : SPATE_DOCTOR_DATA_MISSING,
                        values);
}

void spate_checkup_data(struct checkup_dma *dma) {
  void *buffer = dma->checkup->config->buffer;
  const struct nvme_command identify = {.opcode = NVME_IDENTIFY, .data = buffer, .dword10 = NVME_IDENTIFY_CONTROLLER};
  struct nvme_command health;

  spate_nvme_log_command(&health, NVME_LOG_HEALTH, buffer);
  spate_port_cache_invalidate(buffer, SPATE_PAGE_BYTES); /* what it held is not needed */
  const bool had_health = write_data(dma, &health);
  spate_port_cache_invalidate(buffer, SPATE_PAGE_BYTES);
  load(dma);
  const bool written = write_data(dma, &identify) && had_health;
  const bool at_once = has_identity(dma);
  spate_port_cache_invalidate(buffer, SPATE_PAGE_BYTES);
  if (!has_identity(dma)) {
    judge_not_seen(dma, written);
    return;
  }
  spate_checkup_fact(
      dma->checkup, "DMA", NULL, "data to {0x}: {n}",
      (struct checkup_values){.numbers = {spate_port_dma_address(buffer)},
                              .name = at_once ? "seen at once" : "seen after spate_port_cache_invalidate()"});
  if (!at_once)
    spate_checkup_found(dma->checkup, SPATE_DOCTOR_DATA_NOT_COHERENT, (struct checkup_values){.name = NULL});
  spate_checkup_compare(dma);
}
