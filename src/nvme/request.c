/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow path: requests of several commands, the rarer operations, commands that are sent again, and completions with
 * an error.
 */
#include "internal.h"

#define ZERO_BLOCKS_MAX UINT32_C(65536) /* NLB has 16 bits; MDTS does not limit Write Zeroes (6.16) */

/* The blocks of a request that one command carries out. */
struct part {
  uint32_t first_block; /* counted from io->lba */
  uint32_t blocks;
};

static bool moves_data(const struct spate_io *io) { return io->op == SPATE_READ || io->op == SPATE_WRITE; }

/* Without a region: limited by MDTS, and by what the list pages of one command describe from this address. */
static uint32_t buffer_blocks_allowed(const struct spate_nvme_queue *queue, const struct spate_io *io,
                                      uint32_t first_block) {
  const uint64_t start = spate_port_dma_address(io->buffer) + ((uint64_t)first_block << queue->block.block_shift);
  const uint32_t pages = queue->list_pages == 1 ? SPATE_NVME_BUFFER_PAGES_ONE_LIST : SPATE_NVME_BUFFER_PAGES;
  const uint32_t described_bytes = pages * SPATE_PAGE_BYTES - (uint32_t)(start & (SPATE_PAGE_BYTES - 1u));
  const uint32_t bytes = described_bytes < queue->buffer_bytes_max ? described_bytes : queue->buffer_bytes_max;

  return bytes >> queue->block.block_shift;
}

/* The pages whose entries are in one page of a region's table, after the shift by one: see spate/dma.h. */
#define TABLE_PAGES (SPATE_REGION_COMMAND_BYTES / SPATE_PAGE_BYTES)

/*
 * How many blocks a command that starts at `first_block` may have. In a region it ends at the next multiple of
 * command_bytes_max, so that its list is within one page of the table. An offset need only be a multiple of 4, so that
 * a block may straddle such a multiple. It then belongs to the command after the multiple. If the command starts in the
 * last page before a multiple of SPATE_REGION_COMMAND_BYTES, its list would begin in the last entry of a table page,
 * which a drive takes for a pointer: it gets two pages, and no list.
 */
static uint32_t blocks_allowed(const struct spate_nvme_queue *queue, const struct spate_io *io, uint32_t first_block) {
  if (io->op == SPATE_ZERO) return ZERO_BLOCKS_MAX;
  if (!moves_data(io)) return UINT32_MAX;
  if (io->region == NULL) return buffer_blocks_allowed(queue, io, first_block);

  const uint64_t start_bytes = io->offset_bytes + ((uint64_t)first_block << queue->block.block_shift);
  const uint64_t page = start_bytes >> SPATE_PAGE_SHIFT;
  uint64_t end_bytes =
      ((start_bytes + spate_block_bytes(&queue->block) - 1u) | (queue->block.command_bytes_max - 1u)) + 1u;
  if (page % TABLE_PAGES == TABLE_PAGES - 1u && end_bytes > (page + 2u) << SPATE_PAGE_SHIFT)
    end_bytes = (page + 2u) << SPATE_PAGE_SHIFT;
  return (uint32_t)((end_bytes - start_bytes) >> queue->block.block_shift);
}

static struct part part_from(const struct spate_nvme_queue *queue, const struct spate_io *io, uint32_t first_block) {
  const uint32_t left = io->blocks - first_block;
  const uint32_t allowed = blocks_allowed(queue, io, first_block);

  return (struct part){.first_block = first_block, .blocks = left < allowed ? left : allowed};
}

static struct part part_number(const struct spate_nvme_queue *queue, const struct spate_io *io, unsigned number) {
  struct part part = part_from(queue, io, 0);

  for (; number > 0; number--)
    part = part_from(queue, io, part.first_block + part.blocks);
  return part;
}

/* The CPU's address of the data. NULL: the CPU cannot reach them. */
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
  /* Blocks are whole cache lines: if the start is aligned to a line, so is the end. */
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

/* How many commands the request needs. If it needs more than the queue's depth: any number above the depth. */
static unsigned count_parts(const struct spate_nvme_queue *queue, const struct spate_io *io) {
  struct part part = part_from(queue, io, 0);
  unsigned parts = 1;

  while (parts <= queue->block.depth && part.first_block + part.blocks < io->blocks) {
    part = part_from(queue, io, part.first_block + part.blocks);
    parts++;
  }
  return parts;
}

/* Accepts the whole request or nothing of it. */
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
      spate_port_cache_invalidate(data_of(io), bytes); /* or a dirty line is evicted later, over the drive's data */
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
    slot->sent = SLOT_SLOW_PATH;
    spate_nvme_issue(queue, slot);
  }
  return SPATE_OK;
}

