/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clip's length is published by one FUA write of the block that holds the whole entry set. The image has only lengths
 * that were given to spate_exfat_publish(), so the write for one clip cannot publish another clip's bytes too early.
 *
 * A block has one write in flight at a time. A length that arrives meanwhile waits until the write has completed. The
 * cache calls block->written after its own writes, so that such a length is then written, too.
 */
#include "internal.h"

void spate_exfat_clip_put_length(const struct spate_exfat_clip *clip, uint64_t bytes) {
  uint8_t *set = spate_exfat_clip_set(clip);

  /* For fsck.exfat an empty file with a first cluster or with NoFatChain is corrupted. */
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
    if (!clip->waiting) clip->write_error = io->error;
    clip->writing_bytes = 0;
  }
  /* The next call of spate_exfat_publish() returns what became of it. */
  if (!block->claimed) (void)write_waiting(block);
}

/* Put the lengths that wait into the image. */
static bool put_waiting(struct spate_exfat_block *block) {
  bool any = false;

  for (struct spate_exfat_clip *clip = block->volume->clips; clip != NULL; clip = clip->next) {
    if (clip->block != block || !clip->waiting) continue;
    spate_exfat_clip_put_length(clip, clip->wanted_bytes);
    any = true;
  }
  return any;
}

static enum spate_error write_waiting(struct spate_exfat_block *block) {
  if (!put_waiting(block)) return SPATE_OK;
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
    if (clip->block != block || !clip->waiting) continue;
    clip->waiting = error == SPATE_E_FULL;
    if (error == SPATE_OK) clip->writing_bytes = clip->wanted_bytes;
    if (!clip->waiting) clip->write_error = error;
  }
  if (error == SPATE_OK) spate_block_kick(block->volume->config.block);
  return error;
}

/* The next call of spate_exfat_publish() returns what became of it. */
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
  if (clip->entries == 0 && bytes > 0) return SPATE_E_INVALID; /* a discard has erased the file */
  enum spate_error failed = bytes == clip->wanted_bytes ? clip->write_error : SPATE_OK;
  clip->wanted_bytes = bytes;
  clip->write_error = SPATE_OK;
  if (bytes == clip->published_bytes) return SPATE_OK;
  if (failed != SPATE_OK) return failed;
  if (bytes == clip->writing_bytes) return SPATE_E_BUSY;
  clip->waiting = true;
  if (block->writing || block->claimed) return SPATE_E_BUSY;
  enum spate_error error = write_waiting(block);
  clip->write_error = SPATE_OK; /* an error is returned here */
  return error == SPATE_OK ? SPATE_E_BUSY : error;
}
