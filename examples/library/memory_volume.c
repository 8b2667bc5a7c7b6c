/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library in your own program, on your own block device: here an array in memory. The program makes an exFAT volume
 * in it, mounts it, and prints the free space. docs/use/install-library.md shows the ways to build it.
 */
#include <inttypes.h>
#include <spate/clock.h>
#include <spate/exfat.h>
#include <spate/version.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_SHIFT  9u
#define MEDIUM_BYTES (64u << 20)

static uint8_t medium[MEDIUM_BYTES];
static struct spate_io *finished; /* requests that submit() has carried out and poll() has not reported yet */

static enum spate_error submit(struct spate_block *block, struct spate_io *io) {
  uint8_t *at = medium + (io->lba << BLOCK_SHIFT);
  const size_t bytes = (size_t)io->blocks << BLOCK_SHIFT;

  if (io->blocks > block->blocks || io->lba > block->blocks - io->blocks) return SPATE_E_INVALID;
  if (io->op == SPATE_READ)
    memcpy(io->buffer, at, bytes);
  else if (io->op == SPATE_WRITE)
    memcpy(at, io->buffer, bytes);
  else if (io->op != SPATE_FLUSH)
    return SPATE_E_UNSUPPORTED;
  io->error = SPATE_OK;
  io->next = finished;
  finished = io;
  return SPATE_OK;
}

static void kick(struct spate_block *block) { (void)block; }

static unsigned poll(struct spate_block *block, unsigned max) {
  unsigned count = 0;

  (void)block;
  for (; finished != NULL && count < max; count++) {
    struct spate_io *io = finished;
    finished = io->next;
    io->done(io);
  }
  return count;
}

static enum spate_error make_volume(struct spate_exfat_info *info) {
  static const struct spate_block_ops ops = {submit, kick, poll};
  static struct spate_block block = {.ops = &ops,
                                     .blocks = MEDIUM_BYTES >> BLOCK_SHIFT,
                                     .block_shift = BLOCK_SHIFT,
                                     .depth = 32,
                                     .command_bytes_max = 1u << 20,
                                     .request_blocks_max = 1u << (20 - BLOCK_SHIFT)};
  static _Alignas(4096) uint8_t cache[64 << BLOCK_SHIFT], bitmap[4096];
  static struct spate_exfat_block blocks[64];
  const struct spate_exfat_config config = {.block = &block,
                                            .blocks = block.blocks,
                                            .cache = cache,
                                            .cache_bytes = sizeof cache,
                                            .cache_blocks = blocks,
                                            .cache_block_count = 64,
                                            .bitmap = bitmap,
                                            .bitmap_bytes = sizeof bitmap};
  static struct spate_exfat volume;

  enum spate_error error = spate_clock_check();
  if (error == SPATE_OK) error = spate_exfat_format(&config, &(struct spate_exfat_format){.label = "MEMORY"});
  if (error == SPATE_OK) error = spate_exfat_mount(&volume, &config, NULL);
  if (error == SPATE_OK) error = spate_exfat_info(&volume, info);
  return error == SPATE_OK ? spate_exfat_unmount(&volume) : error;
}

int main(void) {
  struct spate_exfat_info info = {0};
  const enum spate_error error = make_volume(&info);

  if (error != SPATE_OK) {
    (void)fprintf(stderr, "%s. %s\n", spate_error_name(error), spate_error_help(error));
    return 1;
  }
  (void)printf("spate %s: volume %s, %" PRIu64 " bytes free\n", SPATE_VERSION, info.label, info.free_bytes);
  return 0;
}