/* False: the command has to wait for a list page. */
static bool prps_of(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, struct part part,
                    struct nvme_prps *prps) {
  const struct spate_io *io = slot->io;
  const uint64_t skipped_bytes = (uint64_t)part.first_block << queue->block.block_shift;
  const uint64_t bytes = (uint64_t)part.blocks << queue->block.block_shift;

  if (io->region != NULL) {
    spate_nvme_prps_region(io->region, io->offset_bytes + skipped_bytes, bytes, prps);
    return true;
  }
  return spate_nvme_prps_buffer(queue, slot, spate_port_dma_address(io->buffer) + skipped_bytes, bytes, prps);
}

/*
 * The range of a TRIM, or false: the command has to wait for the one before it. Some drives read 4 KiB from the range's
 * address, whatever the number of ranges is (Phison E12), or 512 bytes (Silicon Motion SM22xx): Linux 530436c45ef2. So
 * the range begins a page of zeros, and does not change until the drive has completed the command.
 */
static bool range_of(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, struct nvme_prps *prps) {
  if (queue->range_owner != NULL && queue->range_owner != slot) return false;
  queue->range_owner = slot;
  queue->range[NVME_RANGE_ATTRIBUTES_LENGTH] = NVME_RANGE_LENGTH(slot->io->blocks);
  queue->range[NVME_RANGE_SLBA] = slot->io->lba;
  *prps = (struct nvme_prps){.first = spate_port_dma_address(queue->range)};
  return true;
}

/* The range goes to the next slot that waits for it, so that each has its turn, whatever is submitted meanwhile. */
static void range_pass_on(struct spate_nvme_queue *queue, const struct spate_nvme_slot *slot) {
  const unsigned depth = queue->block.depth;
  unsigned next = (unsigned)(slot - queue->slots);

  if (queue->range_owner != slot) return;
  queue->range_owner = NULL;
  for (unsigned i = 1; i < depth && queue->range_owner == NULL; i++) {
    next = next + 1u < depth ? next + 1u : 0;
    struct spate_nvme_slot *waiting = &queue->slots[next];
    if (waiting->sent != SLOT_FREE && waiting->io->op == SPATE_TRIM) queue->range_owner = waiting;
  }
}

/* The addresses in a command, or false: something that it needs is still another's. */
static bool addresses_of(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, struct part part,
                         struct nvme_prps *prps) {
  *prps = (struct nvme_prps){0, 0};
  if (slot->io->op == SPATE_TRIM) return range_of(queue, slot, prps);
  return !moves_data(slot->io) || prps_of(queue, slot, part, prps);
}

/*
 * Writes a slot's command into the submission queue, for the first time or again, or marks it as waiting. There is
 * always room: the queue has more entries than there are slots, and the entry of a command is free once the drive has
 * completed the command.
 */
void spate_nvme_issue(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot) {
  static const uint8_t opcodes[] = {[SPATE_READ] = NVME_READ,
                                    [SPATE_WRITE] = NVME_WRITE,
                                    [SPATE_FLUSH] = NVME_FLUSH,
                                    [SPATE_TRIM] = NVME_DATASET,
                                    [SPATE_ZERO] = NVME_WRITE_ZEROES};
  const struct spate_io *io = slot->io;
  const struct part part = part_number(queue, io, slot->part);
  struct nvme_prps prps;
  uint64_t cdw10_11 = io->lba + part.first_block; /* SLBA */
  uint64_t cdw12_13 = part.blocks - 1u;           /* NLB */

  slot->age = 0;
  if (!addresses_of(queue, slot, part, &prps)) {
    slot->sent |= SLOT_IDLE;
    queue->waiting = true;
    return;
  }
  if (io->op == SPATE_WRITE && (io->flags & SPATE_IO_FUA) != 0) cdw12_13 |= NVME_NLB_FUA;
  if (io->op == SPATE_FLUSH) cdw10_11 = cdw12_13 = 0;
  if (io->op == SPATE_TRIM) {
    cdw10_11 = NVME_CDW11_DEALLOCATE;
    cdw12_13 = 0;
  }

  const uint32_t order = queue->sq_tail++;
  const uint64_t read_cdw0_nsid = spate_nvme_read_cdw0_nsid(slot, order);
  uint64_t *entry = queue->sq + ((order * NVME_SQE_QWORDS) & queue->sq_mask);
  slot->order = order;
  slot->sent = read_cdw0_nsid | (slot->sent & SLOT_SLOW_PATH);
  entry[NVME_SQE_CDW0_NSID] = read_cdw0_nsid - NVME_READ + opcodes[io->op];
  entry[NVME_SQE_PRP1] = prps.first;
  entry[NVME_SQE_PRP2] = prps.second;
  entry[NVME_SQE_CDW10_11] = cdw10_11;
  entry[NVME_SQE_CDW12_13] = cdw12_13;
}

bool spate_nvme_is_unsupported(const struct spate_nvme_queue *queue, const struct spate_nvme_slot *slot) {
  const uint8_t op = slot->io->op;

  return (op == SPATE_ZERO && !queue->block.can_zero) || (op == SPATE_TRIM && !queue->block.can_trim);
}

