/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

#include "../text/fail.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES        4096u
#define DEPTH_MAX         32u
#define RECORD_FILE       ".spate"
#define RECORD_ATTRIBUTES 0x06 /* hidden, system. If the name was in use, the file is .spate_2 … .spate_9 */

struct walking {
  struct spate_exfat *volume;
  void (*visit)(void *context, const char *path, const struct spate_exfat_entry *entry);
  void (*unreadable)(void *context, const char *path, enum spate_error error);
  void *context;
  struct spate_exfat_directory directories[DEPTH_MAX];
  size_t lengths[DEPTH_MAX]; /* of the path to each */
  char path[PATH_BYTES];
};

static bool is_record(const struct spate_exfat_entry *entry) {
  const size_t length = strlen(RECORD_FILE);

  if (strncmp(entry->name, RECORD_FILE, length) != 0) return false;
  return entry->name[length] == '\0' ||
         (entry->name[length] == '_' && (entry->attributes & RECORD_ATTRIBUTES) == RECORD_ATTRIBUTES);
}

static void complain(const struct walking *walking, enum spate_error error) {
  const char *path = walking->path[0] != '\0' ? walking->path : "the root directory";

  if (walking->unreadable != NULL)
    walking->unreadable(walking->context, path, error);
  else
    expect(error, path);
}

/* False: the directory cannot be read. */
static bool enter(struct walking *walking, unsigned depth) {
  if (depth == DEPTH_MAX) fail(EXIT_FAILED, "%s: directories nest deeper than %u", walking->path, DEPTH_MAX);
  const enum spate_error error = spate_exfat_list(walking->volume, walking->path, &walking->directories[depth]);
  if (error != SPATE_OK) complain(walking, error);
  walking->lengths[depth] = strlen(walking->path);
  return error == SPATE_OK;
}

/* Appends a name to the path of the directory at this depth. */
static void join(struct walking *walking, unsigned depth, const char *name) {
  const size_t length = walking->lengths[depth];
  const int added = snprintf(walking->path + length, PATH_BYTES - length, "%s%s", length > 0 ? "/" : "", name);

  if (added < 0 || (size_t)added >= PATH_BYTES - length) fail(EXIT_FAILED, "%s: the path is too long", walking->path);
}

void walk(struct spate_exfat *volume,
          void (*visit)(void *context, const char *path, const struct spate_exfat_entry *entry),
          void (*unreadable)(void *context, const char *path, enum spate_error error), void *context) {
  static struct walking walking;
  unsigned depth = 0;

  walking = (struct walking){.volume = volume, .visit = visit, .unreadable = unreadable, .context = context};
  if (!enter(&walking, 0)) return;
  for (;;) {
    struct spate_exfat_entry entry;
    bool more;
    walking.path[walking.lengths[depth]] = '\0';
    const enum spate_error error = spate_exfat_list_next(&walking.directories[depth], &entry, &more);
    if (error != SPATE_OK) complain(&walking, error);
    if (error != SPATE_OK || !more) {
      if (depth-- == 0) return;
      continue;
    }
    if (depth == 0 && is_record(&entry)) continue;
    join(&walking, depth, entry.name);
    visit(context, walking.path, &entry);
    if (entry.directory && enter(&walking, depth + 1u)) depth++;
  }
}
