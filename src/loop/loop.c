/* SPDX-License-Identifier: Apache-2.0 */
/* A loop from open to close, and its place in the recorder's turns. */
#include "internal.h"
#include <spate/port.h>

/* ---- open ---- */

static enum spate_error check(const struct spate_loop_config *config) {
  const struct spate_stream *stream = config->stream;
  const struct spate_exfat *volume = stream->recorder->volume;
  char path[SPATE_LOOP_PATH_BYTES_MAX];
  const size_t length = strlen(config->path);

  if (length + 1u + sizeof "_00000001" > sizeof path) return SPATE_E_NAME_LONG;
  if (config->part_count < SPATE_LOOP_PARTS_MIN || config->part_count > SPATE_LOOP_PARTS_MAX) return SPATE_E_INVALID;
  if (config->part_bytes > ((uint64_t)volume->cluster_count << volume->cluster_shift) / SPATE_LOOP_PARTS_MIN)
    return SPATE_E_INVALID;
  if (config->parts == NULL || config->memory == NULL || config->part_bytes == 0) return SPATE_E_INVALID;
  if ((config->part_bytes & volume->cluster_mask) != 0) return SPATE_E_INVALID;
  if (stream->config.chunk_bytes > 0 && config->part_bytes % stream->config.chunk_bytes != 0) return SPATE_E_INVALID;
  if (config->keep_bytes > 0 && config->keep_bytes / SPATE_LOOP_PARTS_MIN < config->part_bytes) return SPATE_E_INVALID;
  return spate_stream_active(stream) || stream->next_bytes > 0 ? SPATE_E_INVALID : SPATE_OK;
}

/* The folder of the loop: "" is the root. */
static void folder_of(const char *path, char *folder) {
  size_t end = 0;

  for (size_t i = 0; path[i] != '\0'; i++)
    if (path[i] == '/') end = i;
  memcpy(folder, path, end);
  folder[end] = '\0';
}

/* A file with the name of a part. One that the list does not name only takes the number. */
static enum spate_error find_part(struct spate_loop *loop, uint32_t number, const struct spate_exfat_entry *entry) {
  struct spate_loop_part part;
  bool listed;
  enum spate_error error = spate_loop_list_look(loop, number, &part, &listed);

  if (number >= loop->next_number) loop->next_number = number + 1u;
  if (error != SPATE_OK || !listed || !spate_loop_part_is(&part, entry)) return error;
  part.state = PART_CLOSED;
  part.bytes = entry->bytes;
  part.end_ticks = part.closed_ticks = spate_port_ticks();
  return spate_loop_part_add(loop, &part) ? SPATE_OK : SPATE_E_MEMORY;
}

/* One walk through the folder: which parts are there? */
static enum spate_error find_parts(struct spate_loop *loop) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  char folder[SPATE_LOOP_PATH_BYTES_MAX];
  bool more = true;

  folder_of(loop->config.path, folder);
  enum spate_error error = spate_exfat_list(loop_volume(loop), folder, &directory);
  while (error == SPATE_OK && more) {
    error = spate_exfat_list_next(&directory, &entry, &more);
    if (error == SPATE_E_CORRUPT && more) error = SPATE_OK; /* a damaged entry set has no name */
    if (error != SPATE_OK || !more || entry.name[0] == '\0') continue;
    const uint32_t number = spate_loop_part_number(loop, entry.name);
    if (number > 0) error = find_part(loop, number, &entry);
  }
  return error;
}

/* A span that was open ends with the last part that has data: the next one may have been armed already. */
static enum spate_error resume_spans(struct spate_loop *loop) {
  uint32_t last = 0;

