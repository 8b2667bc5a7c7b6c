/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

#include "../text/fail.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_FILE       ".spate"
#define RECORD_ATTRIBUTES 0x06 /* hidden, system. If the name was in use, the file is .spate_2 … .spate_9 */

/* A directory on the way from the root to the place of the walk. */
struct level {
  struct spate_exfat_directory directory;
  size_t path_bytes; /* of its own path */
};

struct walking {
  struct spate_exfat *volume;
  const struct walk *walk;
  struct level *levels;
  size_t depth, levels_room; /* depth: levels in use */
  char *path;
  size_t path_room;
  void *visited; /* tsearch(3): first clusters of directories */
};

static void *enlarged(void *memory, size_t bytes) {
  void *larger = realloc(memory, bytes);

  if (larger == NULL) fail(EXIT_FAILED, "no memory for the directories of the volume");
  return larger;
}

bool walk_is_record(const char *path, const struct spate_exfat_entry *entry) {
  const size_t length = strlen(RECORD_FILE);

  if (entry->directory || strchr(path, '/') != NULL || strncmp(entry->name, RECORD_FILE, length) != 0) return false;
  return entry->name[length] == '\0' ||
         (entry->name[length] == '_' && (entry->attributes & RECORD_ATTRIBUTES) == RECORD_ATTRIBUTES);
}

static void complain(const struct walking *walking, const char *what) {
  walking->walk->damaged(walking->walk->context, walking->path[0] != '\0' ? walking->path : "the root directory", what);
}

/* ---- visited directories ---- */

static int by_cluster(const void *a, const void *b) {
  const uintptr_t one = (uintptr_t)a, other = (uintptr_t)b;

  return (one > other) - (one < other);
}

/* The number itself is the key: nothing has to be freed but the tree. */
static bool is_new(struct walking *walking, uint32_t first_cluster) {
  const void *key = (const void *)(uintptr_t)first_cluster; /* NOLINT(performance-no-int-to-ptr) */

  if (first_cluster == 0) return true; /* a directory without clusters is empty */
  if (tfind(key, &walking->visited, by_cluster) != NULL) return false;
  if (tsearch(key, &walking->visited, by_cluster) == NULL) fail(EXIT_FAILED, "no memory for the directories");
  return true;
}

static void forget(struct walking *walking) {
  while (walking->visited != NULL)
    (void)tdelete(*(void **)walking->visited, &walking->visited, by_cluster);
}

/* ---- the way ---- */

/* Appends a name to the path of the deepest directory. */
static void join(struct walking *walking, const char *name) {
  const size_t length = walking->levels[walking->depth - 1u].path_bytes, added = strlen(name);

  if (length + added + 2u > walking->path_room) {
    walking->path_room = 2u * (length + added + 2u);
    walking->path = enlarged(walking->path, walking->path_room);
  }
  (void)sprintf(walking->path + length, "%s%s", length > 0 ? "/" : "", name);
}

static void enter(struct walking *walking, const struct spate_exfat_entry *entry) {
  if (walking->depth == walking->levels_room) {
    walking->levels_room = 2u * walking->levels_room + 16u;
    walking->levels = enlarged(walking->levels, walking->levels_room * sizeof *walking->levels);
  }
  struct level *level = &walking->levels[walking->depth];
  const enum spate_error error = spate_exfat_list_entry(walking->volume, entry, &level->directory);
  level->path_bytes = strlen(walking->path);
  if (error != SPATE_OK)
    complain(walking, spate_error_help(error));
  else if (!is_new(walking, entry->first_cluster))
    complain(walking, "it has the clusters of another directory");
  else
    walking->depth++;
}

/* One entry of the deepest directory. */
static void step(struct walking *walking) {
  struct level *level = &walking->levels[walking->depth - 1u];
  struct spate_exfat_entry entry;
  bool more;

  walking->path[level->path_bytes] = '\0';
  const enum spate_error error = spate_exfat_list_next(&level->directory, &entry, &more);
  if (error != SPATE_OK && more && entry.name[0] != '\0') {
    join(walking, entry.name);
    complain(walking, "its clusters or its length are impossible");
  } else if (error != SPATE_OK) {
    complain(walking, error == SPATE_E_CORRUPT && more ? "an entry set in it is damaged" : spate_error_help(error));
  }
  if (!more) walking->depth--;
  if (error != SPATE_OK || !more) return;
  join(walking, entry.name);
  walking->walk->visit(walking->walk->context, walking->path, &entry);
  if (entry.directory) enter(walking, &entry);
}

/* The path without slashes before and after it: what is below it gets one between. */
static char *trimmed(const char *path, size_t *room) {
  size_t length;

  while (*path == '/')
    path++;
  for (length = strlen(path); length > 0 && path[length - 1u] == '/';)
    length--;
  *room = length + 1u;
  char *copy = enlarged(NULL, *room);
  memcpy(copy, path, length);
  copy[length] = '\0';
  return copy;
}

void walk_volume(struct spate_exfat *volume, const char *path, const struct walk *walk) {
  struct walking walking = {.volume = volume, .walk = walk};
  struct spate_exfat_entry entry;

  walking.path = trimmed(path, &walking.path_room);
  expect(spate_exfat_stat(volume, walking.path, &entry), walking.path[0] == '\0' ? "the root directory" : path);
  if (entry.directory)
    enter(&walking, &entry);
  else
    walk->visit(walk->context, walking.path, &entry);
  while (walking.depth > 0)
    step(&walking);
  forget(&walking);
  free(walking.levels);
  free(walking.path);
}
