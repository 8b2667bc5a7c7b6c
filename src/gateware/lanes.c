/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block device: chooses the lane of a request, and handles responses.
 *
 * After a recovery responses are read only when it is known whether the drive lost power. Otherwise block.power_losses
 * would rise too late for a caller that compares it before and after a flush. The core knows it before it is ready, and
 * so before any command after the recovery can complete. A loss that only a later log shows is known later.
 */
#include "internal.h"

enum lane { LANE_NONE, LANE_SIDE, LANE_STREAM, LANE_MEMORY };

/* ---- submit ---- */

static bool pages_are_contiguous(const struct spate_region *region, uint64_t offset_bytes, uint64_t bytes) {
  const uint64_t first = offset_bytes >> SPATE_PAGE_SHIFT;
  const uint64_t last = (offset_bytes + bytes - 1u) >> SPATE_PAGE_SHIFT;

  for (uint64_t page = first; page < last; page++)
    if (region->list[page] != spate_region_page_dma(region, page) + SPATE_PAGE_BYTES) return false;
  return true;
}

static enum lane data_lane(const struct spate_gateware *gateware, const struct spate_io *io) {
  const uint64_t bytes = (uint64_t)io->blocks << gateware->block.block_shift;

  if (io->blocks > gateware->block.request_blocks_max) return LANE_NONE;
  if (io->region != NULL && (bytes > io->region->bytes || io->offset_bytes > io->region->bytes - bytes))
    return LANE_NONE;
  if (io->region == &gateware->region) return LANE_STREAM;
  const void *data = spate_gateware_data_of(io);
  const bool cpu = (io->flags & SPATE_IO_CPU) != 0;
  if (cpu && ((uintptr_t)data & (SPATE_DMA_ALIGN - 1u)) != 0) return LANE_NONE;
  if (io->region != NULL && spate_gateware_in_memory_mode(gateware) && (!cpu || data != NULL))
    return (io->offset_bytes & 3u) == 0 && pages_are_contiguous(io->region, io->offset_bytes, bytes) ? LANE_MEMORY
                                                                                                     : LANE_NONE;
  return cpu && data != NULL ? LANE_SIDE : LANE_NONE; /* the CPU copies the data */
}

static enum lane lane_of(const struct spate_gateware *gateware, const struct spate_io *io) {
  const struct spate_block *block = &gateware->block;

  if (io->op == SPATE_FLUSH) return io->lba == 0 && io->blocks == 0 ? LANE_SIDE : LANE_NONE;
  if (io->op > SPATE_ZERO || io->blocks == 0 || io->blocks > block->blocks || io->lba > block->blocks - io->blocks)
    return LANE_NONE;
  return io->op == SPATE_READ || io->op == SPATE_WRITE ? data_lane(gateware, io) : LANE_SIDE;
}

static void cache_maintain(const struct spate_gateware *gateware, const struct spate_io *io) {
  const size_t bytes = (size_t)io->blocks << gateware->block.block_shift;

  if ((io->flags & SPATE_IO_CPU) == 0) return;
  if (io->op == SPATE_WRITE)
    spate_port_cache_clean(spate_gateware_data_of(io), bytes);
  else
    spate_port_cache_invalidate(spate_gateware_data_of(io), bytes);
}

static enum spate_error start_data(struct spate_gateware *gateware, struct spate_io *io, enum lane lane) {
  uint32_t place = 0;

  while (place < SPATE_GATEWARE_DEPTH && gateware->data[place].io != NULL)
    place++;
  if (place == SPATE_GATEWARE_DEPTH) return SPATE_E_FULL;
  struct gateware_command command = {.op = io->op == SPATE_WRITE ? GATEWARE_WRITE : GATEWARE_READ,
                                     .source = GATEWARE_STREAM,
                                     .fua = io->op == SPATE_WRITE && (io->flags & SPATE_IO_FUA) != 0,
                                     .lba = io->lba,
                                     .blocks = io->blocks};
  if (lane == LANE_MEMORY) {
    command.source = GATEWARE_ADDRESS;
    command.address = spate_region_page_dma(io->region, io->offset_bytes >> SPATE_PAGE_SHIFT) +
                      (io->offset_bytes & (SPATE_PAGE_BYTES - 1u));
    cache_maintain(gateware, io);
    spate_port_dma_write_barrier();
  }
  gateware->data[place].uses++;
  command.tag = (uint16_t)((uint32_t)gateware->data[place].uses << TAG_USES_SHIFT | place);
  if (!spate_gateware_start(gateware, &command)) return SPATE_E_FULL;
  gateware->data[place].io = io;
  gateware->data[place].losses = gateware->block.power_losses;
  gateware->data[place].ticks = spate_port_ticks();
  gateware->data_count++;
  return SPATE_OK;
}

