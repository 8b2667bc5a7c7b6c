/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path. Its budget is 55 instructions to submit a command and 20 to complete one (gcc -O2, AArch64). Rare
 * cases therefore go to request.c, the slow path, by a tail call, and conditions are combined so that they share a
 * branch.
 */
#include "internal.h"

/* CDW0 and NSID of the command for `op`, READ or WRITE, given those of a Read: only the opcode differs. */
static uint64_t cdw0_nsid_of(uint64_t read_cdw0_nsid, uint32_t op) { return read_cdw0_nsid - op; }

_Static_assert(SPATE_READ == 0 && SPATE_WRITE == 1 && NVME_READ - 1 == NVME_WRITE, "opcode = NVME_READ - op");

#define TABLE_SHIFT (SPATE_PAGE_SHIFT - 3u) /* a region's table has 8 bytes for each page */

/*
 * The fast path takes a READ or WRITE without flags that starts at a page of a region and does not cross a multiple of
 * command_bytes_max there. One command carries it out, and its PRP list is in one page of the region's table.
 *
 * The offset of the last block is enough to check this: it must be in the region, and between the same two multiples as
 * the offset of the first block. That also limits the length and catches offsets that wrap. A request of 0 blocks
 * counts as 2^32 blocks here, and crosses a multiple.
 */
enum spate_error spate_nvme_queue_submit(struct spate_block *block, struct spate_io *io) {
  struct spate_nvme_queue *queue = spate_nvme_queue_of(block);
  const struct spate_region *region = io->region;

  if (region == NULL) return spate_nvme_submit_parts(queue, io);

  struct spate_nvme_slot *slot = queue->free;
  const uint64_t offset_bytes = io->offset_bytes;
  const uint64_t blocks_less_one = io->blocks - 1u;
  const uint64_t bytes_less_block = blocks_less_one << block->block_shift;
  const uint64_t last_bytes = offset_bytes + bytes_less_block;
  const uint64_t region_bytes = region->bytes;
  const uint64_t boundary_bytes = queue->fast_boundary_bytes;
  const uint64_t lba = io->lba;
  const uint64_t lba_max = queue->fast_lba_max;
  const uint32_t op_and_flags = io->op | (uint32_t)io->flags << 8;

  if (!(((offset_bytes & (SPATE_PAGE_BYTES - 1u)) == 0) & ((offset_bytes ^ last_bytes) < boundary_bytes) &
        (last_bytes < region_bytes)) ||
      !((lba <= lba_max) & (op_and_flags <= SPATE_WRITE) & (slot != NULL)))
    return spate_nvme_submit_parts(queue, io);

  /* The table is in uncached memory: it is read only where the addresses cannot be computed. */
  const bool is_contiguous = region->first_dma != 0;
  const uint64_t page = offset_bytes >> SPATE_PAGE_SHIFT;
  const uint64_t first_prp = is_contiguous ? region->first_dma + offset_bytes : spate_region_page_dma(region, page);
  uint64_t second_prp = region->list_dma + (offset_bytes >> TABLE_SHIFT);
  if (bytes_less_block >> (SPATE_PAGE_SHIFT + 1u) == 0) { /* the second page is the last one, or there is none */
    second_prp = 0;
    if (bytes_less_block >= SPATE_PAGE_BYTES)
      second_prp = is_contiguous ? first_prp + SPATE_PAGE_BYTES : region->list[page];
  }

  const uint32_t order = queue->sq_tail;
  const uint64_t read_cdw0_nsid = spate_nvme_read_cdw0_nsid(slot, order);
  uint64_t *entry = queue->sq + ((order * NVME_SQE_QWORDS) & queue->sq_mask);

  queue->free = slot->next_free;
  queue->sq_tail = order + 1u;
  slot->order = order;
  slot->part = 0;
  slot->attempts = 0;
  slot->age = 0;
  slot->io = io;
  slot->sent = read_cdw0_nsid;

  entry[NVME_SQE_CDW0_NSID] = cdw0_nsid_of(read_cdw0_nsid, op_and_flags);
  entry[NVME_SQE_PRP1] = first_prp;
  entry[NVME_SQE_PRP2] = second_prp;
  entry[NVME_SQE_SLBA] = lba;
  entry[NVME_SQE_NLB] = blocks_less_one;
  return SPATE_OK;
}

