/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the data path leaves to others: requests in several commands, the rarer operations, commands sent again, and
 * completions that are not plain successes.
 */
#include "internal.h"

#define ZERO_BLOCKS_MAX UINT32_C(65536)     /* NLB has 16 bits; MDTS does not bound Write Zeroes (6.16) */
#define TRIM_DEALLOCATE (UINT64_C(4) << 32) /* dword 11: attribute Deallocate (6.7) */

/* The part of a request that one command does. */
struct piece {
  uint32_t first_block; /* counted from io->lba */
  uint32_t blocks;
};

static bool moves_data(const struct spate_io *io) { return io->op == SPATE_READ || io->op == SPATE_WRITE; }

/* Without a region: MDTS, or what the chained pages of one list describe from there. */
static uint32_t buffer_blocks_allowed(const struct spate_nvme_queue *queue, const struct spate_io *io,
                                      uint32_t first_block) {
  const uint64_t start = spate_port_dma_address(io->buffer) + ((uint64_t)first_block << queue->block.block_shift);
  const uint32_t described_bytes =
      SPATE_NVME_BUFFER_PAGES * SPATE_PAGE_BYTES - (uint32_t)(start & (SPATE_PAGE_BYTES - 1u));
  const uint32_t bytes = described_bytes < queue->buffer_bytes_max ? described_bytes : queue->buffer_bytes_max;

  return bytes >> queue->block.block_shift;
}

/*
 * Blocks that a command from `first_block` on may have. On a region it ends at a multiple of command_bytes_max, where
 * one page of the table ends at the latest. A block that straddles such a multiple (its offset is only a multiple of
 * 4) belongs to the stretch it ends in: the list of a command starts with its second page, which is there, too.
 */
static uint32_t blocks_allowed(const struct spate_nvme_queue *queue, const struct spate_io *io, uint32_t first_block) {
  if (io->op == SPATE_ZERO) return ZERO_BLOCKS_MAX;
  if (!moves_data(io)) return UINT32_MAX;
  if (io->region == NULL) return buffer_blocks_allowed(queue, io, first_block);

  const uint64_t start_bytes = io->offset_bytes + ((uint64_t)first_block << queue->block.block_shift);
  const uint64_t end_bytes =
      ((start_bytes + spate_block_bytes(&queue->block) - 1u) | (queue->block.command_bytes_max - 1u)) + 1u;
  return (uint32_t)((end_bytes - start_bytes) >> queue->block.block_shift);
}

static struct piece piece_from(const struct spate_nvme_queue *queue, const struct spate_io *io, uint32_t first_block) {
  const uint32_t left = io->blocks - first_block;
  const uint32_t allowed = blocks_allowed(queue, io, first_block);

  return (struct piece){.first_block = first_block, .blocks = left < allowed ? left : allowed};
}

static struct piece piece_number(const struct spate_nvme_queue *queue, const struct spate_io *io, unsigned part) {
  struct piece piece = piece_from(queue, io, 0);

  for (; part > 0; part--)
    piece = piece_from(queue, io, piece.first_block + piece.blocks);
  return piece;
}

/* Where the CPU sees the data; NULL: nowhere. */
static void *data_of(const struct spate_io *io) {
  if (io->region == NULL) return io->buffer;
  return io->region->start == NULL ? NULL : io->region->start + io->offset_bytes;
}

static enum spate_error check_data(const struct spate_nvme_queue *queue, const struct spate_io *io) {
  const uint64_t bytes = (uint64_t)io->blocks << queue->block.block_shift;

  if (io->blocks > queue->block.request_blocks_max) return SPATE_E_INVALID;
  if (io->region != NULL) {
    if ((io->offset_bytes & 3u) != 0 || bytes > io->region->bytes || io->offset_bytes > io->region->bytes - bytes)
      return SPATE_E_INVALID;
  } else if (io->buffer == NULL || (spate_port_dma_address(io->buffer) & 3u) != 0) {
    return SPATE_E_INVALID;
  }
  if ((io->flags & SPATE_IO_CPU) == 0) return SPATE_OK;
  /* Blocks are whole cache lines, so that the start tells of the end, too. */
  const void *data = data_of(io);
  return data == NULL || ((uintptr_t)data & (SPATE_DMA_ALIGN - 1u)) != 0 ? SPATE_E_INVALID : SPATE_OK;
}

static enum spate_error check(const struct spate_nvme_queue *queue, const struct spate_io *io) {
  const struct spate_block *block = &queue->block;