static enum spate_error submit(struct spate_block *block, struct spate_io *io) {
  struct spate_gateware *gateware = (struct spate_gateware *)block;
  const enum lane lane = lane_of(gateware, io);

  if (lane == LANE_NONE) return SPATE_E_INVALID;
  if (io->op == SPATE_ZERO || (io->op == SPATE_TRIM && !block->can_trim)) return SPATE_E_UNSUPPORTED;
  if (gateware->error != SPATE_OK) return gateware->error;
  io->error = SPATE_OK;
  io->detail = 0;
  if (lane != LANE_SIDE) return start_data(gateware, io, lane);
  spate_gateware_side_add(gateware, io);
  return SPATE_OK;
}

static void kick(struct spate_block *block) { spate_gateware_side_start((struct spate_gateware *)block); }

/* ---- poll ---- */

static void data_done(struct spate_gateware *gateware, uint32_t place, enum spate_error error, uint16_t detail) {
  struct spate_io *io = gateware->data[place].io;

  gateware->data[place].io = NULL;
  gateware->data_count--;
  if (io->region != &gateware->region) {
    spate_port_dma_read_barrier();
    if (io->op == SPATE_READ) cache_maintain(gateware, io); /* discards lines that were fetched during the read */
  } else if (error == SPATE_OK && io->op == SPATE_WRITE && gateware->block.volatile_cache &&
             gateware->data[place].losses != gateware->block.power_losses) {
    /* Some of its commands may have completed before the power loss, and the stream cannot send its data again. */
    error = SPATE_E_POWER_LOST;
  }
  io->error = error;
  io->detail = detail;
  io->done(io);
}

/* Reads the oldest response and ends its request. */
static void take_response(struct spate_gateware *gateware) {
  const uint32_t response = spate_gateware_read(gateware, SPATE_REGS_RESPONSE);
  const uint32_t done_low = spate_gateware_read(gateware, SPATE_REGS_RESPONSE_DONE_LOW);
  const uint32_t done_high = spate_gateware_read(gateware, SPATE_REGS_RESPONSE_DONE_HIGH);
  const uint16_t tag = (uint16_t)(response & SPATE_REGS_RESPONSE_TAG);
  const uint16_t status = (uint16_t)(response >> SPATE_REGS_RESPONSE_STATUS_SHIFT);
  const uint32_t place = tag & TAG_PLACE_MASK;
  const uint8_t uses = (uint8_t)(tag >> TAG_USES_SHIFT);

  spate_gateware_write(gateware, SPATE_REGS_RESPONSE_TAKE, SPATE_REGS_RESPONSE_TAKE_TAKE);
  if (place == TAG_SIDE && gateware->side_busy && uses == gateware->side_uses)
    spate_gateware_side_done(gateware, status, (uint64_t)done_high << 32 | done_low);
  else if (place < SPATE_GATEWARE_DEPTH && gateware->data[place].io != NULL && uses == gateware->data[place].uses)
    data_done(gateware, place, spate_gateware_status_error(gateware, status), status);
  else
    spate_port_log("gateware: a response without a request", tag);
}

/* Takes over what the core has counted since the last call. */
static void count_power(struct spate_gateware *gateware) {
  const uint32_t power = spate_gateware_read(gateware, SPATE_REGS_POWER);

  if (power == UINT32_MAX) return; /* the core no longer responds */
  const uint16_t losses = (uint16_t)(power - gateware->power);
  const uint16_t unknown =
      (uint16_t)((power >> SPATE_REGS_POWER_UNKNOWN_SHIFT) - (gateware->power >> SPATE_REGS_POWER_UNKNOWN_SHIFT));

  gateware->power = power;
  gateware->block.power_losses += losses;
  gateware->block.power_unknown += unknown;
  if (losses > 0) spate_port_log("gateware: the drive lost power, count", gateware->block.power_losses);
  if (unknown > 0) spate_port_log("gateware: the drive may have lost power, count", gateware->block.power_unknown);
}

