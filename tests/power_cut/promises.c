/* SPDX-License-Identifier: Apache-2.0 */
#include "promises.h"

#include "images.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts tear at blocks of 512 bytes or more, and a source's data does not repeat: comparing this many bytes of each
 * block shows which version it is. */
#define PROOF_BYTES 8u
#define PROOF_EVERY 512u

static void *grown(void *array, size_t count, size_t *capacity, size_t each) {
  if (count < *capacity) return array;
  *capacity = count * 2 + 16;
  void *larger = realloc(array, *capacity * each);
  if (larger == NULL) abort();
  return larger;
}

/* ---- content ---- */

void content_put(struct content *content, uint64_t offset, const uint8_t *bytes, uint64_t count) {
  if (offset + count > content->capacity) {
    uint64_t capacity = (offset + count) * 2;
    uint8_t *larger = realloc(content->bytes, capacity);
    if (larger == NULL) abort();
    memset(larger + content->capacity, 0, capacity - content->capacity);
    content->bytes = larger;
    content->capacity = capacity;
  }
  memcpy(content->bytes + offset, bytes, count);
  if (offset + count > content->size) content->size = offset + count;
}

void content_step(struct content *content, struct content_step step) {
  if (content->step_count > 0) {
    const struct content_step *last = &content->steps[content->step_count - 1];
    if (last->pushed_bytes == step.pushed_bytes && last->completed_bytes == step.completed_bytes) return;
  }
  content->steps = grown(content->steps, content->step_count, &content->step_capacity, sizeof *content->steps);
  content->steps[content->step_count++] = step;
}

/* ---- making promises ---- */

void promises_free(struct promises *promises) {
  for (uint32_t i = 0; i < promises->path_count; i++)
    free(promises->paths[i].promises);
  while (promises->contents != NULL) {
    struct content *content = promises->contents;
    promises->contents = content->next;
    free(content->bytes);
    free(content->steps);
    free(content);
  }
  free(promises->paths);
  free(promises->ticks);
  *promises = (struct promises){0};
}

struct content *promises_content(struct promises *promises) {
  struct content *content = calloc(1, sizeof *content);
  if (content == NULL) abort();
  content->next = promises->contents;
  promises->contents = content;
  return content;
}

static uint32_t path_of(struct promises *promises, const char *path) {
  while (*path == '/')
    path++;
  for (uint32_t i = 0; i < promises->path_count; i++)
    if (strcmp(promises->paths[i].path, path) == 0) return i;
  size_t capacity = promises->path_capacity;
  promises->paths = grown(promises->paths, promises->path_count, &capacity, sizeof *promises->paths);
  promises->path_capacity = (uint32_t)capacity;
  struct promised_path *added = &promises->paths[promises->path_count++];
  *added = (struct promised_path){0};
  (void)snprintf(added->path, sizeof added->path, "%s", path);
  return promises->path_count - 1;
}

static struct promise *last_of(const struct promised_path *path) {
  return path->count > 0 ? &path->promises[path->count - 1] : NULL;
}

const struct promise *promises_last(const struct promises *promises, const char *path) {
  while (*path == '/')
    path++;
  for (uint32_t i = 0; i < promises->path_count; i++)
    if (strcmp(promises->paths[i].path, path) == 0) return last_of(&promises->paths[i]);
  return NULL;
}

void promises_changes(struct promises *promises, const char *path) {
  if (promises->change_count == PROMISE_CHANGES_MAX) abort();
  promises->changes[promises->change_count++] = path;
}

static void add(struct promises *promises, uint32_t index, struct promise promise) {
  struct promised_path *path = &promises->paths[index];
  for (uint32_t i = 0; i < promises->change_count; i++)
    if (strcmp(promises->changes[i], path->path) == 0) promise.content = NULL;
  path->promises = grown(path->promises, path->count, &path->capacity, sizeof *path->promises);
  path->promises[path->count++] = promise;
}

void promises_add(struct promises *promises, const char *path, struct promise promise) {
  add(promises, path_of(promises, path), promise);
}