  if (io->op == SPATE_FLUSH) return io->lba == 0 && io->blocks == 0 ? SPATE_OK : SPATE_E_INVALID;
  if (io->op > SPATE_ZERO || io->blocks == 0 || io->blocks > block->blocks || io->lba > block->blocks - io->blocks)
    return SPATE_E_INVALID;
  if (moves_data(io)) return check_data(queue, io);
  return (io->op == SPATE_TRIM ? block->can_trim : block->can_zero) ? SPATE_OK : SPATE_E_UNSUPPORTED;
}

/* Commands the request takes; more than the queue has: some number above its depth. */
static unsigned count_parts(const struct spate_nvme_queue *queue, const struct spate_io *io) {
  struct piece piece = piece_from(queue, io, 0);
  unsigned parts = 1;

  while (parts <= queue->block.depth && piece.first_block + piece.blocks < io->blocks) {
    piece = piece_from(queue, io, piece.first_block + piece.blocks);
    parts++;
  }
  return parts;
}

/* All of a request is taken, or nothing. */
enum spate_error spate_nvme_submit_parts(struct spate_nvme_queue *queue, struct spate_io *io) {
  const struct spate_nvme *controller = queue->controller;
  const enum spate_error error = check(queue, io);

  if (error != SPATE_OK) return error;
  if (controller->state == SPATE_NVME_DEAD || controller->state == SPATE_NVME_CLOSED) return controller->error;
  if (!spate_nvme_is_running(controller)) return SPATE_E_FULL;

  const unsigned parts = count_parts(queue, io);
  if (parts > queue->block.depth) return SPATE_E_INVALID;
  const struct spate_nvme_slot *available = queue->free;
  for (unsigned i = 1; i < parts && available != NULL; i++)
    available = available->next_free;
  if (available == NULL) return SPATE_E_FULL;

  if ((io->flags & SPATE_IO_CPU) != 0 && moves_data(io)) {
    const size_t bytes = (size_t)io->blocks << queue->block.block_shift;
    if (io->op == SPATE_WRITE)
      spate_port_cache_clean(data_of(io), bytes);
    else
      spate_port_cache_invalidate(data_of(io), bytes); /* no dirty line is evicted over what the drive wrote */
  }
  io->error = SPATE_OK;
  io->detail = 0;
  io->parts_left = (uint16_t)parts;
  for (unsigned part = 0; part < parts; part++) {
    struct spate_nvme_slot *slot = queue->free;
    queue->free = slot->next_free;
    slot->io = io;
    slot->part = (uint8_t)part;
    slot->attempts = 0;
    slot->sent = SLOT_CAREFUL;
    spate_nvme_issue(queue, slot);
  }
  return SPATE_OK;
}

/* PRPs of a piece. False: it has to wait for a list page. */
static bool prps_of(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, struct piece piece,
                    struct nvme_prps *prps) {
  const struct spate_io *io = slot->io;
  const uint64_t skipped_bytes = (uint64_t)piece.first_block << queue->block.block_shift;
  const uint64_t bytes = (uint64_t)piece.blocks << queue->block.block_shift;

  if (io->region != NULL) {
    spate_nvme_prps_region(io->region, io->offset_bytes + skipped_bytes, bytes, prps);
    return true;
  }
  return spate_nvme_prps_buffer(queue, slot, spate_port_dma_address(io->buffer) + skipped_bytes, bytes, prps);
}

static void range_of(struct spate_nvme_queue *queue, const struct spate_nvme_slot *slot, struct nvme_prps *prps) {
  uint64_t *range = queue->ranges + (size_t)(slot - queue->slots) * 2u;

  range[0] = (uint64_t)slot->io->blocks << 32;
  range[1] = slot->io->lba;
  *prps = (struct nvme_prps){.first = spate_port_dma_address(range)};
}

/*
 * Put a slot's command into the submission ring, for the first time or again, or mark it as waiting. There is room:
 * the ring has more entries than there are slots, and a command's entry is free once the drive completed it.
 */
void spate_nvme_issue(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot) {
  static const uint8_t opcodes[] = {[SPATE_READ] = NVME_READ,
                                    [SPATE_WRITE] = NVME_WRITE,
                                    [SPATE_FLUSH] = NVME_FLUSH,
                                    [SPATE_TRIM] = NVME_DATASET,
                                    [SPATE_ZERO] = NVME_WRITE_ZEROES};
  const struct spate_io *io = slot->io;
  const struct piece piece = piece_number(queue, io, slot->part);
  struct nvme_prps prps = {0, 0};
  uint64_t dwords_10_11 = io->lba + piece.first_block;
  uint64_t dword_12 = piece.blocks - 1u;

  slot->age = 0;
  if (moves_data(io) && !prps_of(queue, slot, piece, &prps)) {
    slot->sent |= SLOT_IDLE;
    queue->waiting = true;
    return;
  }
  if (io->op == SPATE_WRITE && (io->flags & SPATE_IO_FUA) != 0) dword_12 |= UINT64_C(1) << 30;
  if (io->op == SPATE_FLUSH) dwords_10_11 = dword_12 = 0;
  if (io->op == SPATE_TRIM) {
    range_of(queue, slot, &prps);
    dwords_10_11 = TRIM_DEALLOCATE;
    dword_12 = 0;
  }

  const uint32_t order = queue->sq_tail++;
  const uint64_t read = spate_nvme_sent(slot, order);
  uint64_t *entry = queue->sq + ((order * 8u) & queue->sq_mask);
  slot->order = order;
  slot->sent = read | (slot->sent & SLOT_CAREFUL);
  entry[0] = read - NVME_READ + opcodes[io->op];
  entry[3] = prps.first;
  entry[4] = prps.second;
  entry[5] = dwords_10_11;
  entry[6] = dword_12;
}

