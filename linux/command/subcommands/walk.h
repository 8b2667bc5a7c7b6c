/* SPDX-License-Identifier: Apache-2.0 */
/* Visits every file and directory below a path of a volume, depth first, in the order of the directories. */
#ifndef SPATE_COMMAND_WALK_H
#define SPATE_COMMAND_WALK_H

#include <spate/exfat.h>

/*
 * `path` is relative to the root.
 *
 * `damaged` is called for what cannot be visited, and the walk continues after it: an entry set that is damaged
 * (`path` is that of its directory), a directory that cannot be read, and one whose clusters were visited already, as
 * another directory or above itself.
 */
struct walk {
  void (*visit)(void *context, const char *path, const struct spate_exfat_entry *entry);
  void (*damaged)(void *context, const char *path, const char *what);
  void *context;
};

/* `path` "": the root directory, and so the whole volume. A file is the only one that is visited. Ends the program if
 * there is no such path. */
void walk_volume(struct spate_exfat *volume, const char *path, const struct walk *walk);

/* The library's reservation record (.spate), which is no file of the user. */
bool walk_is_record(const char *path, const struct spate_exfat_entry *entry);

#endif