/* If a path is `from` or lies below it: its name under `to`. */
static bool renamed(const char *path, const char *from, const char *to, char *renamed) {
  size_t length = strlen(from);
  if (strncmp(path, from, length) != 0 || (path[length] != '\0' && path[length] != '/')) return false;
  (void)snprintf(renamed, PROMISE_PATH_BYTES_MAX, "%s%s", to, path + length);
  return true;
}

static void move_all(struct promises *promises, uint64_t since, const char *from, const char *to, bool done) {
  uint32_t count = promises->path_count;
  for (uint32_t i = 0; i < count; i++) {
    char name[PROMISE_PATH_BYTES_MAX];
    const struct promise *last = last_of(&promises->paths[i]);
    bool there = last != NULL && (last->presence == PRESENT || (done && last->twin != UINT32_MAX));
    if (!there || !renamed(promises->paths[i].path, from, to, name)) continue;
    struct promise promise = *last;
    uint32_t other = path_of(promises, name);
    promise.since = since;
    promise.presence = done ? ABSENT : EITHER;
    promise.twin = done ? UINT32_MAX : other;
    add(promises, i, promise);
    promise.presence = done ? PRESENT : EITHER;
    promise.twin = done ? UINT32_MAX : i;
    add(promises, other, promise);
  }
}

void promises_moving(struct promises *promises, uint64_t since, const char *from, const char *to) {
  move_all(promises, since, from, to, false);
}

void promises_moved(struct promises *promises, uint64_t since, const char *from, const char *to) {
  move_all(promises, since, from, to, true);
}

