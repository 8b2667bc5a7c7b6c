/* SPDX-License-Identifier: Apache-2.0 */
/* Roll-over: arms the next clip of a stream before the reservation of the current one ends, and finds a name for it. */
#include "../core/part_name.h"
#include "internal.h"
#include <spate/port.h>

#define NAMES_ASKED_MAX     16u /* of next_path */
#define DIGITS_MIN          4u
#define SHORTEST_NEXT_SHIFT 4u /* a next clip shorter than a sixteenth of what was asked for is not worth a file */

static bool part_path(char *to, const char *base, uint32_t part) {
  return spate_part_name(to, SPATE_RECORDER_PATH_BYTES_MAX, base, part, DIGITS_MIN);
}

/* Is the name of this part taken? */
static enum spate_error part_taken(struct spate_stream *stream, char *path, uint32_t part, bool *taken) {
  struct spate_exfat_entry entry;

  if (!part_path(path, stream->base_path, part)) return SPATE_E_NAMES;
  enum spate_error error = spate_exfat_stat(stream->recorder->volume, path, &entry);
  *taken = error == SPATE_OK;
  return error == SPATE_E_NOT_FOUND || error == SPATE_E_CORRUPT ? SPATE_OK : error;
}

/* The name of stream->part exists: find the next one that does not, by growing steps and then by bisection. Each step
 * reads the directory, and there may be thousands of names. */
static enum spate_error pass_taken_parts(struct spate_stream *stream, char *path) {
  uint32_t free_part = stream->part;
  bool taken = true;

  for (uint32_t step = 1; taken; step *= 2u) {
    if (step > UINT32_MAX - free_part || step > UINT32_MAX / 2u) return SPATE_E_NAMES;
    stream->part = free_part;
    free_part += step;
    enum spate_error error = part_taken(stream, path, free_part, &taken);
    if (error != SPATE_OK) return error;
  }
  while (free_part - stream->part > 1u) {
    uint32_t middle = stream->part + (free_part - stream->part) / 2u;
    enum spate_error error = part_taken(stream, path, middle, &taken);
    if (error != SPATE_OK) return error;
    if (taken)
      stream->part = middle;
    else
      free_part = middle;
  }
  stream->part = free_part;
  return part_path(path, stream->base_path, free_part) ? SPATE_OK : SPATE_E_NAMES;
}

/* Ask the program for names. */
static enum spate_error arm_named_part(struct spate_stream *stream, struct spate_stream_clip *clip, uint64_t bytes) {
  enum spate_error error = SPATE_E_EXISTS;

  for (uint32_t asked = 0; error == SPATE_E_EXISTS && asked < NAMES_ASKED_MAX; asked++) {
    if (!stream->next_path(stream->recorder->config.context, stream, ++stream->part, clip->path)) return SPATE_E_NAMES;
    error = spate_stream_clip_arm(stream, clip, bytes);
  }
  return error == SPATE_E_EXISTS ? SPATE_E_NAMES : error;
}

static enum spate_error arm_next_part(struct spate_stream *stream, struct spate_stream_clip *clip, uint64_t bytes) {
  if (stream->next_path != NULL) return arm_named_part(stream, clip, bytes);
  if (stream->part == UINT32_MAX || !part_path(clip->path, stream->base_path, stream->part + 1u)) return SPATE_E_NAMES;
  stream->part++;
  enum spate_error error = spate_stream_clip_arm(stream, clip, bytes);
  if (error != SPATE_E_EXISTS) return error;
  error = pass_taken_parts(stream, clip->path);
  return error == SPATE_OK ? spate_stream_clip_arm(stream, clip, bytes) : error;
}

/* The same with another length: the name was not used. */
static enum spate_error arm_part_again(struct spate_stream *stream, struct spate_stream_clip *clip, uint64_t bytes) {
  stream->part--;
  return arm_next_part(stream, clip, bytes);
}

/* No free run has the configured length: arm the longest one, if that is worth a file. */
static enum spate_error arm_shorter_part(struct spate_stream *stream, struct spate_stream_clip *clip) {
  const enum spate_error error =
      spate_stream_arm_longest(stream, clip, 1, stream->next_bytes >> SHORTEST_NEXT_SHIFT, arm_part_again);

