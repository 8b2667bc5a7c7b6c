/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data path. Its budget is 55 instructions to submit a command and 20 to complete one (gcc -O2, AArch64), which is
 * why each thing that is rare leaves for request.c by a tail call, and why conditions are arranged to share a branch.
 */
#include "internal.h"

static struct spate_nvme_queue *queue_of(struct spate_block *block) { return (struct spate_nvme_queue *)(void *)block; }

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

  const uint64_t page = offset_bytes >> SPATE_PAGE_SHIFT;
  const uint64_t more_pages = bytes_less_block >> SPATE_PAGE_SHIFT;
  const uint64_t first_prp = region->pages[page];
  uint64_t second_prp = region->pages_dma + (page + 1u) * sizeof region->pages[0];
  if (more_pages <= 1u) second_prp = more_pages == 0 ? 0 : region->pages[page + 1u];

  const uint32_t order = queue->sq_tail;
  const uint64_t read = (slot->read & ~UINT64_C(0xff000000)) | ((uint64_t)order & 0xffu) << 24;
  uint64_t *entry = queue->sq + ((order * 8u) & queue->sq_mask);

  queue->free = slot->next_free;
  queue->sq_tail = order + 1u;
  slot->read = read;
  slot->io = io;
  slot->order = order;
  slot->part = 0;
  slot->attempts = 0;
  slot->age = 0;

  entry[0] = read - what;
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
  spate_port_write32(queue->sq_doorbell, tail & (queue->entries - 1u));
}

static void kick(struct spate_block *block) { spate_nvme_queue_kick(queue_of(block)); }

/*
 * Reap entries that succeeded, up to `end`. Of each, the bits from 16 on of its second half are submission queue
 * identifier, command identifier, phase, status: one comparison with what the slot sent settles that the entry is new,
 * for this queue, of the command in flight there and not of one before it, and successful.
 */
static const volatile uint64_t *reap_plain(struct spate_nvme_queue *queue, const volatile uint64_t *entry,
                                           const volatile uint64_t *end) {
  const uint64_t want = queue->want;
  struct spate_nvme_slot *slots = queue->slots;

  for (; entry != end; entry += 2) {
    const uint64_t answer = entry[1];
    struct spate_nvme_slot *slot = slots + ((answer >> 32) & 0xffu);
    const uint64_t read = slot->read;
    struct spate_io *io = slot->io;

    if ((read ^ (answer >> 16)) != want || io == NULL) break;
    spate_port_dma_read_barrier(); /* what the command read is not looked at before its completion */
    slot->next_free = queue->free;
    slot->io = NULL;
    queue->free = slot;
    io->error = SPATE_OK;
    io->detail = 0;
    io->parts_left = 0;
    io->done(io);
  }
  return entry;
}

unsigned spate_nvme_reap_entries(struct spate_nvme_queue *queue, unsigned max) {
  unsigned reaped = 0;
  bool more = true;

  while (more && reaped < max) {
    const uint32_t left = queue->entries - queue->cq_head;
    const uint32_t batch = max - reaped < left ? max - reaped : left;
    const volatile uint64_t *start = queue->cq + (size_t)queue->cq_head * 2u;
    const volatile uint64_t *end = start + (size_t)batch * 2u;
    const volatile uint64_t *stop = reap_plain(queue, start, end);

    if (stop != end) {
      more = spate_nvme_complete(queue, stop); /* an error, an old entry, or one that needs care */
      if (more) stop += 2;
    }
    reaped += (uint32_t)(stop - start) / 2u;
    queue->cq_head += (uint32_t)(stop - start) / 2u;
    if (queue->cq_head == queue->entries) {
      queue->cq_head = 0;
      queue->want ^= UINT64_C(1) << 32;
    }
  }
  return reaped;
}

unsigned spate_nvme_reap(struct spate_nvme_queue *queue, unsigned max) {
  const unsigned reaped = spate_nvme_reap_entries(queue, max);

  if (reaped == 0) return 0;
  queue->controller->counters.completions += reaped;
  spate_port_write32(queue->cq_doorbell, queue->cq_head);
  return reaped;
}

static unsigned poll(struct spate_block *block, unsigned max) {
  struct spate_nvme_queue *queue = queue_of(block);
  struct spate_nvme *controller = queue->controller;

  if (controller->state != SPATE_NVME_RUNNING ||
      spate_port_ticks() - controller->serviced_ticks >= controller->interval_ticks) {
    spate_nvme_service(controller);
    if (!spate_nvme_is_running(controller)) return spate_nvme_fail_requests(queue, max);
  }

  const unsigned reaped = spate_nvme_reap(queue, max);
  if (queue->waiting) spate_nvme_issue_waiting(queue);
  spate_nvme_queue_kick(queue);
  return reaped;
}

const struct spate_block_ops spate_nvme_queue_ops = {.submit = submit, .kick = kick, .poll = poll};
