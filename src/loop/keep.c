/* SPDX-License-Identifier: Apache-2.0 */
/* The loop itself: the oldest part is deleted before the next one is armed. */
#include "internal.h"
#include <spate/port.h>

/* Would one more part be more than is to be kept? What a span keeps does not count. */
static bool is_full(const struct spate_loop *loop) {
  uint64_t bytes = loop->config.part_bytes;

  if (loop->count == loop->config.part_count) return true;
  if (loop->config.keep_bytes == 0) return false;
  for (uint32_t i = 0; i < loop->count; i++) {
    const struct spate_loop_part *part = &loop->config.parts[i];
    if (!spate_loop_span_has(loop, part->number))
      bytes += part->state == PART_CLOSED ? part->bytes : loop->config.part_bytes;
  }
  return bytes > loop->config.keep_bytes;
}

static bool is_old(const struct spate_loop *loop, const struct spate_loop_part *part) {
  const uint64_t keep_ms = loop->config.keep_ms;

  return keep_ms > 0 && spate_port_ticks() - part->closed_ticks > spate_loop_ticks(keep_ms);
}

/* Only what this loop made, and what nobody has protected. */
static enum spate_error delete_part(struct spate_loop *loop, const struct spate_loop_part *part, bool *deleted) {
  char path[SPATE_RECORDER_PATH_BYTES_MAX];
  struct spate_exfat_entry entry;
  bool is;
  enum spate_error error = spate_loop_part_look(loop, part, &entry, &is);

  *deleted = false;
  if (error != SPATE_OK) return error;
  spate_loop_part_path(loop, part->number, path);
  if (is) error = spate_exfat_delete_untrimmed(loop_volume(loop), path);
  *deleted = is && error == SPATE_OK;
  if (!*deleted && (error == SPATE_OK || error == SPATE_E_PROTECTED)) {
    spate_loop_event(loop, SPATE_LOOP_LEFT, path, 0);
    return SPATE_OK;
  }
  return error;
}

static enum spate_error delete_oldest(struct spate_loop *loop, const struct spate_loop_part *part) {
  const uint32_t number = part->number;
  const uint64_t bytes = part->bytes;
  const bool should_stay = !is_full(loop) && !is_old(loop, part);
  char path[SPATE_RECORDER_PATH_BYTES_MAX];
  bool deleted;
  enum spate_error error = delete_part(loop, part, &deleted);

  if (error == SPATE_E_BUSY || error == SPATE_E_POWER_LOST) return SPATE_OK; /* it is tried again */
  spate_loop_part_drop(loop, number); /* also after an error: it would come again and again */
  if (!deleted) return error;
  loop->counters.deleted++;
  loop->wants_room = false;
  loop->error = SPATE_OK;
  spate_loop_part_path(loop, number, path);
  if (should_stay) spate_loop_event(loop, SPATE_LOOP_SHORT, path, bytes);
  return SPATE_OK;
}

enum spate_error spate_loop_make_room(struct spate_loop *loop) {
  const struct spate_loop_part *part = spate_loop_span_spares(loop);
  const uint32_t count = loop->count;

  if (part == NULL) return SPATE_E_NO_SPACE;
  enum spate_error error = delete_oldest(loop, part);
  return error == SPATE_OK && loop->count == count ? SPATE_E_BUSY : error;
}

/* ---- the next part ---- */

static enum spate_error enter(struct spate_loop *loop, const char *path) {
  const struct spate_stream *stream = loop->config.stream;
  const struct spate_stream_clip *clip = stream->following != NULL ? stream->following : stream->current;
  struct spate_loop_part part = {
      .number = loop->next_number, .first_cluster = clip->file.first_cluster, .state = PART_ARMED};
  const uint64_t ticks = spate_port_ticks() - loop->unarmed_ticks;
  struct spate_exfat_entry entry;

  loop->armed = part.number;
  loop->error = SPATE_OK;
  loop->wants_room = false;
  loop->next_number++;
  loop->counters.parts++;
  if (ticks > loop->counters.arm_ticks_max) loop->counters.arm_ticks_max = ticks;
  enum spate_error error = spate_exfat_stat(loop_volume(loop), path, &entry);
  if (error == SPATE_OK) part.created = entry.created;
  (void)spate_loop_part_add(loop, &part); /* there is room: spate_loop_keep() */
  return error == SPATE_OK ? spate_loop_list_part(loop, &part) : error;
}

/* There is no next part for now. What is missing may come: a second later it is tried again. */
static enum spate_error fail(struct spate_loop *loop, enum spate_error error) {
  loop->error = error;
  loop->failed_ticks = spate_port_ticks();
  return SPATE_OK;
}

static enum spate_error arm_next(struct spate_loop *loop) {
  char path[SPATE_RECORDER_PATH_BYTES_MAX];

  if (loop->next_number > LOOP_NUMBER_MAX) return fail(loop, SPATE_E_NAMES);
  spate_loop_part_path(loop, loop->next_number, path);
  enum spate_error error = spate_stream_arm(loop->config.stream, path, loop->config.part_bytes);
  switch (error) {
  case SPATE_OK: return enter(loop, path);
  case SPATE_E_EXISTS: loop->next_number++; return SPATE_OK;
  case SPATE_E_BUSY:
  case SPATE_E_POWER_LOST: return SPATE_OK; /* it is tried again */
  case SPATE_E_NO_SPACE:
  case SPATE_E_FRAGMENTED: loop->wants_room = true; break;
  default: break;
  }
  return fail(loop, error);
}

/* ---- */

enum spate_error spate_loop_keep(struct spate_loop *loop, bool *did) {
  const enum spate_error can = loop->armed == 0 ? spate_stream_can_arm(loop->config.stream) : SPATE_E_BUSY;
  const bool again = spate_port_ticks() - loop->failed_ticks >= spate_port_ticks_per_second();
  const struct spate_loop_part *part = spate_loop_span_spares(loop);

  *did = true;
  const bool needs_room = loop->wants_room || (can == SPATE_OK && is_full(loop));
  if (part != NULL && (needs_room || is_old(loop, part))) return delete_oldest(loop, part);
  if (can == SPATE_OK && loop->count < loop->config.part_count && (loop->error == SPATE_OK || again))
    return arm_next(loop);
  *did = false;
  return can == SPATE_OK || can == SPATE_E_BUSY ? SPATE_OK : fail(loop, can);
}
