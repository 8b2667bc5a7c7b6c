/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the drive, and writes to it if the caller says where: rates, and the errors on the path meanwhile. */
#include "../core/ticks.h"
#include "checkup.h"

#define READ_BYTES      (UINT64_C(256) << 20)
#define READ_MS         2000u
#define WRITE_MS        10000u
#define PIECE_BYTES_MAX (UINT32_C(1) << 20)

struct rate {
  struct spate_checkup *checkup;
  uint64_t next_lba, end_lba, until_ticks, bytes;
  uint32_t request_blocks, in_flight;
  enum spate_error error;
};

/* ---- many requests ---- */

static void submit(struct rate *rate, struct spate_io *io) {
  const struct spate_block *block = &rate->checkup->queue.block;
  const uint64_t left = rate->end_lba - rate->next_lba;

  if (left == 0 || rate->error != SPATE_OK || spate_port_ticks() >= rate->until_ticks) return;
  io->lba = rate->next_lba;
  io->blocks = left < rate->request_blocks ? (uint32_t)left : rate->request_blocks;
  const enum spate_error error = spate_block_submit(&rate->checkup->queue.block, io);
  if (error != SPATE_OK) {
    rate->error = error;
    return;
  }
  rate->next_lba += io->blocks;
  rate->in_flight++;
  rate->bytes += (uint64_t)io->blocks << block->block_shift;
}

static void done(struct spate_io *io) {
  struct rate *rate = io->context;

  rate->in_flight--;
  if (io->error == SPATE_OK) {
    submit(rate, io);
    return;
  }
  rate->bytes -= (uint64_t)io->blocks << rate->checkup->queue.block.block_shift;
  if (rate->error == SPATE_OK) rate->error = io->error;
}

/* Each request has its own part of the buffer. */
static uint32_t request_bytes(const struct spate_checkup *checkup) {
  const size_t share_bytes = checkup->config->buffer_bytes / SPATE_CHECKUP_DEPTH;
  uint32_t bytes = PIECE_BYTES_MAX;

  while (bytes > share_bytes || bytes > checkup->queue.block.command_bytes_max)
    bytes /= 2u;
  return bytes;
}

static void move(struct rate *rate, enum spate_op op) {
  struct spate_checkup *checkup = rate->checkup;
  struct spate_block *block = &checkup->queue.block;
  const uint32_t bytes = request_bytes(checkup);

  rate->request_blocks = bytes >> block->block_shift;
  if (rate->request_blocks == 0) rate->request_blocks = 1; /* the drive is smaller than a request */
  for (unsigned i = 0; i < SPATE_CHECKUP_DEPTH; i++) {
    checkup->ios[i] = (struct spate_io){.op = (uint8_t)op,
                                        .buffer = (uint8_t *)checkup->config->buffer + (size_t)i * bytes,
                                        .done = done,
                                        .context = rate};
    submit(rate, &checkup->ios[i]);
  }
  spate_block_kick(block);
  while (rate->in_flight > 0) { /* the driver ends every request */
    (void)spate_block_poll(block, SPATE_CHECKUP_DEPTH);
    if (rate->in_flight > 0) spate_port_relax();
  }
}

/* ---- what came of it ---- */

static void judge_errors(struct spate_checkup *checkup) {
  const unsigned count = spate_doctor_host_read(checkup->config->host, &checkup->device, checkup->path_after);

  for (unsigned i = 0; i < count; i++) {
    const struct spate_doctor_errors *errors = &checkup->path_after[i].errors;
    if (errors->known)
      spate_checkup_fact(
          checkup, "errors", &checkup->path_after[i].address,
          "corrected {0x}, uncorrected {1x}, device status {2x} after the transfer",
          (struct checkup_values){.numbers = {errors->correctable, errors->uncorrectable, errors->device_status}});
  }
  spate_doctor_judge_errors_during(checkup->doctor, checkup->path, checkup->path_after, count);
  spate_checkup_forget_errors(checkup);
}

