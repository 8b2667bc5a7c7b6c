/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files begin and end here. These functions wait for metadata; the device's while_waiting hook keeps all streams
 * flowing meanwhile.
 */
#include "internal.h"
#include <spate/port.h>
#include <string.h>

#define NAMES_ASKED_MAX     16u /* of next_path */
#define DIGITS_MIN          4u
#define SHORTEST_NEXT_SHIFT 4u /* a next clip shorter than a sixteenth of what was asked for is not worth a file */

static struct spate_stream_clip *free_slot(struct spate_stream *stream) {
  for (unsigned i = 0; i < 2; i++)
    if (stream->clips[i].state == CLIP_EMPTY) return &stream->clips[i];
  return NULL;
}

static struct spate_stream_clip *other_clip(struct spate_stream_clip *clip) {
  return clip == &clip->stream->clips[0] ? &clip->stream->clips[1] : &clip->stream->clips[0];
}

static bool copy_path(char *to, const char *from) {
  for (uint32_t i = 0; i < SPATE_RECORDER_PATH_BYTES_MAX; i++) {
    to[i] = from[i];
    if (from[i] == '\0') return true;
  }
  return false;
}

static enum spate_error arm(struct spate_stream *stream, struct spate_stream_clip *clip, uint64_t bytes) {
  clip->state = CLIP_ARMING; /* pushes may come while this waits, and must not use the clip yet */
  spate_progress_begin(clip);
  struct spate_exfat_chunks chunks = {.chunk_bytes = stream->config.chunk_bytes,
                                      .first_number = stream->counters.pushed_pieces};
  memcpy(chunks.stream, stream->config.chunk_stream, sizeof chunks.stream);
  enum spate_error error = spate_exfat_arm_chunks(stream->recorder->volume, &clip->file, clip->path, bytes,
                                                  chunks.chunk_bytes > 0 ? &chunks : NULL);
  if (error != SPATE_OK) {
    clip->state = CLIP_EMPTY;
    return error;
  }
  clip->stream = stream;
  clip->error = SPATE_OK;
  clip->capped = false;
  clip->rolled = false;
  clip->last_pushed = false;
  clip->order = stream->arms++;
  clip->state = CLIP_ARMED;
  if (stream->current == NULL)
    stream->current = clip;
  else
    stream->following = clip;
  return SPATE_OK;
}

static uint32_t streams_without_clip(const struct spate_recorder *recorder) {
  uint32_t count = 0;

  for (uint32_t i = 0; i < recorder->stream_count; i++)
    count += spate_stream_active(recorder->streams[i]) ? 0u : 1u;
  return count;
}

enum spate_error spate_stream_arm(struct spate_stream *stream, const char *path, uint64_t bytes) {
  struct spate_stream_clip *clip = free_slot(stream);

  if (path == NULL) return SPATE_E_INVALID;
  if (!spate_recorder_is_open(stream->recorder)) return SPATE_E_STATE;
  if (clip == NULL || (stream->current != NULL && stream->following != NULL)) return SPATE_E_STATE;
  if (!copy_path(clip->path, path)) return SPATE_E_NAME_LONG;
  enum spate_error end_reason = SPATE_E_RESERVATION;
  if (bytes == 0) {
    uint32_t shares = streams_without_clip(stream->recorder) + (spate_stream_active(stream) ? 1u : 0u);
    enum spate_error error = spate_exfat_longest_free(stream->recorder->volume, shares, &bytes);
    if (error != SPATE_OK) return error;
    if (bytes == 0) return SPATE_E_NO_SPACE;
    if (shares == 1) end_reason = SPATE_E_NO_SPACE; /* it has the longest free run of the volume */
  }
  bool first = !spate_stream_active(stream);
  enum spate_error error = arm(stream, clip, bytes);
  if (error != SPATE_OK) return error;
  if (first) stream->error = SPATE_OK;
  (void)copy_path(stream->base_path, path); /* it fitted above */
  stream->part = 1;
  stream->end_reason = end_reason;
  stream->volume_ended = false;
  return SPATE_OK;
}

