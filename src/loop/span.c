/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trigger keeps. A span is open until its end comes. Then the part that is streamed into is cut, and is the last
 * one of the span. Meanwhile the parts before it are moved into a folder that has the file's name, one a step. When all
 * are there, the folder becomes the file.
 *
 * The list says which parts belong to a span before the first one is moved, so that after a power cut the next open
 * deletes none of them.
 */
#include "internal.h"
#include <spate/port.h>

static bool holds(const struct spate_loop_span *span, uint32_t number) {
  if (span->state == SPAN_NONE || number < span->first) return false;
  return span->state == SPAN_OPEN || number <= span->last;
}

bool spate_loop_span_has(const struct spate_loop *loop, uint32_t number) {
  for (uint32_t i = 0; i < SPATE_LOOP_SPANS; i++)
    if (holds(&loop->spans[i], number)) return true;
  return false;
}

const struct spate_loop_part *spate_loop_span_spares(const struct spate_loop *loop) {
  for (uint32_t i = 0; i < loop->count; i++) {
    const struct spate_loop_part *part = &loop->config.parts[i];
    if (part->state == PART_CLOSED && !spate_loop_span_has(loop, part->number)) return part;
  }
  return NULL;
}

bool spate_loop_next_comes(const struct spate_loop *loop) {
  if (loop->error == SPATE_OK) return true;
  for (uint32_t i = 0; loop->wants_room && i < loop->count; i++) {
    const struct spate_loop_part *part = &loop->config.parts[i];
    const bool ended = part->state == PART_ENDING || part->state == PART_CLOSED;
    if (ended && !spate_loop_span_has(loop, part->number)) return true;
  }
  return false;
}

static uint32_t span_count(const struct spate_loop *loop) {
  uint32_t count = 0;

  while (count < SPATE_LOOP_SPANS && loop->spans[count].state != SPAN_NONE)
    count++;
  return count;
}

bool spate_loop_keeps(const struct spate_loop *loop) { return loop->spans[0].state != SPAN_NONE; }

/* ---- trigger ---- */

/* The first of the parts that follow each other without a gap up to the present one, and that were recorded since. */
static uint32_t first_since(const struct spate_loop *loop, uint64_t before_ticks) {
  const uint64_t now_ticks = spate_port_ticks();
  uint32_t first = loop->streaming;

  for (uint32_t i = loop->count; i-- > 0;) {
    const struct spate_loop_part *part = &loop->config.parts[i];
    if (part->number >= loop->streaming) continue;
    if (part->number < loop->first_number) break;
    if (part->state == PART_CLOSED && now_ticks - part->closed_ticks > before_ticks) break;
    if (part->state == PART_CLOSED && part->bytes != loop->config.part_bytes) break; /* data are missing after it */
    first = part->number;
  }
  return first;
}

/* Is there no free cluster? Otherwise NO_SPACE means something that no deletion helps against. */
static bool has_no_cluster(struct spate_loop *loop) {
  uint64_t lba, blocks;

  return spate_exfat_free_run(loop_volume(loop), 0, &lba, &blocks) == SPATE_OK && blocks == 0;
}

static bool copy_path(char *to, const char *from) {
  const size_t bytes = strlen(from) + 1u;

  if (bytes > SPATE_LOOP_PATH_BYTES_MAX) return false;
  memcpy(to, from, bytes);
  return true;
}

enum spate_error spate_loop_span_begin(struct spate_loop *loop, const char *path, uint64_t before_ms, uint64_t after_ms,
                                       bool *extended) {
  const uint32_t count = span_count(loop);
  const uint64_t end_ticks = spate_port_ticks() + spate_loop_ticks(after_ms);
  const bool open = count > 0 && loop->spans[count - 1u].state == SPAN_OPEN;

  if (extended != NULL) *extended = false;
  if (loop->streaming == 0) return SPATE_E_STATE;
  if (open && loop->spans[count - 1u].ending) return SPATE_E_BUSY;
  if (open) {
    if (extended != NULL) *extended = true;
    struct spate_loop_span *span = &loop->spans[count - 1u];
    if (end_ticks > span->end_ticks) span->end_ticks = end_ticks;
    return SPATE_OK;
  }
  if (count == SPATE_LOOP_SPANS) return SPATE_E_BUSY;
  struct spate_loop_span span = {.state = SPAN_OPEN,
                                 .first = first_since(loop, spate_loop_ticks(before_ms)),
                                 .end_ticks = end_ticks,
                                 .part_bytes = loop->config.part_bytes};
  if (!copy_path(span.path, path)) return SPATE_E_NAME_LONG;
  enum spate_error error = spate_exfat_mkdir(loop_volume(loop), path);
  if (error == SPATE_E_NO_SPACE && has_no_cluster(loop)) loop->wants_room = true;
  if (error != SPATE_OK) return error;
  loop->spans[count] = span;
  error = spate_loop_list_span(loop, count);
  if (error != SPATE_OK) loop->spans[count].state = SPAN_NONE; /* an empty folder stays */
  return error;
}