/* Send again what waited long enough: retries without a delay, and commands that found no list page. */
void spate_nvme_issue_waiting(struct spate_nvme_queue *queue) {
  queue->waiting = false;
  for (unsigned i = 0; i < queue->block.depth; i++) {
    struct spate_nvme_slot *slot = &queue->slots[i];
    if (slot->sent != SLOT_FREE && !spate_nvme_in_flight(slot) && slot->age == 0) spate_nvme_issue(queue, slot);
  }
}

/* A slot's command is over; with the last of its request, the request is. */
void spate_nvme_finish(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, enum spate_error error,
                       uint16_t detail) {
  struct spate_io *io = slot->io;

  if ((slot->sent & SLOT_CAREFUL) == 0) { /* the only part, and submit left the answer to us */
    io->error = SPATE_OK;
    io->detail = 0;
    io->parts_left = 1;
  }
  spate_nvme_lists_free(queue, slot);
  slot->sent = SLOT_FREE;
  slot->next_free = queue->free;
  queue->free = slot;
  if (error != SPATE_OK && io->error == SPATE_OK) {
    io->error = error;
    io->detail = detail;
  }
  if (--io->parts_left > 0) return;
  if (io->op == SPATE_READ && (io->flags & SPATE_IO_CPU) != 0)
    spate_port_cache_invalidate(data_of(io), (size_t)io->blocks << queue->block.block_shift);
  io->done(io);
}

/* Errors in the command itself: sending it again can only give the same answer, also where DNR was not set. */
static bool is_final(uint16_t status) {
  if ((status & NVME_STATUS_DO_NOT_RETRY) != 0) return true;
  switch (NVME_STATUS_CODE(status)) {
  case 0x001: /* Invalid Command Opcode */
  case 0x002: /* Invalid Field in Command */
  case 0x00b: /* Invalid Namespace or Format */
  case 0x013: /* PRP Offset Invalid */
  case 0x020: /* Namespace is Write Protected */
  case 0x080: /* LBA Out of Range */
  case 0x081: /* Capacity Exceeded */ return true;
  default: return false;
  }
}

static void command_failed(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, uint16_t status) {
  struct spate_nvme *controller = queue->controller;
  const unsigned delay = NVME_STATUS_DELAY(status);

  if (is_final(status) || slot->attempts + ATTEMPT_COST >= ATTEMPTS_BUDGET) {
    spate_nvme_finish(queue, slot, NVME_STATUS_TYPE(status) == NVME_STATUS_MEDIA ? SPATE_E_MEDIA : SPATE_E_COMMAND,
                      status);
    return;
  }
  controller->counters.retries++;
  slot->attempts = (uint8_t)(slot->attempts + ATTEMPT_COST);
  slot->sent |= SLOT_IDLE;
  slot->age = delay == 0 ? 0 : controller->retry_delay[delay - 1u];
  queue->waiting = true;
}

bool spate_nvme_complete(struct spate_nvme_queue *queue) {
  const volatile uint64_t *entry = queue->cq_head;
  const uint64_t second = entry[1];
  const uint32_t last = (uint32_t)(second >> 32); /* dword 3 */

  if (((second ^ queue->phase) & CQ_PHASE) != 0) return false; /* from the lap before */
  spate_port_dma_read_barrier();
  const uint32_t third = (uint32_t)entry[1]; /* dword 2, certainly of the same lap now */
  struct spate_nvme_slot *slot = &queue->slots[last & 0xffu];
  const uint16_t status = (uint16_t)(last >> 17);
  spate_nvme_reaped(queue, entry + 2);

  if (!spate_nvme_in_flight(slot) || third >> 16 != queue->id || ((slot->sent >> 16) & 0xffffu) != (last & 0xffffu)) {
    queue->controller->counters.spurious_completions++;
    return true;
  }
  if (status == 0)
    spate_nvme_finish(queue, slot, SPATE_OK, 0);
  else
    command_failed(queue, slot, status);
  return true;
}
