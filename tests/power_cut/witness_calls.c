/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the linker puts in place of those of the library and the drive (CMakeLists.txt). Each calls the
 * real function and makes promises of its result. */
#include "witness_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void __real_ram_block_open(struct ram_block *ram, uint64_t blocks, uint32_t block_bytes);
void __wrap_ram_block_open(struct ram_block *ram, uint64_t blocks, uint32_t block_bytes);
void __wrap_ram_block_open(struct ram_block *ram, uint64_t blocks, uint32_t block_bytes) {
  __real_ram_block_open(ram, blocks, block_bytes);
  if (!witness_on() || witness.drive_count == JOURNAL_DRIVES_MAX) return;
  witness.drives[witness.drive_count++] = ram;
  ram->observer = &witness_observer;
}

void __real_ram_block_close(struct ram_block *ram);
void __wrap_ram_block_close(struct ram_block *ram);
void __wrap_ram_block_close(struct ram_block *ram) {
  bool watched = witness.watching;
  if (watched) witness_end();
  witness.drive_count = 0;
  __real_ram_block_close(ram);
}

/* Promises are made about these paths only. */
static bool is_promised(const char *path) {
  size_t length = strlen(path);
  for (size_t i = 0; i < length; i++)
    if ((uint8_t)path[i] < 0x20 || path[i] == 0x7f || path[i] == '?') return false;
  return witness.watching && length < PROMISE_PATH_BYTES_MAX;
}

/* An operation on the path failed. If it cannot have changed anything, the promise before it holds again. Otherwise the
 * path may exist or not. */
static void unchanged(const char *path, const struct promise *before, enum spate_error error) {
  struct promise promise = witness_promise(EITHER, 0, NULL);
  bool refused = error == SPATE_E_NO_SPACE || error == SPATE_E_FRAGMENTED || error == SPATE_E_EXISTS ||
                 error == SPATE_E_NOT_FOUND || error == SPATE_E_INVALID || error == SPATE_E_BUSY ||
                 error == SPATE_E_IN_USE || error == SPATE_E_FULL || error == SPATE_E_NAME_LONG;
  if (refused && before != NULL) {
    promise = *before;
    promise.since = witness_last_event();
  }
  promises_add(&witness.promises, path, promise);
}

/* An operation on the path begins. From now on the path may exist or not; its contents are promised as before. Returns
 * the promise before. */
static struct promise begin_change(const char *path, bool *known) {
  const struct promise *before = promises_last(&witness.promises, path);
  struct promise either = before != NULL ? *before : witness_promise(EITHER, 0, NULL);
  struct promise was = either;
  *known = before != NULL;
  witness_progress();
  either.since = witness.journal.now;
  either.presence = EITHER;
  either.folder = UINT32_MAX;
  promises_add(&witness.promises, path, either);
  return was;
}

static void before_mount(void) {
  witness_progress();
  if (witness.watching) witness.tracked_count = 0; /* the host has restarted: no clip is open */
}

static enum spate_error after_mount(const struct spate_exfat *volume, const struct spate_exfat_config *config,
                                    enum spate_error error) {
  if (witness.formatting && witness.formatted == 0) witness.formatted = witness.journal.now;
  if (witness.watching && error == SPATE_OK) witness.judge.salvage = config->salvage;
  if (witness.drive_count == 0 || witness.watching || witness.judging || error != SPATE_OK) return error;
  witness_begin(config, volume->foreign_dirty);
  return error;
}

enum spate_error __real_spate_exfat_mount(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                          struct spate_exfat_mounted *found);
enum spate_error __wrap_spate_exfat_mount(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                          struct spate_exfat_mounted *found);
enum spate_error __wrap_spate_exfat_mount(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                          struct spate_exfat_mounted *found) {
  before_mount();
  return after_mount(volume, config, __real_spate_exfat_mount(volume, config, found));
}

enum spate_error __real_spate_exfat_mount_own(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                              struct spate_exfat_mounted *found);
enum spate_error __wrap_spate_exfat_mount_own(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                              struct spate_exfat_mounted *found);
enum spate_error __wrap_spate_exfat_mount_own(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                              struct spate_exfat_mounted *found) {
  before_mount();
  return after_mount(volume, config, __real_spate_exfat_mount_own(volume, config, found));
}