/* ---- the end ---- */

static enum spate_error end_span(struct spate_loop *loop, uint32_t index, uint32_t last) {
  struct spate_loop_span *span = &loop->spans[index];

  span->state = SPAN_ENDED;
  span->last = last;
  loop->first_number = last + 1u;
  return spate_loop_list_span(loop, index);
}

static enum spate_error cut(struct spate_loop *loop, uint32_t index) {
  struct spate_stream *stream = loop->config.stream;
  const uint32_t last = loop->streaming;
  const bool has_data = spate_stream_progress(stream).pushed_bytes > 0;

  if (!has_data && last > loop->spans[index].first)
    return end_span(loop, index, last - 1u); /* the part before it was full: nothing is to be cut */
  if (!has_data) return SPATE_OK;            /* a slow source: the span ends with its first piece */
  enum spate_error error = spate_stream_cut(stream);
  return error == SPATE_OK ? end_span(loop, index, last) : error;
}

/* Has a part of the span ended since the span should have? Its number; 0: none. */
static uint32_t ended_since(const struct spate_loop *loop, const struct spate_loop_span *span) {
  for (uint32_t i = 0; i < loop->count; i++) {
    const struct spate_loop_part *part = &loop->config.parts[i];
    const bool ended = part->state == PART_ENDING || part->state == PART_CLOSED;
    if (ended && holds(span, part->number) && (int64_t)(part->end_ticks - span->end_ticks) >= 0) return part->number;
  }
  return 0;
}

static bool is_over(const struct spate_loop *loop) {
  const uint32_t count = span_count(loop);

  if (count == 0 || loop->streaming == 0) return false;
  const struct spate_loop_span *span = &loop->spans[count - 1u];
  return span->state == SPAN_OPEN && (int64_t)(spate_port_ticks() - span->end_ticks) >= 0;
}

static bool has_data(const struct spate_loop *loop) {
  return loop->spans[span_count(loop) - 1u].first != loop->streaming ||
         spate_stream_progress(loop->config.stream).pushed_bytes > 0;
}

static bool goes_on(const struct spate_loop *loop) { return loop->armed != 0 || spate_loop_next_comes(loop); }

bool spate_loop_is_due(const struct spate_loop *loop) { return is_over(loop) && has_data(loop) && goes_on(loop); }

/* What the program still has belongs to the span. If no next part comes, nobody waits for it: the program holds other
 * data back until the cut. */
static bool may_end(struct spate_loop *loop, bool *waits) {
  struct spate_loop_span *span = &loop->spans[span_count(loop) - 1u];

  *waits = loop->config.may_end != NULL && goes_on(loop);
  if (!*waits) return true;
  if (loop->armed == 0) return false;
  const bool may = loop->config.may_end(loop->config.context, loop);
  span->ending |= !may || has_data(loop);
  return may;
}

/* The cut needs a next part. Without one, the end of a part does. */
enum spate_error spate_loop_span_due(struct spate_loop *loop) {
  const uint32_t count = span_count(loop);
  bool waits;

  if (!is_over(loop) || !may_end(loop, &waits)) return SPATE_OK;
  const uint32_t last = waits ? 0 : ended_since(loop, &loop->spans[count - 1u]);
  if (last != 0) return end_span(loop, count - 1u, last);
  return loop->armed != 0 ? cut(loop, count - 1u) : SPATE_OK;
}

/* Data are missing in the span: it is no file. */
static void mark_broken(struct spate_loop_span *span) {
  span->unlisted |= !span->broken;
  span->broken = true;
}

void spate_loop_span_gap(struct spate_loop *loop) {
  const uint32_t count = span_count(loop);

  if (count > 0 && loop->spans[count - 1u].state == SPAN_OPEN) mark_broken(&loop->spans[count - 1u]);
}

/* After a restart nobody would see a gap in the folder. So the list says it, and no part is moved before. If it cannot
 * be written, that is tried again after a second. */
static enum spate_error list_gaps(struct spate_loop *loop) {
  const uint64_t now_ticks = spate_port_ticks();