static uint32_t digits_of(uint32_t part) {
  uint32_t digits = DIGITS_MIN;

  for (part /= 10000u; part > 0; part /= 10u)
    digits++;
  return digits;
}

/* "DIR/CLIP.RAW", 2 → "DIR/CLIP_0002.RAW". False if it does not fit. */
static bool part_path(char *to, const char *base, uint32_t part) {
  uint32_t dot = UINT32_MAX;
  uint32_t length = 0;

  for (; base[length] != '\0'; length++) {
    if (base[length] == '/')
      dot = UINT32_MAX;
    else if (base[length] == '.')
      dot = length;
  }
  if (dot == UINT32_MAX) dot = length;
  uint32_t digits = digits_of(part);
  if (length + digits + 2u > SPATE_RECORDER_PATH_BYTES_MAX) return false;
  for (uint32_t i = 0; i < dot; i++)
    to[i] = base[i];
  to[dot] = '_';
  for (uint32_t digit = digits; digit > 0; digit--, part /= 10u)
    to[dot + digit] = (char)('0' + part % 10u);
  for (uint32_t i = dot; i <= length; i++)
    to[i + digits + 1u] = base[i];
  return true;
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
    if (!stream->config.next_path(stream->recorder->config.context, stream, ++stream->part, clip->path))
      return SPATE_E_NAMES;
    error = arm(stream, clip, bytes);
  }
  return error == SPATE_E_EXISTS ? SPATE_E_NAMES : error;
}

static enum spate_error arm_next_part(struct spate_stream *stream, struct spate_stream_clip *clip, uint64_t bytes) {
  if (stream->config.next_path != NULL) return arm_named_part(stream, clip, bytes);
  if (stream->part == UINT32_MAX || !part_path(clip->path, stream->base_path, stream->part + 1u)) return SPATE_E_NAMES;
  stream->part++;
  enum spate_error error = arm(stream, clip, bytes);
  if (error != SPATE_E_EXISTS) return error;
  error = pass_taken_parts(stream, clip->path);
  return error == SPATE_OK ? arm(stream, clip, bytes) : error;
}

/* No free run has the configured length: arm the longest one, if that is worth a file. */
static enum spate_error arm_shorter_part(struct spate_stream *stream, struct spate_stream_clip *clip) {
  uint64_t longest_bytes = 0;
  enum spate_error error = spate_exfat_longest_free(stream->recorder->volume, 1, &longest_bytes);

  if (error != SPATE_OK) return error;
  if (longest_bytes == 0 || longest_bytes < stream->config.next_bytes >> SHORTEST_NEXT_SHIFT) return SPATE_E_NO_SPACE;
  stream->part--; /* the name was not used */
  error = arm_next_part(stream, clip, longest_bytes);
  if (error == SPATE_OK) spate_recorder_event(stream, SPATE_EVENT_FRAGMENTED, clip->file.reserved_bytes);
  return error;
}

/* Is a clip about to close, which will make room for another one? */
static bool room_is_coming(const struct spate_recorder *recorder) {
  for (uint32_t i = 0; i < recorder->stream_count; i++)
    for (unsigned j = 0; j < 2; j++)
      if (recorder->streams[i]->clips[j].state == CLIP_ENDING) return true;
  return false;
}

/* push answers `error` once the current clip is full. FULL would tell the caller to wait, so it becomes MEMORY. */
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
void spate_stream_arm_next(struct spate_stream *stream) {
  struct spate_stream_clip *now = stream->current;

  if (stream->config.next_bytes == 0 || stream->volume_ended || now == NULL || stream->following != NULL) return;
  if (!now->capped && now->progress.pushed_bytes < now->file.reserved_bytes >> 1) return;
  struct spate_stream_clip *clip = free_slot(stream);
  if (clip == NULL) {
    /* The previous clip is still closing, or could not be closed. */
    if (other_clip(now)->state == CLIP_STUCK) no_next_part(stream, other_clip(now)->error);
    return;
  }

  enum spate_error error = arm_next_part(stream, clip, stream->config.next_bytes);
  const bool wait = room_is_coming(stream->recorder);
  const bool no_room = error == SPATE_E_FRAGMENTED || error == SPATE_E_NO_SPACE;
  if (no_room && !wait) error = arm_shorter_part(stream, clip);
  if (error == SPATE_OK) return;
  /* A change that stopped half-way ends all further ones. */
  const bool may_again = stream->recorder->volume->failed == SPATE_OK;
  if ((error == SPATE_E_POWER_LOST && may_again) || error == SPATE_E_BUSY ||
      ((error == SPATE_E_FULL || no_room) && wait))
    stream->part--; /* try again, with this name */
  else
    no_next_part(stream, error);
}