/* Handles losses of power, recoveries and failures since the last call. True: there is a response. */
static bool has_response(struct spate_gateware *gateware) {
  const uint32_t seen = spate_gateware_read(gateware, SPATE_REGS_INTERRUPT_STATUS);

  if (seen == UINT32_MAX) { /* the core does not respond */
    gateware->error = SPATE_E_GONE;
    gateware->lost = true;
    return false;
  }
  if ((seen & SPATE_REGS_INTERRUPT_STATUS_POWER) != 0) { /* cleared first: a change after it is seen next time */
    spate_gateware_write(gateware, SPATE_REGS_INTERRUPT_STATUS, SPATE_REGS_INTERRUPT_STATUS_POWER);
    count_power(gateware);
  }
  if ((seen & SPATE_REGS_INTERRUPT_STATUS_RECOVERY) != 0) {
    spate_gateware_write(gateware, SPATE_REGS_INTERRUPT_STATUS, SPATE_REGS_INTERRUPT_STATUS_RECOVERY);
    gateware->recoveries++;
    gateware->settling = true;
    spate_port_log("gateware: the drive was reset, count", gateware->recoveries);
  }
  if ((seen & SPATE_REGS_INTERRUPT_STATUS_GONE) != 0 && gateware->error == SPATE_OK) {
    gateware->error = spate_gateware_failure_error(gateware);
    spate_port_log("gateware: the drive is gone, error", (uint64_t)gateware->error);
  }
  return (seen & SPATE_REGS_INTERRUPT_STATUS_RESPONSE) != 0;
}

/* Whether it is known if the drive lost power at the last recovery, or does not matter any more. */
static bool settled(struct spate_gateware *gateware) {
  if (!gateware->settling) return true;
  if (gateware->error != SPATE_OK) return true; /* everything ends with an error */
  if ((spate_gateware_read(gateware, SPATE_REGS_STATUS) & SPATE_REGS_STATUS_READY) == 0) return false;
  gateware->settling = false;
  count_power(gateware);
  return true;
}

/* The core completes every command within a time limit, except those that wait for stream data. A core that does not is
 * defective. */
static void check_deadlines(struct spate_gateware *gateware) {
  const uint64_t now_ticks = spate_port_ticks();
  bool late = gateware->side_busy && now_ticks - gateware->side_ticks > gateware->command_timeout_ticks;

  for (uint32_t i = 0; i < SPATE_GATEWARE_DEPTH && gateware->data_count > 0; i++) {
    const struct spate_io *io = gateware->data[i].io;
    if (io != NULL && io->region != &gateware->region)
      late |= now_ticks - gateware->data[i].ticks > gateware->command_timeout_ticks;
  }
  if (!late) return;
  spate_port_log("gateware: no response in time, step",
                 spate_gateware_read(gateware, SPATE_REGS_BRING_UP) & SPATE_REGS_BRING_UP_STEP);
  gateware->error = SPATE_E_TIMEOUT;
  gateware->lost = true;
}

/* Ends the requests that the core will not complete. That includes all stream requests: the core would complete these
 * only after stream data, which may never come. */
static void fail_requests(struct spate_gateware *gateware) {
  if (gateware->lost) spate_gateware_side_fail(gateware);
  for (uint32_t i = 0; i < SPATE_GATEWARE_DEPTH; i++) {
    const struct spate_io *io = gateware->data[i].io;
    if (io != NULL && (gateware->lost || io->region == &gateware->region)) data_done(gateware, i, gateware->error, 0);
  }
}

static unsigned poll(struct spate_block *block, unsigned max) {
  struct spate_gateware *gateware = (struct spate_gateware *)block;
  unsigned reaped = 0;

  /* One register shows responses and recoveries. A response without a recovery came before the next one. */
  while (reaped < max && !gateware->lost && has_response(gateware) && settled(gateware)) {
    take_response(gateware);
    reaped++;
  }
  spate_gateware_side_start(gateware);
  check_deadlines(gateware);
  if (gateware->error != SPATE_OK) fail_requests(gateware);
  return reaped;
}

const struct spate_block_ops spate_gateware_ops = {submit, kick, poll};