_Static_assert(sizeof(void *) != 8 || sizeof(struct spate_nvme_slot) == 32, "a slot is found by a shift");

void spate_nvme_queue_kick(struct spate_block *block) {
  struct spate_nvme_queue *queue = spate_nvme_queue_of(block);
  const uint32_t tail = queue->sq_tail;

  if (tail == queue->sq_rung) return;
  queue->controller->counters.commands += tail - queue->sq_rung;
  queue->controller->counters.doorbells++;
  queue->sq_rung = tail;
  spate_port_dma_write_barrier();
  spate_port_write32(queue->sq_doorbell, tail & queue->sq_mask / NVME_SQE_QWORDS);
}

/*
 * Reaps entries of fast-path commands that succeeded, up to `end` or to the first other entry. One comparison of
 * submission queue identifier, command identifier, phase and status with slot->sent decides all of this: the entry is
 * new, it belongs to this queue, the status is success, and the command is the one in flight in that slot and not an
 * earlier one. For such an entry the two differ only in bits that are the same for the whole queue: `match`.
 */
static const volatile uint64_t *reap_fast(struct spate_nvme_queue *queue, const volatile uint64_t *entry,
                                          const volatile uint64_t *end) {
  const uint64_t match = queue->fast_match;
  const uint64_t slot_mask = queue->slot_mask;
  struct spate_nvme_slot *slots = queue->slots;

  for (; entry != end; entry += NVME_CQE_QWORDS) {
    const uint64_t dw2_3 = entry[NVME_CQE_DW2_3];
    struct spate_nvme_slot *slot = slots + (dw2_3 >> 32 & slot_mask);
    struct spate_nvme_slot *next_free = queue->free;
    struct spate_io *io = slot->io;

    if ((slot->sent ^ nvme_cqe_from_sqid(dw2_3)) != match) break;
    spate_port_dma_read_barrier(); /* the data of a read are not loaded before its completion entry */
    slot->next_free = next_free;
    slot->sent = SLOT_FREE;
    queue->free = slot;
    io->error = SPATE_OK;
    io->detail = 0;
    io->parts_left = 0;
    io->done(io);
  }
  return entry;
}

static unsigned reap(struct spate_nvme_queue *queue, unsigned max) {
  size_t left = max;

  while (left > 0) {
    const volatile uint64_t *start = queue->cq_head;
    const size_t left_qwords = left * NVME_CQE_QWORDS;
    const volatile uint64_t *end = (size_t)(queue->cq_end - start) > left_qwords ? start + left_qwords : queue->cq_end;
    const volatile uint64_t *stop = reap_fast(queue, start, end);

    left -= (size_t)(stop - start) / NVME_CQE_QWORDS;
    spate_nvme_reaped(queue, stop);
    if (stop == end) continue;
    if (!spate_nvme_complete(queue)) break; /* no new entry; otherwise it was an error, or of the slow path */
    left--;
  }
  return max - (unsigned)left;
}

unsigned spate_nvme_queue_poll(struct spate_nvme_queue *queue, unsigned max) {
  const unsigned reaped = reap(queue, max);

  if (reaped != 0) {
    queue->controller->counters.completions += reaped;
    spate_port_write32(queue->cq_doorbell, (uint32_t)(queue->cq_head - queue->cq) / NVME_CQE_QWORDS);
  }
  if (queue->waiting) spate_nvme_issue_waiting(queue);
  spate_nvme_queue_kick(&queue->block);
  return reaped;
}

/* Empties both queues. The count of commands continues at the next multiple of the queue's length, so that commands
 * keep their order over a reset. The submission entries need no clearing: every command writes the same quadwords of
 * them.
 */
void spate_nvme_queue_rings(struct spate_nvme_queue *queue) {
  volatile uint64_t *cq = (volatile uint64_t *)(uintptr_t)queue->cq;

  for (uint32_t i = 0; i < queue->entries * NVME_CQE_QWORDS; i++)
    cq[i] = 0;
  queue->sq_tail = (queue->sq_tail + queue->entries - 1u) & ~(queue->entries - 1u);
  queue->sq_rung = queue->sq_tail;
  queue->cq_head = queue->cq;
  queue->fast_match ^= nvme_cqe_from_sqid(queue->phase ^ NVME_CQE_PHASE);
  queue->phase = NVME_CQE_PHASE;
}