/* Moves blocks, and reports the rate. Returns whether all went well. */
static bool measure(struct spate_checkup *checkup, enum spate_op op, uint64_t lba, uint64_t blocks, uint32_t ms) {
  const uint64_t start_ticks = spate_port_ticks();
  struct rate rate = {
      .checkup = checkup, .next_lba = lba, .end_lba = lba + blocks, .until_ticks = start_ticks + spate_ticks_of_ms(ms)};

  move(&rate, op);
  const uint64_t ticks = spate_port_ticks() - start_ticks;
  const uint64_t kb_per_s = rate.bytes / 1000u * spate_port_ticks_per_second() / (ticks == 0 ? 1 : ticks);
  spate_checkup_fact(checkup, op == SPATE_READ ? "read" : "write", NULL, "{0b}, {1} MB/s, requests of {2b}",
                     (struct checkup_values){.numbers = {rate.bytes, kb_per_s / 1000u, request_bytes(checkup)}});
  if (rate.error != SPATE_OK && op == SPATE_READ)
    spate_checkup_found(checkup, SPATE_DOCTOR_TRANSFER_FAILED,
                        (struct checkup_values){.numbers = {rate.bytes}, .name = spate_error_name(rate.error)});
  if (rate.error != SPATE_OK && op == SPATE_WRITE)
    spate_checkup_found(checkup, SPATE_DOCTOR_WRITE_FAILED,
                        (struct checkup_values){.numbers = {rate.bytes, rate.error}});
  judge_errors(checkup);
  if (rate.error == SPATE_OK) spate_checkup_heat(checkup);
  return rate.error == SPATE_OK;
}

bool spate_checkup_read(struct spate_checkup *checkup) {
  const struct spate_block *block = &checkup->queue.block;
  const uint64_t wanted = READ_BYTES >> block->block_shift;

  return measure(checkup, SPATE_READ, 0, wanted < block->blocks ? wanted : block->blocks, READ_MS);
}

/* ---- write, read, compare ---- */

static uint64_t pattern(uint64_t index) { return (index + 1u) * UINT64_C(0x9e3779b97f4a7c15); }

/* The first blocks of the range: written, overwritten in memory, read and compared. */
static void compare(struct spate_checkup *checkup, uint64_t lba, uint32_t blocks) {
  struct spate_block *block = &checkup->queue.block;
  uint64_t *words = checkup->config->buffer;
  const size_t count = ((size_t)blocks << block->block_shift) / sizeof *words;

  for (size_t i = 0; i < count; i++)
    words[i] = pattern(i);
  enum spate_error error = spate_block_write(block, lba, blocks, words, 0);
  for (size_t i = 0; i < count; i++)
    words[i] = 0;
  spate_port_cache_clean(words, count * sizeof *words); /* to memory: the read discards what is only in the cache */
  if (error == SPATE_OK) error = spate_block_read(block, lba, blocks, words);
  if (error != SPATE_OK) {
    spate_checkup_found(checkup, SPATE_DOCTOR_WRITE_FAILED, (struct checkup_values){.numbers = {0, error}});
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (words[i] == pattern(i)) continue;
    spate_checkup_found(checkup, SPATE_DOCTOR_DATA_DIFFER, (struct checkup_values){.numbers = {i * sizeof *words}});
    return;
  }
  spate_checkup_fact(checkup, "write", NULL, "{0b} were written, read and compared",
                     (struct checkup_values){.numbers = {count * sizeof *words}});
}

bool spate_checkup_write(struct spate_checkup *checkup) {
  const struct spate_checkup_config *config = checkup->config;
  const struct spate_block *block = &checkup->queue.block;
  const uint32_t request_blocks = request_bytes(checkup) >> block->block_shift;

  if (config->write_blocks == 0) return true;
  if (config->write_lba >= block->blocks || config->write_blocks > block->blocks - config->write_lba) {
    spate_checkup_found(checkup, SPATE_DOCTOR_WRITE_FAILED, (struct checkup_values){.numbers = {0, SPATE_E_INVALID}});
    return false;
  }
  if (!measure(checkup, SPATE_WRITE, config->write_lba, config->write_blocks, WRITE_MS)) return false;
  compare(checkup, config->write_lba,
          config->write_blocks < request_blocks ? (uint32_t)config->write_blocks : request_blocks);
  return true;
}
