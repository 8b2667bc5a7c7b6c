/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data path. Its budget is 55 instructions to submit a command and 20 to complete one (gcc -O2, AArch64), which is
 * why each thing that is rare leaves for request.c by a tail call, and why conditions are arranged to share a branch.
 */
#include "internal.h"

static struct spate_nvme_queue *queue_of(struct spate_block *block) { return (struct spate_nvme_queue *)(void *)block; }

#define TABLE_SHIFT (SPATE_PAGE_SHIFT - 3u) /* a region's table has 8 bytes for each page */

/*
 * A request is plain when one command does it: a READ or WRITE without flags from the start of a page of a region, that
 * does not cross a multiple of command_bytes_max there, so that its PRP list is in one page of the region's table. The
 * last block's start tells it all: it is in the region and in the same stretch as the first, which also bounds the
 * length and catches offsets that wrap. (No blocks at all are 2^32 here, and cross.)
 */
static enum spate_error submit(struct spate_block *block, struct spate_io *io) {
  struct spate_nvme_queue *queue = queue_of(block);
  const struct spate_region *region = io->region;

  if (region == NULL) return spate_nvme_submit_parts(queue, io);

  struct spate_nvme_slot *slot = queue->free;
  const uint64_t offset_bytes = io->offset_bytes;
  const uint64_t blocks_less_one = io->blocks - 1u;
  const uint64_t bytes_less_block = blocks_less_one << block->block_shift;
  const uint64_t last_bytes = offset_bytes + bytes_less_block;
  const uint64_t region_bytes = region->bytes;
  const uint64_t stretch_bytes = queue->plain_bytes;
  const uint64_t lba = io->lba;
  const uint64_t lba_max = queue->plain_lba_max;
  const uint32_t what = io->op | (uint32_t)io->flags << 8;

  if (!(((offset_bytes & (SPATE_PAGE_BYTES - 1u)) == 0) & ((offset_bytes ^ last_bytes) < stretch_bytes) &
        (last_bytes < region_bytes)) ||
      !((lba <= lba_max) & (what <= SPATE_WRITE) & (slot != NULL)))
    return spate_nvme_submit_parts(queue, io);

  /* The table is in uncached memory: it is read only where addresses cannot be computed. */
  const bool is_contiguous = region->first_dma != 0;
  const uint64_t page = offset_bytes >> SPATE_PAGE_SHIFT;
  const uint64_t first_prp = is_contiguous ? region->first_dma + offset_bytes : region->pages[page];
  uint64_t second_prp = region->pages_dma + (offset_bytes >> TABLE_SHIFT) + sizeof region->pages[0];
  if (bytes_less_block >> (SPATE_PAGE_SHIFT + 1u) == 0) { /* the second page is the last one, or there is none */
    second_prp = 0;
    if (bytes_less_block >= SPATE_PAGE_BYTES)
      second_prp = is_contiguous ? first_prp + SPATE_PAGE_BYTES : region->pages[page + 1u];
  }

  const uint32_t order = queue->sq_tail;
  const uint64_t sent = spate_nvme_sent(slot, order);
  uint64_t *entry = queue->sq + ((order * 8u) & queue->sq_mask);

  queue->free = slot->next_free;
  queue->sq_tail = order + 1u;
  slot->order = order;
  slot->part = 0;
  slot->attempts = 0;
  slot->age = 0;
  slot->io = io;
  slot->sent = sent;

  entry[0] = sent - what;
  entry[3] = first_prp;
  entry[4] = second_prp;
  entry[5] = lba;
  entry[6] = blocks_less_one;
  return SPATE_OK;
}

_Static_assert(SPATE_READ == 0 && SPATE_WRITE == 1 && NVME_READ - SPATE_WRITE == NVME_WRITE, "opcode = base - op");
_Static_assert(sizeof(void *) != 8 || sizeof(struct spate_nvme_slot) == 32, "a slot is found by a shift");

void spate_nvme_queue_kick(struct spate_nvme_queue *queue) {
  const uint32_t tail = queue->sq_tail;

  if (tail == queue->sq_rung) return;
  queue->controller->counters.commands += tail - queue->sq_rung;
  queue->controller->counters.doorbells++;
  queue->sq_rung = tail;
  spate_port_dma_write_barrier();
  spate_port_write32(queue->sq_doorbell, tail & queue->sq_mask / 8u);
}

static void kick(struct spate_block *block) { spate_nvme_queue_kick(queue_of(block)); }

/*
 * Reap entries that succeeded, up to `end`. Of each, the bits from 16 on of its second half are submission queue
 * identifier, command identifier, phase, status: one comparison with what the slot sent settles that the entry is new,
 * for this queue, of the command in flight there and not of one before it, and successful.
 */
static const volatile uint64_t *reap_plain(struct spate_nvme_queue *queue, const volatile uint64_t *entry,
                                           const volatile uint64_t *end) {
  const uint64_t want = queue->want ^ queue->phase >> 16;
  struct spate_nvme_slot *slots = queue->slots;

  for (; entry != end; entry += 2) {
    const uint64_t answer = entry[1];
    struct spate_nvme_slot *slot = slots + ((answer >> 32) & 0xffu);
    struct spate_nvme_slot *next_free = queue->free;
    struct spate_io *io = slot->io;

    if ((slot->sent ^ answer >> 16) != want) break;
    spate_port_dma_read_barrier(); /* what the command read is not looked at before its completion */
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
    const volatile uint64_t *end = (size_t)(queue->cq_end - start) > left * 2u ? start + left * 2u : queue->cq_end;
    const volatile uint64_t *stop = reap_plain(queue, start, end);

    left -= (size_t)(stop - start) / 2u;
    spate_nvme_reaped(queue, stop);
    if (stop == end) continue;
    if (!spate_nvme_complete(queue)) break; /* from the lap before; otherwise an error, or one that needed care */
    left--;
  }
  return max - (unsigned)left;
}

unsigned spate_nvme_queue_poll(struct spate_nvme_queue *queue, unsigned max) {
  const unsigned reaped = reap(queue, max);

  if (reaped != 0) {
    queue->controller->counters.completions += reaped;
    spate_port_write32(queue->cq_doorbell, (uint32_t)(queue->cq_head - queue->cq) / 2u);
  }
  if (queue->waiting) spate_nvme_issue_waiting(queue);
  spate_nvme_queue_kick(queue);
  return reaped;
}

/* Commands that wait need no look here: it takes a completion, or the passing of an interval, to let them go. */
static bool nothing_to_do(const struct spate_nvme_queue *queue) {
  return ((queue->cq_head[1] ^ queue->phase) & CQ_PHASE) != 0 && queue->sq_tail == queue->sq_rung;
}

static unsigned poll(struct spate_block *block, unsigned max) {
  struct spate_nvme_queue *queue = queue_of(block);
  const struct spate_nvme *controller = queue->controller;

  if (controller->state != SPATE_NVME_RUNNING ||
      spate_port_ticks() - controller->serviced_ticks >= controller->interval_ticks)
    return spate_nvme_service_poll(queue, max);
  return nothing_to_do(queue) ? 0 : spate_nvme_queue_poll(queue, max);
}

const struct spate_block_ops spate_nvme_queue_ops = {.submit = submit, .kick = kick, .poll = poll};