/* Sends commands whose wait is over: retries after their delay, TRIMs that got the range, and commands that found no
 * list page. The first of the latter begins, so that each of them has its turn. */
void spate_nvme_issue_waiting(struct spate_nvme_queue *queue) {
  const unsigned depth = queue->block.depth;
  unsigned next = queue->next_for_pages;

  queue->waiting = false;
  queue->pages_wanted = false;
  for (unsigned i = 0; i < depth; i++) {
    struct spate_nvme_slot *slot = &queue->slots[next];
    next = next + 1u < depth ? next + 1u : 0;
    if (slot->sent == SLOT_FREE || spate_nvme_in_flight(slot) || slot->age != 0) continue;
    if (spate_nvme_is_unsupported(queue, slot))
      spate_nvme_finish(queue, slot, SPATE_E_UNSUPPORTED, 0);
    else
      spate_nvme_issue(queue, slot);
  }
}

/* Ends the command of a slot. When it was the last command of its request, the request ends, too. */
void spate_nvme_finish(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, enum spate_error error,
                       uint16_t detail) {
  struct spate_io *io = slot->io;

  if ((slot->sent & SLOT_SLOW_PATH) == 0) { /* the only part; the fast path sets these only when it completes */
    io->error = SPATE_OK;
    io->detail = 0;
    io->parts_left = 1;
  }
  spate_nvme_lists_free(queue, slot);
  range_pass_on(queue, slot);
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

/* Errors in the command itself: the drive would return the same status again, even if it did not set DNR. */
static bool is_final(uint16_t status) {
  if ((status & NVME_STATUS_DO_NOT_RETRY) != 0) return true;
  switch (NVME_STATUS_CODE(status)) {
  case 0x001: /* Invalid Command Opcode */
  case 0x002: /* Invalid Field in Command */
  case NVME_STATUS_NAMESPACE:
  case 0x013: /* PRP Offset Invalid */
  case 0x020: /* Namespace is Write Protected */
  case 0x080: /* LBA Out of Range */
  case 0x081: /* Capacity Exceeded */ return true;
  default: return false;
  }
}

/* In intervals. A drive that wakes up may call its namespace not ready without stating a delay. */
static uint16_t retry_delay(const struct spate_nvme *controller, uint16_t status) {
  const unsigned number = NVME_STATUS_DELAY(status);
  const uint16_t delay = number != 0 ? controller->retry_delay[number - 1u] : 0;

  return delay == 0 && NVME_STATUS_CODE(status) == NVME_STATUS_NOT_READY ? 1 : delay;
}

static void command_failed(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, uint16_t status) {
  struct spate_nvme *controller = queue->controller;
  const unsigned cost = NVME_STATUS_CODE(status) == NVME_STATUS_NOT_READY ? 1u : ATTEMPT_COST;

  if (spate_nvme_is_unsupported(queue, slot)) {
    spate_nvme_finish(queue, slot, SPATE_E_UNSUPPORTED, status);
    return;
  }
  if (is_final(status) || slot->attempts + cost >= ATTEMPTS_BUDGET) {
    spate_nvme_finish(queue, slot, NVME_STATUS_TYPE(status) == NVME_STATUS_MEDIA ? SPATE_E_MEDIA : SPATE_E_COMMAND,
                      status);
    return;
  }
  controller->counters.retries++;
  slot->attempts = (uint8_t)(slot->attempts + cost);
  slot->sent |= SLOT_IDLE;
  slot->age = retry_delay(controller, status);
  queue->waiting = true;
}

bool spate_nvme_complete(struct spate_nvme_queue *queue) {
  const volatile uint64_t *entry = queue->cq_head;
  const uint64_t dw2_3 = entry[NVME_CQE_DW2_3];
  const uint32_t dw3 = nvme_cqe_dw3(dw2_3);

  if (((dw2_3 ^ queue->phase) & NVME_CQE_PHASE) != 0) return false; /* of the pass before: no new entry */
  spate_port_dma_read_barrier();
  /* Some processors load a quadword in two halves, and dword 2 may then be older than the phase. Load it again. */
  const uint32_t dw2 = (uint32_t)entry[NVME_CQE_DW2_3];
  const uint32_t cid = nvme_cqe_cid(dw3);
  struct spate_nvme_slot *slot = &queue->slots[cid & queue->slot_mask];
  const uint16_t status = nvme_cqe_status(dw3);
  spate_nvme_reaped(queue, entry + NVME_CQE_QWORDS);

  if (!spate_nvme_in_flight(slot) || nvme_cqe_sqid(dw2) != queue->id || nvme_sqe_cid(slot->sent) != cid) {
    queue->controller->counters.spurious_completions++;
    return true;
  }
  if (status == 0)
    spate_nvme_finish(queue, slot, SPATE_OK, 0);
  else
    command_failed(queue, slot, status);
  return true;
}