/* A successful arm creates an empty file. From then on the clip is tracked. */
static void armed(struct spate_exfat_clip *clip, const char *path, enum spate_error error, const struct promise *before,
                  bool known) {
  if (error != SPATE_OK) {
    unchanged(path, known ? before : NULL, error);
    return;
  }
  if (witness.tracked_count == CLIPS_TRACKED_MAX) fail_msg("too many clips to track");
  witness_untrack(clip);
  struct tracked *tracked = &witness.tracked[witness.tracked_count++];
  *tracked = (struct tracked){.clip = clip, .content = promises_content(&witness.promises)};
  (void)snprintf(tracked->path, sizeof tracked->path, "%s", path);
  promises_add(&witness.promises, path, witness_promise(PRESENT, 0, tracked->content));
}

enum spate_error __real_spate_exfat_arm_chunks(struct spate_exfat *volume, struct spate_exfat_clip *clip,
                                               const char *path, uint64_t bytes,
                                               const struct spate_exfat_chunks *chunks);
enum spate_error __wrap_spate_exfat_arm_chunks(struct spate_exfat *volume, struct spate_exfat_clip *clip,
                                               const char *path, uint64_t bytes,
                                               const struct spate_exfat_chunks *chunks);
enum spate_error __wrap_spate_exfat_arm_chunks(struct spate_exfat *volume, struct spate_exfat_clip *clip,
                                               const char *path, uint64_t bytes,
                                               const struct spate_exfat_chunks *chunks) {
  bool known = false;
  if (!is_promised(path)) return __real_spate_exfat_arm_chunks(volume, clip, path, bytes, chunks);
  struct promise before = begin_change(path, &known);
  enum spate_error error = __real_spate_exfat_arm_chunks(volume, clip, path, bytes, chunks);
  armed(clip, path, error, &before, known);
  return error;
}

enum spate_error __wrap_spate_exfat_arm(struct spate_exfat *volume, struct spate_exfat_clip *clip, const char *path,
                                        uint64_t bytes);
enum spate_error __wrap_spate_exfat_arm(struct spate_exfat *volume, struct spate_exfat_clip *clip, const char *path,
                                        uint64_t bytes) {
  return __wrap_spate_exfat_arm_chunks(volume, clip, path, bytes, NULL);
}

enum spate_error __real_spate_exfat_close(struct spate_exfat_clip *clip, uint64_t bytes);
enum spate_error __wrap_spate_exfat_close(struct spate_exfat_clip *clip, uint64_t bytes);
enum spate_error __wrap_spate_exfat_close(struct spate_exfat_clip *clip, uint64_t bytes) {
  uint64_t ticks = witness_ticks();
  enum spate_error error = __real_spate_exfat_close(clip, bytes);
  if (witness_ticks() - ticks > witness.close_ticks_max) witness.close_ticks_max = witness_ticks() - ticks;
  struct tracked *tracked = witness_tracked(clip);
  if (!witness.watching || tracked == NULL || error != SPATE_OK) return error;
  witness_progress();
  struct promise promise = witness_promise(PRESENT, bytes, tracked->content);
  promise.bytes_max = bytes;
  promises_add(&witness.promises, tracked->path, promise);
  witness_untrack(clip);
  return error;
}

/* Only what is lost, and told, is taken back, or what the next clip has published. */
void __real_spate_exfat_take_back(struct spate_exfat_clip *clip, uint64_t bytes);
void __wrap_spate_exfat_take_back(struct spate_exfat_clip *clip, uint64_t bytes);
void __wrap_spate_exfat_take_back(struct spate_exfat_clip *clip, uint64_t bytes) {
  const struct tracked *open = witness_tracked(clip);
  const struct spate_stream_clip *ours = witness_clip(clip);
  if (witness.watching && open != NULL && ours != NULL && bytes < clip->published_bytes) {
    const struct spate_stream_clip *next =
        ours == &ours->stream->clips[0] ? &ours->stream->clips[1] : &ours->stream->clips[0];
    const bool elsewhere = ours->rolled && next->file.published_bytes >= clip->published_bytes - bytes;
    if (!ours->capped && !elsewhere) fail_msg("%s: published bytes are taken back", open->path);
    witness_lost(open->path, bytes);
  }
  __real_spate_exfat_take_back(clip, bytes);
}