static bool is_in(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

void promises_joining(struct promises *promises, uint64_t since, const char *folder) {
  const uint32_t index = path_of(promises, folder);
  struct content *content = promises_content(promises);
  for (uint32_t i = 0; i < promises->path_count; i++) {
    const struct promise *last = last_of(&promises->paths[i]);
    if (!is_in(promises->paths[i].path, promises->paths[index].path) || last == NULL) continue;
    const bool again = last->presence == EITHER && last->folder == index; /* an earlier join was given up */
    if (last->presence != PRESENT && !again) continue;
    content_put(content, content->size, last->content->bytes, last->bytes_max);
    struct promise promise = *last;
    promise.since = since;
    promise.presence = EITHER;
    promise.folder = index;
    add(promises, i, promise);
  }
  add(promises, index,
      (struct promise){.since = since,
                       .presence = PRESENT,
                       .bytes_min = content->size,
                       .bytes_max = content->size,
                       .content = content,
                       .twin = UINT32_MAX,
                       .folder = UINT32_MAX,
                       .joins = true});
}

void promises_joined(struct promises *promises, uint64_t since, const char *folder) {
  const uint32_t index = path_of(promises, folder);
  struct promise file = *last_of(&promises->paths[index]);
  for (uint32_t i = 0; i < promises->path_count; i++) {
    const struct promise *last = last_of(&promises->paths[i]);
    if (last == NULL || last->presence != EITHER || last->folder != index) continue;
    add(promises, i,
        (struct promise){
            .since = since, .presence = ABSENT, .bytes_max = UINT64_MAX, .twin = UINT32_MAX, .folder = UINT32_MAX});
  }
  file.since = since;
  file.joins = false;
  add(promises, index, file);
}

void promises_tick(struct promises *promises, uint64_t event, uint64_t ticks) {
  while (promises->tick_count <= event) {
    promises->ticks = grown(promises->ticks, promises->tick_count, &promises->tick_capacity, sizeof *promises->ticks);
    promises->ticks[promises->tick_count] = promises->tick_count > 0 ? promises->ticks[promises->tick_count - 1] : 0;
    promises->tick_count++;
  }
  promises->ticks[event] = ticks;
}

/* ---- comparing promises with a volume ---- */

void promises_broken(struct promises *promises, const char *format, ...) {
  if (promises->broken[0] != '\0') return;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(promises->broken, sizeof promises->broken, format, arguments);
  va_end(arguments);
}

static bool proves(const struct oracle *oracle, const struct oracle_file *file, const struct content *content,
                   uint64_t at) {
  const uint8_t *data = oracle_at(oracle, file, at);
  if (data == NULL) return false;
  if (file->bytes - at >= PROOF_BYTES) return memcmp(data, content->bytes + at, PROOF_BYTES) == 0;
  return memcmp(data, content->bytes + at, file->bytes - at) == 0;
}

/* How many bytes from the start of the file are the source's. */
static uint64_t proven_bytes(const struct oracle *oracle, const struct oracle_file *file,
                             const struct content *content) {
  uint64_t at = 0;
  while (at < file->bytes && at < content->size && proves(oracle, file, content, at))
    at += PROOF_EVERY;
  if (at > file->bytes) at = file->bytes;
  return at < content->size ? at : content->size;
}

static void check_content(struct promises *promises, const struct oracle *oracle, const struct oracle_file *file,
                          const struct content *content) {
  uint64_t proven = proven_bytes(oracle, file, content);
  if (proven == file->bytes) return;
  promises->foreign = true;
  promises_broken(promises, "%s: foreign byte at %llu of %llu", file->path, (unsigned long long)proven,
                  (unsigned long long)file->bytes);
}

static const struct content_step *step_at(const struct content *content, uint64_t at) {
  const struct content_step *found = NULL;
  for (size_t i = 0; i < content->step_count && content->steps[i].since <= at; i++)
    found = &content->steps[i];
  return found;
}

/* The bound: bytes that had completed a checkpoint period, a flush and a FUA write before are in the file, at any
 * rate. */
static uint64_t bound_bytes(const struct promises *promises, const struct content *content, uint64_t at) {
  if (promises->window_ticks == UINT64_MAX || promises->tick_count == 0 || content->step_count == 0) return 0;
  uint64_t now = promises->ticks[at < promises->tick_count ? at : promises->tick_count - 1];
  uint64_t least = UINT64_MAX;
  for (size_t i = content->step_count; i > 0; i--) {
    const struct content_step *step = &content->steps[i - 1];
    if (step->since > at) continue;
    if (step->completed_bytes < least) least = step->completed_bytes;
    if (step->ticks + promises->window_ticks <= now) break;
    if (i == 1) least = 0;
  }
  return least == UINT64_MAX ? 0 : least;
}

static void check_bound(struct promises *promises, const struct content *content, uint64_t at, const char *path,
                        uint64_t bytes) {
  const uint64_t least = bound_bytes(promises, content, at);
  if (bytes >= least) return;
  promises_broken(promises, "%s: %llu bytes, while %llu had completed a checkpoint's time ago", path,
                  (unsigned long long)bytes, (unsigned long long)least);
}

static void count_loss(struct promises *promises, const struct content *content, uint64_t at, uint64_t bytes) {
  const struct content_step *step = step_at(content, at);
  if (step == NULL) return;
  uint64_t lost = step->pushed_bytes > bytes ? step->pushed_bytes - bytes : 0;
  promises->loss.states++;
  promises->loss.bytes_sum += lost;
  if (lost > promises->loss.bytes_max) promises->loss.bytes_max = lost;
}

static void check_there(struct promises *promises, const struct oracle *oracle, const struct promise *promise,
                        const struct oracle_file *file) {
  if (file->directory && promise->joins) return;
  if (file->directory && promise->content != NULL) promises_broken(promises, "%s is a directory", file->path);
  if (file->bytes < promise->bytes_min) {
    promises->short_of = true;
    promises_broken(promises, "%s: %llu of %llu bytes", file->path, (unsigned long long)file->bytes,
                    (unsigned long long)promise->bytes_min);
  }
  if (file->bytes > promise->bytes_max)
    promises_broken(promises, "%s: %llu bytes, but only %llu were written", file->path, (unsigned long long)file->bytes,
                    (unsigned long long)promise->bytes_max);
  if (!file->directory && promise->content != NULL) check_content(promises, oracle, file, promise->content);
}

/* The path's promise at that event, or NULL. */
static const struct promise *promise_at(const struct promised_path *path, uint64_t at) {
  for (size_t i = path->count; i > 0; i--)
    if (path->promises[i - 1].since <= at) return &path->promises[i - 1];
  return NULL;
}

/* A path after the PC's change, made in `name` if it is another one; NULL: the PC has deleted it. */
static const char *by_now(const struct promises *promises, const char *path, char *name) {
  const struct promise_by_pc *by_pc = &promises->by_pc;
  if (by_pc->formats != 0) return NULL;
  if (by_pc->from[0] == '\0' || !renamed(path, by_pc->from, by_pc->to, name)) return path;
  return by_pc->to[0] != '\0' ? name : NULL;
}

static void check_path(struct promises *promises, const struct oracle *oracle, const struct promised_path *path,
                       uint64_t at, bool recovered) {
  const struct promise *promise = promise_at(path, at);
  char name[PROMISE_PATH_BYTES_MAX];
  if (promise == NULL) return;
  const char *now = by_now(promises, path->path, name);
  if (now != path->path && oracle_find(oracle, path->path) != NULL)
    promises_broken(promises, "%s is back after a PC's change", path->path);
  if (now == NULL) return;
  const struct oracle_file *file = oracle_find(oracle, now);
  if (promise->presence == PRESENT && file == NULL) {
    promises->short_of |= promise->bytes_min > 0;
    promises_broken(promises, "%s is lost", path->path);
  }
  if (promise->presence == ABSENT && file != NULL) promises_broken(promises, "%s is back", path->path);
  if (promise->folder != UINT32_MAX && file == NULL) {
    char folder_name[PROMISE_PATH_BYTES_MAX];
    const char *folder_path = by_now(promises, promises->paths[promise->folder].path, folder_name);
    const struct oracle_file *folder = folder_path != NULL ? oracle_find(oracle, folder_path) : NULL;
    if (folder != NULL && folder->directory) promises_broken(promises, "%s is lost from its folder", path->path);
  }
  if (promise->twin != UINT32_MAX) {
    const char *twin = by_now(promises, promises->paths[promise->twin].path, name);
    const struct oracle_file *other = twin != NULL ? oracle_find(oracle, twin) : NULL;
    if (file == NULL && other == NULL && twin != NULL)
      promises_broken(promises, "%s exists neither there nor at %s", path->path, twin);
    if (recovered && file != NULL && other != NULL)
      promises_broken(promises, "%s exists both there and at %s", path->path, twin);
  }
  if (file != NULL) check_there(promises, oracle, promise, file);
  if (!recovered || promise->presence != PRESENT || promise->content == NULL || promise->joins) return;
  uint64_t bytes = file != NULL ? proven_bytes(oracle, file, promise->content) : 0;
  if (bytes < promise->bytes_min) promises->short_of = true;
  check_bound(promises, promise->content, at, path->path, bytes);
  count_loss(promises, promise->content, at, bytes);
}

/* A file that was never created: for instance, old contents of a directory's cluster. */
static void check_created(struct promises *promises, const struct oracle_file *file) {
  if (strcmp(file->path, ".spate") == 0 || strchr(file->path, '?') != NULL) return;
  if (strcmp(file->path, promises->by_pc.written) == 0) return;
  for (uint32_t i = 0; i < promises->path_count; i++) {
    char name[PROMISE_PATH_BYTES_MAX];
    const char *now = by_now(promises, promises->paths[i].path, name);
    if (now != NULL && strcmp(file->path, now) == 0) return;
  }
  promises_broken(promises, "%s was never created", file->path);
}

void promises_check(struct promises *promises, const struct oracle *oracle, uint64_t at, bool recovered) {
  for (uint32_t i = 0; i < promises->path_count; i++)
    check_path(promises, oracle, &promises->paths[i], at, recovered);
  for (uint32_t i = 0; i < oracle->file_count; i++)
    check_created(promises, &oracle->files[i]);
}

uint64_t promises_hash(const struct promises *promises, uint64_t at) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < promises->path_count; i++) {
    const struct promised_path *path = &promises->paths[i];
    const struct promise *promise = promise_at(path, at);
    const bool bounded = promise != NULL && promise->presence == PRESENT && promise->content != NULL;
    const uint64_t parts[] = {i, promise != NULL ? (uint64_t)(promise - path->promises) : UINT64_MAX,
                              bounded ? bound_bytes(promises, promise->content, at) : 0};
    hash = hash * 31 + image_block_hash(i, (const uint8_t *)parts, sizeof parts);
  }
  return hash;
}
