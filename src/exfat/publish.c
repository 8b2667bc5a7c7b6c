/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clip's length is published by one FUA write of the block that holds the whole entry set. The image has only lengths
 * that were given to spate_exfat_publish(), so the write for one clip cannot publish another clip's bytes too early.
 *
 * A block has one write in flight at a time. A length that another clip publishes meanwhile waits until the write has
 * completed. The cache calls block->written after its own writes, so that such a length is then written, too.
 */
#include "internal.h"

void spate_exfat_clip_put_length(const struct spate_exfat_clip *clip, uint64_t bytes) {
  uint8_t *set = spate_exfat_clip_set(clip);

  /* For fsck.exfat an empty file with a first cluster or with NoFatChain is corrupted. */
  spate_exfat_set_lengths(set, bytes > 0 ? clip->first_cluster : 0, bytes, bytes > 0);
  spate_exfat_time_stamp(&clip->volume->config, set, false);
  spate_exfat_set_seal(set, clip->entries);
}

void spate_exfat_clip_end_publish(struct spate_exfat_clip *clip, enum spate_error error) {
  spate_exfat_published *done = clip->done;

  if (done == NULL) return;
  clip->done = NULL; /* before the call, which may publish again */
  clip->waiting = false;
  if (error == SPATE_OK) clip->published_bytes = clip->wanted_bytes;
  done(clip->context, error);
}

/* Ends the lengths of a block that wait, or those that were being written. */
static void end_all(struct spate_exfat_block *block, bool waiting, enum spate_error error) {
  for (struct spate_exfat_clip *clip = block->volume->clips; clip != NULL; clip = clip->next)
    if (clip->block == block && clip->waiting == waiting) spate_exfat_clip_end_publish(clip, error);
}

static void write_again(struct spate_exfat_block *block);

static void written(struct spate_io *io) {
  struct spate_exfat_block *block = io->context;

  end_all(block, false, io->error);
  block->writing = false; /* after that: a length published meanwhile waits */
  if (!block->claimed) write_again(block);
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

/* Writes the lengths that wait. On an error they still wait. */
static enum spate_error write_waiting(struct spate_exfat_block *block) {
  if (!put_waiting(block)) return SPATE_OK;
  block->io = (struct spate_io){.op = SPATE_WRITE,
                                .flags = SPATE_IO_FUA | SPATE_IO_CPU,
                                .lba = block->lba,
                                .blocks = 1,
                                .buffer = block->data,
                                .done = written,
                                .context = block};
  enum spate_error error = spate_block_submit(block->volume->config.block, &block->io);
  if (error != SPATE_OK) return error;
  block->writing = true;
  for (struct spate_exfat_clip *clip = block->volume->clips; clip != NULL; clip = clip->next)
    if (clip->block == block) clip->waiting = false;
  spate_block_kick(block->volume->config.block);
  return SPATE_OK;
}

static void write_again(struct spate_exfat_block *block) {
  enum spate_error error = write_waiting(block);

  if (error != SPATE_OK) end_all(block, true, error);
}

void spate_exfat_clip_pin(struct spate_exfat_clip *clip) {
  clip->block->pins++;
  clip->block->written = write_again;
}

void spate_exfat_clip_unpin(struct spate_exfat_clip *clip) {
  if (--clip->block->pins == 0) clip->block->written = NULL;
}

enum spate_error spate_exfat_publish(struct spate_exfat_clip *clip, uint64_t bytes, spate_exfat_published *done,
                                     void *context) {
  const struct spate_exfat *volume = clip->volume;
  struct spate_exfat_block *block = clip->block;

  if (volume == NULL) return SPATE_E_INVALID;
  if (volume->mounted != volume) return SPATE_E_NOT_MOUNTED;
  if (clip->done != NULL || clip->ending) return SPATE_E_BUSY;
  if (done == NULL || bytes > clip->reserved_bytes || bytes < clip->wanted_bytes) return SPATE_E_INVALID;
  if (clip->entries == 0 && bytes > 0) return SPATE_E_INVALID; /* a discard has erased the file */
  clip->wanted_bytes = bytes;
  clip->done = done;
  clip->context = context;
  if (bytes == clip->published_bytes) {
    spate_exfat_clip_end_publish(clip, SPATE_OK);
    return SPATE_OK;
  }
  clip->waiting = true;
  if (block->writing || block->claimed) return SPATE_OK;
  enum spate_error error = write_waiting(block);
  if (error == SPATE_OK) return SPATE_OK;
  clip->waiting = false;
  clip->done = NULL;
  return error;
}