  for (uint32_t i = 0; i < loop->count; i++)
    if (loop->config.parts[i].bytes > 0) last = loop->config.parts[i].number;
  for (uint32_t i = 0; i < SPATE_LOOP_SPANS; i++) {
    struct spate_loop_span *span = &loop->spans[i];
    if (span->state == SPAN_OPEN) span->last = last;
    if (span->state != SPAN_NONE && span->last >= loop->next_number && span->last < LOOP_NUMBER_MAX)
      loop->next_number = span->last + 1u;
    if (span->state == SPAN_OPEN) span->state = SPAN_ENDED;
    enum spate_error error = spate_loop_list_span(loop, i);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

static void clip_closed(void *context, const struct spate_stream_clip *clip, uint64_t bytes) {
  struct spate_loop *loop = context;

  loop->error = SPATE_OK; /* there may be room for a next part now */
  for (uint32_t i = 0; i < loop->count; i++) {
    struct spate_loop_part *part = &loop->config.parts[i];
    if (part->state == PART_CLOSED || part->first_cluster != clip->file.first_cluster) continue;
    part->state = PART_CLOSED;
    part->bytes = bytes;
    part->closed_ticks = spate_port_ticks();
    if (part->end_ticks == 0) part->end_ticks = part->closed_ticks;
    if (bytes < clip->progress.pushed_bytes) spate_loop_span_lost(loop, part->number);
    if (bytes == 0) spate_loop_part_drop(loop, part->number); /* its file is deleted */
    return;
  }
}

/* The stream has continued in the next part. */
static void look_at_stream(struct spate_loop *loop) {
  const struct spate_stream *stream = loop->config.stream;

  if (stream->current == loop->streaming_clip) return;
  struct spate_loop_part *left = spate_loop_part_find(loop, loop->streaming);
  if (left != NULL) {
    left->end_ticks = spate_port_ticks();
    if (left->state == PART_STREAMING) left->state = PART_ENDING;
  }
  /* After a stop, and after a piece that was refused: what came meanwhile is in no part. Where no part follows, nothing
   * is missing between parts. */
  if (stream->current != NULL && (loop->streaming_clip == NULL || loop->refused)) {
    loop->first_number = loop->armed;
    spate_loop_span_gap(loop);
    loop->refused = false;
  }
  loop->streaming = stream->current != NULL ? loop->armed : 0;
  loop->armed = 0;
  loop->streaming_clip = stream->current;
  loop->unarmed_ticks = spate_port_ticks();
  struct spate_loop_part *entered = spate_loop_part_find(loop, loop->streaming);
  if (entered != NULL) entered->state = PART_STREAMING;
}

static enum spate_error arm_first(struct spate_loop *loop) {
  bool did = true;
  enum spate_error error = SPATE_OK;

  loop->unarmed_ticks = spate_port_ticks();
  while (error == SPATE_OK && did && loop->streaming == 0) {
    error = spate_loop_keep(loop, &did);
    look_at_stream(loop);
  }
  if (error == SPATE_OK && loop->streaming == 0) error = loop->error != SPATE_OK ? loop->error : SPATE_E_NO_SPACE;
  return error;
}

enum spate_error spate_loop_open(struct spate_loop *loop, const struct spate_loop_config *config) {
  enum spate_error error = check(config);

  *loop = (struct spate_loop){.config = *config, .next_number = 1};
  if (error == SPATE_OK) error = spate_exfat_prepare_deletions(loop_volume(loop));
  if (error == SPATE_OK) error = spate_loop_list_open(loop);
  if (error == SPATE_OK) error = find_parts(loop);
  if (error != SPATE_OK) return error;
  error = resume_spans(loop);
  if (error != SPATE_OK) return error;
  loop->first_number = loop->next_number;
  config->stream->clip_closed = clip_closed;
  config->stream->clip_closed_context = loop;
  error = arm_first(loop);
  if (error != SPATE_OK) config->stream->clip_closed = NULL;
  return error;
}

/* ---- pieces ---- */

/* Without room for both halves none is pushed. */
static enum spate_error push_divided(struct spate_loop *loop, uint64_t offset_bytes, uint32_t first_bytes,
                                     uint32_t rest_bytes) {
  struct spate_stream *stream = loop->config.stream;
  const uint32_t slots = SPATE_LOOP_DIVIDED_MAX;

  (void)spate_loop_released(loop);
  if (spate_stream_room(stream) < 2) return SPATE_E_FULL;
  if (loop->divided_count - loop->divided_released == slots) return SPATE_E_FULL;
  enum spate_error error = spate_stream_push(stream, offset_bytes, first_bytes);
  if (error != SPATE_OK) return error;
  loop->divided[loop->divided_count & (slots - 1u)] = stream->pushed;
  loop->divided_count++;
  return spate_stream_push(stream, offset_bytes + first_bytes, rest_bytes);
}

static enum spate_error push(struct spate_loop *loop, uint64_t offset_bytes, uint32_t bytes) {
  struct spate_stream *stream = loop->config.stream;
  const uint64_t left_bytes = spate_stream_left_bytes(stream);
  const uint32_t within = spate_block_bytes(stream->recorder->block) - 1u;
  const bool ends = stream->current != NULL && (stream->current->capped || bytes > left_bytes);

  if (!ends) return spate_stream_push(stream, offset_bytes, bytes);
  if (bytes > loop->config.part_bytes) return SPATE_E_INVALID;
  if (stream->following == NULL && spate_loop_next_comes(loop)) return SPATE_E_FULL;
  const bool whole = stream->current->capped || left_bytes == 0 || (left_bytes & within) != 0;
  if (whole || stream->following == NULL || stream->config.chunk_bytes > 0)
    return spate_stream_push(stream, offset_bytes, bytes);
  return push_divided(loop, offset_bytes, (uint32_t)left_bytes, bytes - (uint32_t)left_bytes);
}

/* Errors that mean something else to whoever pushes: no end of the stream. */
static bool names_end(enum spate_error error) {
  return error != SPATE_OK && error != SPATE_E_FULL && error != SPATE_E_BUSY && error != SPATE_E_INVALID;
}

enum spate_error spate_loop_push(struct spate_loop *loop, uint64_t offset_bytes, uint32_t bytes) {
  enum spate_error error = push(loop, offset_bytes, bytes);

  /* The stream knows only that there is no next part. The loop knows why. */
  const bool ended = error == SPATE_E_RESERVATION || error == SPATE_E_STATE;
  if (ended && loop->armed == 0 && names_end(loop->error)) error = loop->error;
  if (error != SPATE_OK && error != SPATE_E_FULL && error != SPATE_E_INVALID) loop->refused = true;
  return error;
}

/* `divided` has the numbers of second halves. */
uint32_t spate_loop_released(struct spate_loop *loop) {
  const uint32_t released = spate_stream_released(loop->config.stream);
  const uint32_t mask = SPATE_LOOP_DIVIDED_MAX - 1u;

  while (loop->divided_released != loop->divided_count &&
         (int32_t)(released - loop->divided[loop->divided_released & mask]) > 0)
    loop->divided_released++;
  /* Only the first half of the next one? */
  const bool half =
      loop->divided_released != loop->divided_count && loop->divided[loop->divided_released & mask] == released;
  return released - loop->divided_released - (half ? 1u : 0u);
}

/* ---- triggers ---- */

/* What has just been pushed is recorded before the trigger. */
enum spate_error spate_loop_trigger(struct spate_loop *loop, const char *path, uint64_t before_ms, uint64_t after_ms,
                                    bool *extended) {
  look_at_stream(loop);
  return spate_loop_span_begin(loop, path, before_ms, after_ms, extended);
}

/* ---- work ---- */

/* A name in the folder of a span may need a cluster: the oldest part makes room for it. A part that is not in the loop
 * any more is not tried again. */
static enum spate_error span_step(struct spate_loop *loop, bool *did) {
  const uint32_t count = loop->count;
  enum spate_error error = spate_loop_span_work(loop, did);

  return error == SPATE_E_NO_SPACE && loop->count == count ? spate_loop_make_room(loop) : error;
}

/* The next part first. Once it is armed a span has its turn, too: parts may be so short that there is always one to be
 * armed. */
static enum spate_error step(struct spate_loop *loop) {
  bool did;
  enum spate_error error = spate_loop_span_due(loop);

  look_at_stream(loop);
  if (error == SPATE_OK) error = spate_loop_keep(loop, &did);
  if (error != SPATE_OK) return error;
  look_at_stream(loop);
  return !did || loop->armed != 0 ? span_step(loop, &did) : SPATE_OK;
}

enum spate_error spate_loop_work(struct spate_loop *loop) {
  const uint64_t begun_ticks = spate_port_ticks();

  look_at_stream(loop);
  enum spate_error error = step(loop);
  look_at_stream(loop);
  const uint64_t ticks = spate_port_ticks() - begun_ticks;
  if (ticks > loop->counters.work_ticks_max) loop->counters.work_ticks_max = ticks;
  return error == SPATE_E_BUSY ? SPATE_OK : error; /* the next call tries again */
}

enum spate_error spate_loop_close(struct spate_loop *loop) {
  enum spate_error first = SPATE_OK;
  bool did = true;

  look_at_stream(loop);
  if (spate_stream_active(loop->config.stream)) return SPATE_E_BUSY;
  loop->config.stream->clip_closed = NULL;
  first = spate_loop_span_end(loop);
  while (did && spate_loop_keeps(loop)) {
    enum spate_error error = span_step(loop, &did);
    if (error == SPATE_E_BUSY) return error;
    if (first == SPATE_OK) first = error;
  }
  return first;
}