enum spate_error __real_spate_exfat_discard(struct spate_exfat_clip *clip);
enum spate_error __wrap_spate_exfat_discard(struct spate_exfat_clip *clip);
enum spate_error __wrap_spate_exfat_discard(struct spate_exfat_clip *clip) {
  struct tracked *tracked = witness_tracked(clip);
  bool known;
  if (tracked != NULL) (void)begin_change(tracked->path, &known);
  enum spate_error error = __real_spate_exfat_discard(clip);
  tracked = witness_tracked(clip);
  if (tracked == NULL || error != SPATE_OK) return error;
  promises_add(&witness.promises, tracked->path, witness_promise(ABSENT, 0, NULL));
  witness_untrack(clip);
  return error;
}

/* What witness_kept() has named stays promised. */
static enum spate_error delete_by(enum spate_error (*real)(struct spate_exfat *volume, const char *path),
                                  struct spate_exfat *volume, const char *path) {
  bool known = false;
  if (!is_promised(path) || witness_is_kept(path)) return real(volume, path);
  struct promise before = begin_change(path, &known);
  enum spate_error error = real(volume, path);
  if (error == SPATE_OK)
    promises_add(&witness.promises, path, witness_promise(ABSENT, 0, NULL));
  else
    unchanged(path, known ? &before : NULL, error);
  return error;
}

enum spate_error __real_spate_exfat_delete(struct spate_exfat *volume, const char *path);
enum spate_error __wrap_spate_exfat_delete(struct spate_exfat *volume, const char *path);
enum spate_error __wrap_spate_exfat_delete(struct spate_exfat *volume, const char *path) {
  return delete_by(__real_spate_exfat_delete, volume, path);
}

enum spate_error __real_spate_exfat_delete_untrimmed(struct spate_exfat *volume, const char *path);
enum spate_error __wrap_spate_exfat_delete_untrimmed(struct spate_exfat *volume, const char *path);
enum spate_error __wrap_spate_exfat_delete_untrimmed(struct spate_exfat *volume, const char *path) {
  return delete_by(__real_spate_exfat_delete_untrimmed, volume, path);
}

enum spate_error __real_spate_exfat_mkdir(struct spate_exfat *volume, const char *path);
enum spate_error __wrap_spate_exfat_mkdir(struct spate_exfat *volume, const char *path);
enum spate_error __wrap_spate_exfat_mkdir(struct spate_exfat *volume, const char *path) {
  bool known = false;
  if (!is_promised(path)) return __real_spate_exfat_mkdir(volume, path);
  struct promise before = begin_change(path, &known);
  enum spate_error error = __real_spate_exfat_mkdir(volume, path);
  if (error == SPATE_OK)
    promises_add(&witness.promises, path, witness_promise(PRESENT, 0, NULL));
  else
    unchanged(path, known ? &before : NULL, error);
  return error;
}

enum spate_error __real_spate_exfat_rename(struct spate_exfat *volume, const char *from, const char *to);
enum spate_error __wrap_spate_exfat_rename(struct spate_exfat *volume, const char *from, const char *to);
enum spate_error __wrap_spate_exfat_rename(struct spate_exfat *volume, const char *from, const char *to) {
  if (!is_promised(from) || !is_promised(to)) return __real_spate_exfat_rename(volume, from, to);
  witness_progress();
  promises_moving(&witness.promises, witness.journal.now, from, to);
  enum spate_error error = __real_spate_exfat_rename(volume, from, to);
  if (error == SPATE_OK) promises_moved(&witness.promises, witness_last_event(), from, to);
  return error;
}

/* From the beginning of the join on the folder may be a file; when its last call has returned, it is one. */
static enum spate_error join_begun(enum spate_error error, const char *path) {
  if (error != SPATE_OK || !is_promised(path)) return error;
  witness_progress();
  promises_joining(&witness.promises, witness.journal.now, path);
  return error;
}