  for (uint32_t i = 0; i < SPATE_LOOP_SPANS; i++) {
    if (!loop->spans[i].unlisted) continue;
    if (loop->list_failed_ticks != 0 && now_ticks - loop->list_failed_ticks < spate_port_ticks_per_second()) break;
    enum spate_error error = spate_loop_list_span(loop, i);
    loop->list_failed_ticks = error == SPATE_OK ? 0 : now_ticks;
    loop->spans[i].unlisted = error != SPATE_OK;
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

void spate_loop_span_lost(struct spate_loop *loop, uint32_t number) {
  if (loop->first_number <= number) loop->first_number = number + 1u;
  for (uint32_t i = 0; i < SPATE_LOOP_SPANS; i++)
    if (holds(&loop->spans[i], number)) mark_broken(&loop->spans[i]);
}

enum spate_error spate_loop_span_end(struct spate_loop *loop) {
  const uint32_t count = span_count(loop);

  if (count == 0 || loop->spans[count - 1u].state != SPAN_OPEN) return SPATE_OK;
  const struct spate_loop_span *span = &loop->spans[count - 1u];
  uint32_t last = span->gap != 0 ? span->gap : loop->next_number - 1u;
  if (loop->count > 0 && loop->config.parts[loop->count - 1u].number >= span->first)
    last = loop->config.parts[loop->count - 1u].number;
  return end_span(loop, count - 1u, last);
}

/* ---- parts into the folder ---- */

/* "LOOP_00000001.RAW" in the folder of the span. */
static bool moved_path(const struct spate_loop_span *span, const char *part_path, char *path) {
  const char *name = part_path;
  const size_t folder = strlen(span->path);

  for (const char *at = part_path; *at != '\0'; at++)
    if (*at == '/') name = at + 1;
  if (folder + 1u + strlen(name) + 1u > SPATE_RECORDER_PATH_BYTES_MAX) return false;
  memcpy(path, span->path, folder);
  path[folder] = '/';
  memcpy(path + folder + 1u, name, strlen(name) + 1u);
  return true;
}

/* The next part of the span that is not in the folder yet; NULL: there is none now. */
static struct spate_loop_part *next_to_move(const struct spate_loop *loop, const struct spate_loop_span *span) {
  for (uint32_t i = 0; i < loop->count; i++) {
    struct spate_loop_part *part = &loop->config.parts[i];
    if (!holds(span, part->number)) continue;
    return part->state == PART_CLOSED ? part : NULL; /* in order: those after it wait for it */
  }
  return NULL;
}

static bool has_parts_left(const struct spate_loop *loop, const struct spate_loop_span *span) {
  for (uint32_t i = 0; i < loop->count; i++)
    if (holds(span, loop->config.parts[i].number)) return true;
  return false;
}

/* Data are missing after a part that is not full, unless it is the last. */
static void note_gap(struct spate_loop_span *span, uint32_t number, uint64_t bytes) {
  const bool is_last = span->state == SPAN_ENDED && number == span->last;

  if (span->gap != 0 && number > span->gap) mark_broken(span);
  if (span->gap != 0 || bytes == span->part_bytes) return;
  span->gap = number;
  span->unlisted |= !is_last;
}

/* At the end of the stream nobody waits for a list that cannot be written. */
static bool must_be_listed(const struct spate_loop *loop, const struct spate_loop_span *span) {
  return span->unlisted && spate_stream_active(loop->config.stream);
}

/* A part of an interrupted recording may be empty; it is only deleted. One that is missing is a gap. */
static enum spate_error move(struct spate_loop *loop, struct spate_loop_span *span,
                             const struct spate_loop_part *part) {
  const uint32_t number = part->number;
  char from[SPATE_RECORDER_PATH_BYTES_MAX], to[SPATE_RECORDER_PATH_BYTES_MAX];
  struct spate_exfat_entry entry;
  bool is;
  enum spate_error error = spate_loop_part_look(loop, part, &entry, &is);

  if (error == SPATE_E_BUSY) return error;
  spate_loop_part_path(loop, number, from);
  if (error == SPATE_OK && !is) mark_broken(span);
  if (error == SPATE_OK && is) note_gap(span, number, entry.bytes);
  if (error == SPATE_OK && must_be_listed(loop, span)) return SPATE_OK;
  if (error == SPATE_OK && is && entry.bytes == 0)
    error = spate_exfat_delete_untrimmed(loop_volume(loop), from);
  else if (error == SPATE_OK && is)
    error = moved_path(span, from, to) ? spate_exfat_rename(loop_volume(loop), from, to) : SPATE_E_NAME_LONG;
  if (error == SPATE_E_BUSY || error == SPATE_E_POWER_LOST) return SPATE_E_BUSY; /* it is tried again */
  if (error == SPATE_E_NO_SPACE && has_no_cluster(loop) && spate_loop_span_spares(loop) != NULL) return error;
  if (error != SPATE_OK) mark_broken(span);
  spate_loop_part_drop(loop, number);
  return error;
}

/* ---- the folder becomes a file ---- */

static enum spate_error take_out_oldest(struct spate_loop *loop) {
  enum spate_error error = SPATE_OK;

  for (uint32_t i = 0; i + 1u < SPATE_LOOP_SPANS; i++)
    loop->spans[i] = loop->spans[i + 1u];
  loop->spans[SPATE_LOOP_SPANS - 1u] = (struct spate_loop_span){.state = SPAN_NONE};
  for (uint32_t i = 0; error == SPATE_OK && i < SPATE_LOOP_SPANS; i++)
    error = spate_loop_list_span(loop, i);
  return error;
}

/* The oldest span is done. What remains of it is its file, or its folder if there are parts in it. */
static enum spate_error finish(struct spate_loop *loop, enum spate_error why) {
  struct spate_exfat_entry entry;
  char path[SPATE_LOOP_PATH_BYTES_MAX];
  enum spate_error removed = SPATE_E_NOT_EMPTY;
  const bool broken = loop->spans[0].broken;

  memcpy(path, loop->spans[0].path, sizeof path);
  loop->joining = false;
  const enum spate_error looked = spate_exfat_stat(loop_volume(loop), path, &entry);
  if (looked == SPATE_OK && entry.directory) removed = spate_exfat_delete_untrimmed(loop_volume(loop), path);
  if (looked == SPATE_E_BUSY || removed == SPATE_E_BUSY) return SPATE_E_BUSY;
  const enum spate_error error = take_out_oldest(loop);
  if (looked == SPATE_E_NOT_FOUND) return error; /* somebody has removed it */
  if (looked == SPATE_OK && !entry.directory)
    spate_loop_event(loop, SPATE_LOOP_KEPT, path, entry.bytes);
  else if (removed == SPATE_OK)
    spate_loop_event(loop, SPATE_LOOP_NOTHING, path, (uint64_t)(broken ? why : SPATE_OK));
  else
    spate_loop_event(loop, SPATE_LOOP_FOLDER, path, (uint64_t)why);
  return error;
}

/* Does the folder have parts of the span only, one after the other? Whoever puts a file of his own there keeps it. */
static enum spate_error check_folder(struct spate_loop *loop, const struct spate_loop_span *span) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  uint32_t before = 0;
  bool more = true;
  enum spate_error error = spate_exfat_list(loop_volume(loop), span->path, &directory);

  while (error == SPATE_OK && more) {
    error = spate_exfat_list_next(&directory, &entry, &more);
    if (error != SPATE_OK || !more) break;
    const uint32_t number = spate_loop_part_number(loop, entry.name);
    if (number <= before || number < span->first) return SPATE_E_INVALID; /* after a restart the last one is unknown */
    before = number;
  }
  return error;
}

static enum spate_error join(struct spate_loop *loop, struct spate_loop_span *span) {
  bool more = false;
  enum spate_error error = SPATE_OK;