  if (error == SPATE_OK) spate_recorder_event(stream, SPATE_EVENT_FRAGMENTED, clip->file.reserved_bytes);
  return error;
}

/* Clips that are about to close. */
struct ending {
  bool any;          /* a close frees a block of the volume's cache */
  bool returns_room; /* one has reserved clusters that its file does not need */
};

static bool clip_returns_room(const struct spate_stream_clip *clip) {
  const uint64_t file_bytes = clip->capped ? clip->cap_bytes : clip->progress.pushed_bytes;

  return file_bytes + clip->file.volume->cluster_mask < clip->file.reserved_bytes;
}

static struct ending clips_ending(const struct spate_recorder *recorder) {
  struct ending ending = {.any = false};

  for (uint32_t i = 0; i < recorder->stream_count; i++)
    for (unsigned j = 0; j < 2; j++) {
      const struct spate_stream_clip *clip = &recorder->streams[i]->clips[j];
      if (clip->state != CLIP_ENDING) continue;
      ending.any = true;
      ending.returns_room |= clip_returns_room(clip);
    }
  return ending;
}

/* push returns `error` once the current clip is full. FULL would tell the caller to wait, so it becomes MEMORY. */
static void no_next_part(struct spate_stream *stream, enum spate_error error) {
  if (error == SPATE_E_FULL) {
    spate_port_log("recorder: the volume's cache has no block for the next file; blocks that it needs",
                   stream->recorder->volume->block_count + 1u);
    error = SPATE_E_MEMORY;
  }
  stream->volume_ended = true;
  stream->end_reason = error;
  if (error == SPATE_E_NO_SPACE) {
    spate_recorder_event(stream, SPATE_EVENT_VOLUME_ENDS, spate_stream_left_bytes(stream));
    return;
  }
  if (stream->error == SPATE_OK) stream->error = error;
  spate_recorder_event(stream, SPATE_EVENT_ERROR, (uint64_t)error);
}

/* Arm the next clip when half of the current reservation is used, so that the program learns early that the volume is
 * full. */
static void arm_next(struct spate_stream *stream) {
  struct spate_stream_clip *now = stream->current;

  if (stream->next_bytes == 0 || stream->volume_ended || now == NULL || stream->following != NULL) return;
  if (!now->capped && !stream->cut_wanted && now->progress.pushed_bytes < now->file.reserved_bytes >> 1) return;
  struct spate_stream_clip *clip = spate_stream_free_clip(stream);
  if (clip == NULL) {
    /* The previous clip is still closing, or could not be closed. */
    if (spate_stream_other_clip(now)->state == CLIP_STUCK) no_next_part(stream, spate_stream_other_clip(now)->error);
    return;
  }

  enum spate_error error = arm_next_part(stream, clip, stream->next_bytes);
  const struct ending ending = clips_ending(stream->recorder);
  const bool no_room = error == SPATE_E_FRAGMENTED || error == SPATE_E_NO_SPACE;
  if (no_room && !ending.returns_room) error = arm_shorter_part(stream, clip);
  if (error == SPATE_OK) {
    stream->cut_wanted = false;
    return;
  }
  if (error != SPATE_E_NAMES) stream->part--; /* the name was not used: the next attempt uses it */
  /* A change that stopped half-way ends all further ones. */
  const bool may_again = stream->recorder->volume->failed == SPATE_OK;
  const bool again = (error == SPATE_E_POWER_LOST && may_again) || error == SPATE_E_BUSY ||
                     (error == SPATE_E_FULL && ending.any) || (no_room && ending.returns_room);
  if (!again) no_next_part(stream, error);
}

enum spate_error spate_stream_prepare_cut(struct spate_stream *stream) {
  if (stream->current == NULL || stream->next_bytes == 0) return SPATE_E_STATE;
  if (stream->following == NULL && stream->volume_ended) return stream->end_reason;
  stream->cut_wanted = stream->following == NULL;
  return stream->cut_wanted ? SPATE_E_BUSY : SPATE_OK;
}

void spate_stream_roll_over(struct spate_stream *stream, uint64_t bytes,
                            bool (*next_path)(void *context, struct spate_stream *stream, uint32_t part, char *path)) {
  stream->next_bytes = bytes;
  stream->next_path = next_path;
  stream->arm_next = arm_next;
  stream->volume_ended = false;
}