static bool may_close(struct spate_stream_clip *clip) {
  const struct spate_stream_clip *other = other_clip(clip);
  /* The older clip closes first: the flush of a close then covers every piece before the clip's end. */
  bool older = other->state == CLIP_ENDING && (int32_t)(other->order - clip->order) < 0;
  /* The drive lost power while the other clip was closing, and this is not dealt with yet: pieces may be gone. */
  bool lost = clip->stream->losses_seen != clip->stream->recorder->block->power_losses;

  /* Its length is on its way to the volume: closing would wait for that. */
  bool publishing = clip->stream->recorder->checkpoint == CHECKPOINT_PUBLISHING && clip->snapshot_bytes > 0;

  return clip->state == CLIP_ENDING && clip->outstanding == 0 && !publishing && !older && !lost;
}

static void closed(struct spate_stream_clip *clip, uint64_t bytes) {
  struct spate_stream *stream = clip->stream;

  spate_transfer_flushed(stream, clip->end);
  clip->state = CLIP_EMPTY;
  if (clip->rolled) spate_recorder_event(stream, SPATE_EVENT_ROLLED_OVER, bytes);
  spate_recorder_event(stream, bytes > 0 ? SPATE_EVENT_CLIP_CLOSED : SPATE_EVENT_CLIP_DISCARDED, bytes);
}

void spate_stream_clip_close_ended(struct spate_recorder *recorder, struct spate_stream_clip *clip) {
  if (!may_close(clip)) return;
  uint64_t bytes = clip->progress.completed_bytes;
  clip->state = CLIP_CLOSING;
  /* A clip without data leaves no file. */
  enum spate_error error = bytes == 0 ? spate_exfat_discard(&clip->file) : spate_exfat_close(&clip->file, bytes);
  clip->snapshot_bytes = 0;       /* a checkpoint that is under way has nothing to publish for it */
  spate_progress_published(clip); /* also where what comes after the final length failed */
  /* Then nothing of the clip has to be written again, whatever the drive loses. */
  if (bytes > 0 && clip->progress.published_bytes == bytes) spate_transfer_flushed(clip->stream, clip->end);
  if (error == SPATE_OK) {
    closed(clip, bytes);
  } else if (error == SPATE_E_BUSY || error == SPATE_E_POWER_LOST) {
    clip->state =
        CLIP_ENDING; /* what was published stays; what is still in memory is written again, and then it closes */
  } else {
    clip->state = CLIP_STUCK;
    if (!clip->capped) clip->error = error;
    if (recorder->error == SPATE_OK) recorder->error = error;
  }
}

enum spate_error spate_stream_cut(struct spate_stream *stream) {
  if (stream->current == NULL) return SPATE_E_STATE;
  stream->current->end = stream->pushed;
  stream->current->state = CLIP_ENDING;
  stream->current = stream->following;
  stream->following = NULL;
  return SPATE_OK;
}

enum spate_error spate_stream_stop(struct spate_stream *stream) {
  enum spate_error error = spate_stream_cut(stream);

  if (error == SPATE_OK && stream->current != NULL) error = spate_stream_cut(stream);
  return error;
}

bool spate_stream_active(const struct spate_stream *stream) {
  for (unsigned i = 0; i < 2; i++)
    if (stream->clips[i].state != CLIP_EMPTY && stream->clips[i].state != CLIP_STUCK) return true;
  return false;
}