  if (span->broken || (span->gap != 0 && span->gap < span->last)) return finish(loop, SPATE_E_NOT_FOUND);
  if (!loop->joining) {
    error = check_folder(loop, span);
    if (error == SPATE_OK) error = spate_exfat_join_begin_placed(loop_volume(loop), &loop->join, span->path);
    loop->joining = error == SPATE_OK;
    if (error == SPATE_OK || error == SPATE_E_BUSY) return error;
    return error == SPATE_E_IN_USE ? SPATE_E_BUSY
                                   : finish(loop, error); /* another loop of the volume joins its parts */
  }
  error = spate_exfat_join_work(&loop->join, &more);
  if (error == SPATE_E_BUSY || more) return error;
  return finish(loop, error);
}

enum spate_error spate_loop_span_work(struct spate_loop *loop, bool *did) {
  const uint32_t count = span_count(loop);
  struct spate_loop_span *span = &loop->spans[0];

  *did = true;
  enum spate_error error = list_gaps(loop);
  if (error != SPATE_OK) return error;
  if (count > 0 && !must_be_listed(loop, span)) {
    const struct spate_loop_part *part = next_to_move(loop, span);
    if (part != NULL) return move(loop, span, part);
    if (span->state == SPAN_ENDED && !has_parts_left(loop, span)) return join(loop, span);
  }
  *did = false;
  return SPATE_OK;
}
