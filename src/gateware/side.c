/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side lane: flush, trim, and data that the CPU copies, 4 KiB at a time through the mailbox. There is one mailbox,
 * so requests are carried out one after the other, with a command for each step. They do not wait for the streams.
 */
#include "internal.h"

#include <string.h>

#define ATTEMPTS_MAX          4u
#define STATUS_INVALID_OPCODE 0x0001u /* NVMe 1.4, figure 128 */

void *spate_gateware_data_of(const struct spate_io *io) {
  if (io->region == NULL) return io->buffer;
  return io->region->start == NULL ? NULL : io->region->start + io->offset_bytes;
}

static bool moves_data(const struct spate_io *io) { return io->op == SPATE_READ || io->op == SPATE_WRITE; }

static uint8_t *step_data(const struct spate_gateware *gateware) {
  return (uint8_t *)spate_gateware_data_of(gateware->first) +
         ((size_t)gateware->done_blocks << gateware->block.block_shift);
}

static void to_mailbox(const struct spate_gateware *gateware, const uint8_t *from, uint32_t words) {
  for (uint32_t i = 0; i < words; i++) {
    uint32_t word;
    memcpy(&word, from + i * 4u, sizeof word);
    spate_gateware_write(gateware, SPATE_REGS_MAILBOX + i * 4u, word);
  }
}

static void from_mailbox(const struct spate_gateware *gateware, uint8_t *to, uint32_t words) {
  for (uint32_t i = 0; i < words; i++) {
    const uint32_t word = spate_gateware_read(gateware, SPATE_REGS_MAILBOX + i * 4u);
    memcpy(to + i * 4u, &word, sizeof word);
  }
}

static uint32_t step_words(const struct spate_gateware *gateware) {
  return gateware->step_blocks << (gateware->block.block_shift - 2u);
}

void spate_gateware_side_add(struct spate_gateware *gateware, struct spate_io *io) {
  io->next = NULL;
  *gateware->last_link = io;
  gateware->last_link = &io->next;
}

/* Starts the next step of the first request, if none is in flight. The mailbox is filled again for another attempt,
 * because its contents after a failed attempt are not defined. */
void spate_gateware_side_start(struct spate_gateware *gateware) {
  static const uint8_t ops[] = {[SPATE_READ] = GATEWARE_READ,
                                [SPATE_WRITE] = GATEWARE_WRITE,
                                [SPATE_FLUSH] = GATEWARE_FLUSH,
                                [SPATE_TRIM] = GATEWARE_DEALLOCATE,
                                [GATEWARE_IO_SHUTDOWN] = GATEWARE_SHUTDOWN};
  const struct spate_io *io = gateware->first;

  if (io == NULL || gateware->side_busy) return;
  const uint32_t mailbox_blocks = GATEWARE_MAILBOX_BYTES >> gateware->block.block_shift;
  const uint32_t left_blocks = io->blocks - gateware->done_blocks;
  gateware->step_blocks = moves_data(io) && left_blocks > mailbox_blocks ? mailbox_blocks : left_blocks;
  if (io->op == SPATE_WRITE) to_mailbox(gateware, step_data(gateware), step_words(gateware));
  const struct gateware_command command = {
      .op = ops[io->op],
      .source = moves_data(io) ? GATEWARE_MAILBOX : GATEWARE_STREAM,
      .fua = io->op == SPATE_WRITE && (io->flags & SPATE_IO_FUA) != 0,
      .lba = io->lba + gateware->done_blocks,
      .blocks = gateware->step_blocks,
      .tag = (uint16_t)((uint32_t)++gateware->side_uses << TAG_USES_SHIFT | TAG_SIDE),
  };
  if (!spate_gateware_start(gateware, &command)) return; /* the next poll tries again */
  gateware->side_busy = true;
  gateware->side_ticks = spate_port_ticks();
}

static void finish(struct spate_gateware *gateware, enum spate_error error, uint16_t detail) {
  struct spate_io *io = gateware->first;

  gateware->first = io->next;
  if (gateware->first == NULL) gateware->last_link = &gateware->first;
  gateware->done_blocks = 0;
  gateware->side_attempts = 0;
  io->error = error;
  io->detail = detail;
  io->done(io);
}

void spate_gateware_side_done(struct spate_gateware *gateware, uint16_t status, uint64_t done) {
  const struct spate_io *io = gateware->first;

  gateware->side_busy = false;
  if (status == GATEWARE_STATUS_DEADLINE && ++gateware->side_attempts < ATTEMPTS_MAX) {
    spate_port_log("gateware: command sent again after a reset", io->op);
    return;
  }
  if (io->op == SPATE_TRIM && (status == GATEWARE_STATUS_UNSUPPORTED || (status & 0x7ffu) == STATUS_INVALID_OPCODE)) {
    gateware->block.can_trim = false;
    status = GATEWARE_STATUS_UNSUPPORTED;
  }
  if (status == GATEWARE_STATUS_POWER && io->op == SPATE_FLUSH) status = 0; /* power_losses or power_unknown has told */
  if (status == 0) {
    if (io->op == SPATE_FLUSH) gateware->flushed_blocks = done;
    if (io->op == SPATE_READ) from_mailbox(gateware, step_data(gateware), step_words(gateware));
    gateware->done_blocks += gateware->step_blocks;
    gateware->side_attempts = 0;
    if (gateware->done_blocks < io->blocks) return;
  }
  finish(gateware, spate_gateware_status_error(gateware, status), status);
}

void spate_gateware_side_fail(struct spate_gateware *gateware) {
  gateware->side_busy = false;
  while (gateware->first != NULL)
    finish(gateware, gateware->error, 0);
}
