/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clip's length is published by one FUA write of the one block that holds the whole entry set. The image carries only
 * lengths that were handed over for publishing, so the write for one clip cannot promise another clip's bytes early.
 *
 * There is one write to a block at a time. A length that comes meanwhile waits, and is written when the block is free:
 * after a write of publishing's own, or after one of the cache, which calls block->written for that.
 */
#include "internal.h"

void spate_exfat_clip_put_length(const struct spate_exfat_clip *clip, uint64_t bytes) {
  uint8_t *set = spate_exfat_clip_set(clip);

  /* fsck.exfat calls an empty file with a first cluster or NoFatChain corrupted. */
  spate_exfat_set_lengths(set, bytes > 0 ? clip->first_cluster : 0, bytes, bytes > 0);
  spate_exfat_time_stamp(&clip->volume->config, set, false);
  spate_exfat_set_seal(set, clip->entries);
}

static enum spate_error write_waiting(struct spate_exfat_block *block);

static void published(struct spate_io *io) {
  struct spate_exfat_block *block = io->context;

  block->writing = false;
  for (struct spate_exfat_clip *clip = block->volume->clips; clip != NULL; clip = clip->next) {
    if (clip->block != block || clip->writing_bytes == 0) continue;
    if (io->error == SPATE_OK) clip->published_bytes = clip->writing_bytes;
    clip->error = io->error;
    clip->writing_bytes = 0;
    clip->publishing = clip->wanted;
  }
  /* A refusal leaves `publishing` false, which is what tells the clip's owner. */
  if (!block->claimed) (void)write_waiting(block);
}

/* The block's clips that wait: put their lengths into the image. */
static bool take_wanted(struct spate_exfat_block *block) {
  bool any = false;

  for (struct spate_exfat_clip *clip = block->volume->clips; clip != NULL; clip = clip->next) {
    if (clip->block != block || !clip->wanted) continue;
    spate_exfat_clip_put_length(clip, clip->wanted_bytes);
    any = true;
  }
  return any;
}

static enum spate_error write_waiting(struct spate_exfat_block *block) {
  if (!take_wanted(block)) return SPATE_OK;
  block->io = (struct spate_io){.op = SPATE_WRITE,
                                .flags = SPATE_IO_FUA | SPATE_IO_CPU,
                                .lba = block->lba,
                                .blocks = 1,
                                .buffer = block->data,
                                .done = published,
                                .context = block};
  enum spate_error error = spate_block_submit(block->volume->config.block, &block->io);
  block->writing = error == SPATE_OK;
  for (struct spate_exfat_clip *clip = block->volume->clips; clip != NULL; clip = clip->next) {
    if (clip->block != block || !clip->wanted) continue;
    clip->publishing = error == SPATE_OK;
    clip->wanted = error == SPATE_E_FULL;
    if (error == SPATE_OK) clip->writing_bytes = clip->wanted_bytes;
    if (error != SPATE_OK && error != SPATE_E_FULL) clip->error = error;
  }
  if (error == SPATE_OK) spate_block_kick(block->volume->config.block);
  return error;
}

/* A refusal is in the clips' own state, and is the business of whoever publishes. */
static void write_again(struct spate_exfat_block *block) { (void)write_waiting(block); }

void spate_exfat_clip_pin(struct spate_exfat_clip *clip) {
  clip->block->pins++;
  clip->block->written = write_again;
}

void spate_exfat_clip_unpin(struct spate_exfat_clip *clip) {
  if (--clip->block->pins == 0) clip->block->written = NULL;
}

enum spate_error spate_exfat_publish(struct spate_exfat_clip *clip, uint64_t bytes) {
  struct spate_exfat_block *block = clip->block;

  if (bytes > clip->reserved_bytes || bytes < clip->wanted_bytes) return SPATE_E_INVALID;
  clip->wanted_bytes = bytes;
  if (bytes == clip->published_bytes || bytes == clip->writing_bytes) return SPATE_OK;
  clip->wanted = true;
  clip->publishing = block->writing || block->claimed;
  return clip->publishing ? SPATE_OK : write_waiting(block);
}