enum spate_error __real_spate_exfat_join_begin(struct spate_exfat *volume, struct spate_exfat_join *join,
                                               const char *path);
enum spate_error __wrap_spate_exfat_join_begin(struct spate_exfat *volume, struct spate_exfat_join *join,
                                               const char *path);
enum spate_error __wrap_spate_exfat_join_begin(struct spate_exfat *volume, struct spate_exfat_join *join,
                                               const char *path) {
  return join_begun(__real_spate_exfat_join_begin(volume, join, path), path);
}

enum spate_error __real_spate_exfat_join_begin_placed(struct spate_exfat *volume, struct spate_exfat_join *join,
                                                      const char *path);
enum spate_error __wrap_spate_exfat_join_begin_placed(struct spate_exfat *volume, struct spate_exfat_join *join,
                                                      const char *path);
enum spate_error __wrap_spate_exfat_join_begin_placed(struct spate_exfat *volume, struct spate_exfat_join *join,
                                                      const char *path) {
  return join_begun(__real_spate_exfat_join_begin_placed(volume, join, path), path);
}

enum spate_error __real_spate_exfat_join_work(struct spate_exfat_join *join, bool *more);
enum spate_error __wrap_spate_exfat_join_work(struct spate_exfat_join *join, bool *more);
enum spate_error __wrap_spate_exfat_join_work(struct spate_exfat_join *join, bool *more) {
  const char *path = join->path;
  enum spate_error error = __real_spate_exfat_join_work(join, more);
  if (error != SPATE_OK || *more || !is_promised(path)) return error;
  promises_joined(&witness.promises, witness_last_event(), path);
  return error;
}

enum spate_error __real_spate_recorder_open(struct spate_recorder *recorder, struct spate_exfat *volume,
                                            const struct spate_recorder_config *config);
enum spate_error __wrap_spate_recorder_open(struct spate_recorder *recorder, struct spate_exfat *volume,
                                            const struct spate_recorder_config *config);
enum spate_error __wrap_spate_recorder_open(struct spate_recorder *recorder, struct spate_exfat *volume,
                                            const struct spate_recorder_config *config) {
  enum spate_error error = __real_spate_recorder_open(recorder, volume, config);
  if (error == SPATE_OK && witness.watching) witness.recorder = recorder;
  return error;
}

/* Notes the data of a request as the contents of a clip, from `at_bytes` on. */
static void note_contents(const struct spate_stream_clip *clip, const struct spate_io *io, uint64_t at_bytes,
                          uint32_t bytes) {
  const uint8_t block_shift = clip->stream->recorder->block->block_shift;
  const struct ram_block shape = {.block = {.block_shift = block_shift}};
  struct tracked *tracked = witness_tracked(&clip->file);
  uint8_t *data = malloc((uint64_t)io->blocks << block_shift);
  if (data == NULL) abort();
  if (tracked != NULL) { /* NULL: a path that is not tracked */
    ram_block_data(&shape, io, data);
    tracked->pushed = true;
    content_put(tracked->content, at_bytes, data, bytes);
  }
  free(data);
  witness_progress();
}

enum spate_error __real_spate_stream_push(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes);
enum spate_error __wrap_spate_stream_push(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes);
enum spate_error __wrap_spate_stream_push(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes) {
  enum spate_error error = __real_spate_stream_push(stream, offset_bytes, bytes);
  if (!witness.watching || error != SPATE_OK) return error;
  const struct spate_piece *piece = &stream->config.pieces[(stream->pushed - 1) & (stream->config.piece_count - 1)];
  note_contents(piece->clip, &piece->io, piece->clip->progress.pushed_bytes - bytes, bytes);
  return error;
}

enum spate_error __real_spate_stream_tail(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes);
enum spate_error __wrap_spate_stream_tail(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes);
enum spate_error __wrap_spate_stream_tail(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes) {
  enum spate_error error = __real_spate_stream_tail(stream, offset_bytes, bytes);
  if (witness.watching && error == SPATE_OK)
    note_contents(stream->current, &stream->tail, stream->current->progress.pushed_bytes, bytes);
  return error;
}
