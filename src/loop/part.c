/* SPDX-License-Identifier: Apache-2.0 */
#include "../core/part_name.h"
#include "internal.h"
#include <spate/port.h>

#define DIGITS_MIN 8u

void spate_loop_part_path(const struct spate_loop *loop, uint32_t number, char *path) {
  (void)spate_part_name(path, SPATE_RECORDER_PATH_BYTES_MAX, loop->config.path, number, DIGITS_MIN);
}

static const char *name_of(const char *path) {
  const char *name = path;

  for (; *path != '\0'; path++)
    if (*path == '/') name = path + 1;
  return name;
}

uint32_t spate_loop_part_number(const struct spate_loop *loop, const char *name) {
  char path[SPATE_RECORDER_PATH_BYTES_MAX];

  /* A name of this shape, and only of this shape, is the name of its number. */
  for (const char *digit = name; *digit != '\0'; digit++) {
    uint64_t number = 0;
    if (digit == name || digit[-1] != '_') continue;
    for (const char *at = digit; *at >= '0' && *at <= '9' && number <= LOOP_NUMBER_MAX; at++)
      number = number * 10u + (uint32_t)(*at - '0');
    if (number == 0 || number > LOOP_NUMBER_MAX) continue;
    spate_loop_part_path(loop, (uint32_t)number, path);
    if (strcmp(name_of(path), name) == 0) return (uint32_t)number;
  }
  return 0;
}

struct spate_loop_part *spate_loop_part_find(const struct spate_loop *loop, uint32_t number) {
  for (uint32_t i = 0; i < loop->count; i++)
    if (loop->config.parts[i].number == number) return &loop->config.parts[i];
  return NULL;
}

bool spate_loop_part_add(struct spate_loop *loop, const struct spate_loop_part *part) {
  struct spate_loop_part *parts = loop->config.parts;
  uint32_t at = loop->count;

  if (loop->count == loop->config.part_count) return false;
  for (; at > 0 && parts[at - 1u].number > part->number; at--)
    parts[at] = parts[at - 1u];
  parts[at] = *part;
  loop->count++;
  return true;
}

void spate_loop_part_drop(struct spate_loop *loop, uint32_t number) {
  struct spate_loop_part *part = spate_loop_part_find(loop, number);

  if (part == NULL) return;
  const struct spate_loop_part *end = loop->config.parts + loop->count;
  for (; part + 1 < end; part++)
    *part = part[1];
  loop->count--;
}

static bool same_time(const struct spate_exfat_time *a, const struct spate_exfat_time *b) {
  return a->year == b->year && a->month == b->month && a->day == b->day && a->hour == b->hour &&
         a->minute == b->minute && a->second == b->second && a->centisecond == b->centisecond;
}

bool spate_loop_part_is(const struct spate_loop_part *part, const struct spate_exfat_entry *entry) {
  const bool clusters = entry->bytes == 0 ? entry->first_cluster == 0 : entry->first_cluster == part->first_cluster;

  return clusters && !entry->directory && same_time(&part->created, &entry->created);
}

enum spate_error spate_loop_part_look(const struct spate_loop *loop, const struct spate_loop_part *part,
                                      struct spate_exfat_entry *entry, bool *is) {
  char path[SPATE_RECORDER_PATH_BYTES_MAX];

  spate_loop_part_path(loop, part->number, path);
  enum spate_error error = spate_exfat_stat(loop_volume(loop), path, entry);
  *is = error == SPATE_OK && spate_loop_part_is(part, entry);
  return error == SPATE_E_NOT_FOUND || error == SPATE_E_CORRUPT ? SPATE_OK : error;
}

uint64_t spate_loop_ticks(uint64_t ms) {
  const uint64_t second_ticks = spate_port_ticks_per_second();
  const uint64_t most_ms = (UINT64_MAX >> 2) / second_ticks;

  return (ms < most_ms ? ms : most_ms) * second_ticks / 1000u;
}

void spate_loop_event(struct spate_loop *loop, enum spate_loop_event event, const char *path, uint64_t value) {
  if (loop->config.event != NULL) loop->config.event(loop->config.context, loop, event, path, value);
}
