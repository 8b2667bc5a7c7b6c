/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the drive read what the processor stored? The drive reads a block into queue memory, and the processor copies it
 * into the buffer. By Compare (NVMe 1.4, 6.6) the drive then says whether the buffer has the block. Afterwards one bit
 * of each line differs, and the drive has to say so. Nothing is written to the media.
 */
#include "../nvme/pages.h"
#include "checkup.h"

#define ONCS_COMPARE           1u
#define STATUS_COMPARE_FAILURE 0x285u /* media and data integrity errors: Compare Failure */
#define STATUS_NONE            0xffffu

struct block {
  uint32_t bytes; /* 0: there is none that the drive can compare */
  const char *why;
};

static uint16_t status_of(struct checkup_queue *queue, const struct nvme_command *command) {
  spate_checkup_send(queue, command);
  const struct checkup_completion completion = spate_checkup_wait(queue);

  return completion.seen && completion.is_to_this ? completion.status : STATUS_NONE;
}

/* Number of Queues, which some drives refuse, then one pair. */
static bool create_queue(struct checkup_dma *dma) {
  const uint32_t dword10 = nvme_create_queue_cdw10(1, CHECKUP_IO_ENTRIES);
  const uint32_t priority = (dma->checkup->controller.needs & NVME_MEDIUM_PRIORITY) != 0 ? NVME_PRIORITY_MEDIUM : 0;
  const struct nvme_command commands[] = {
      {.opcode = NVME_SET_FEATURES, .dword10 = NVME_FEATURE_QUEUES, .dword11 = nvme_queue_count_cdw11(1)},
      {.opcode = NVME_CREATE_CQ, .data = dma->io.cq, .dword10 = dword10, .dword11 = 1},
      {.opcode = NVME_CREATE_SQ, .data = dma->io.sq, .dword10 = dword10, .dword11 = 1u << 16 | priority | 1u},
  };

  if (dma->io_ready) return true;
  for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (status_of(&dma->admin, &commands[i]) != 0 && i > 0) return false;
  dma->io_ready = true;
  return true;
}

/* A namespace with blocks that fit into a page, and an I/O queue for it. */
static struct block find_block(struct checkup_dma *dma) {
  struct spate_nvme_namespace namespace;
  const struct nvme_command identify = {.opcode = NVME_IDENTIFY, .nsid = dma->nsid, .data = dma->page};

  if (!(spate_nvme_word(dma->identity, NVME_ID_ONCS) & ONCS_COMPARE))
    return (struct block){.why = "the drive has no Compare"};
  if (dma->nsid == 0) return (struct block){.why = "the drive has no active namespace"};
  if (status_of(&dma->admin, &identify) != 0) return (struct block){.why = "Identify Namespace failed"};
  if (!spate_nvme_namespace_decode(&namespace, dma->nsid, dma->page) || namespace.metadata ||
      (namespace.block_bytes != 512 && namespace.block_bytes != 4096))
    return (struct block){.why = "the namespace has blocks that the library does not use"};
  if (!create_queue(dma)) return (struct block){.why = "the drive creates no I/O queue"};
  return (struct block){.bytes = namespace.block_bytes};
}

static uint16_t move_block(struct checkup_dma *dma, uint32_t opcode, const volatile void *memory) {
  const struct nvme_command command = {.opcode = opcode, .nsid = dma->nsid, .data = memory}; /* block 0 */

  return status_of(&dma->io, &command);
}

bool spate_checkup_reads_back(struct checkup_dma *dma, const char **why) {
  void *buffer = dma->checkup->config->buffer;

  *why = find_block(dma).why;
  return *why == NULL && move_block(dma, NVME_READ, buffer) == 0 && move_block(dma, NVME_COMPARE, buffer) == 0;
}

/* The block, with one bit of each line changed if `changed`. */
static void store(struct checkup_dma *dma, uint32_t bytes, uint64_t changed) {
  volatile uint64_t *buffer = dma->checkup->config->buffer;

  for (unsigned i = 0; i < bytes / 8u; i++)
    buffer[i] = ((const volatile uint64_t *)dma->page)[i] ^ (i % (SPATE_DMA_ALIGN / 8u) == 0 ? changed : 0);
  spate_port_cache_clean(dma->checkup->config->buffer, bytes);
}

void spate_checkup_compare(struct checkup_dma *dma) {
  void *buffer = dma->checkup->config->buffer;
  struct block block = find_block(dma);

  if (block.bytes != 0 && move_block(dma, NVME_READ, dma->page) != 0)
    block = (struct block){.why = "block 0 cannot be read"};
  if (block.bytes == 0) {
    spate_checkup_found(dma->checkup, SPATE_DOCTOR_UNDONE_COMPARE, (struct checkup_values){.name = block.why});
    return;
  }
  store(dma, block.bytes, 0);
  const uint16_t same = move_block(dma, NVME_COMPARE, buffer);
  store(dma, block.bytes, 1);
  const uint16_t changed = move_block(dma, NVME_COMPARE, buffer);
  if (same == 0 && NVME_STATUS_CODE(changed) == STATUS_COMPARE_FAILURE)
    spate_checkup_fact(dma->checkup, "DMA", NULL, "data from {0x}: the drive reads what the processor stored",
                       (struct checkup_values){.numbers = {spate_port_dma_address(buffer)}});
  else if ((same == 0 || NVME_STATUS_CODE(same) == STATUS_COMPARE_FAILURE) &&
           (changed == 0 || NVME_STATUS_CODE(changed) == STATUS_COMPARE_FAILURE))
    spate_checkup_found(dma->checkup, SPATE_DOCTOR_STORES_UNSEEN, (struct checkup_values){.name = NULL});
  else
    spate_checkup_found(dma->checkup, SPATE_DOCTOR_UNDONE_COMPARE,
                        (struct checkup_values){.name = "the drive refuses Compare"});
}
