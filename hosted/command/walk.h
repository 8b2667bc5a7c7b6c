/* SPDX-License-Identifier: Apache-2.0 */
/* Visits every file and directory of a volume, depth first, in the order of the directories. */
#ifndef SPATE_HOSTED_WALK_H
#define SPATE_HOSTED_WALK_H

#include <spate/exfat.h>

/* `path` is relative to the root. The library's reservation record (.spate) is left out. `unreadable` is called for a
 * directory that cannot be read to its end; if it is NULL, such a directory ends the program. */
void walk(struct spate_exfat *volume,
          void (*visit)(void *context, const char *path, const struct spate_exfat_entry *entry),
          void (*unreadable)(void *context, const char *path, enum spate_error error), void *context);

#endif
