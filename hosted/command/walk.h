/* SPDX-License-Identifier: Apache-2.0 */
/* Every file and directory of a volume, depth first, in the order of the directories. */
#ifndef SPATE_HOSTED_WALK_H
#define SPATE_HOSTED_WALK_H

#include <spate/exfat.h>

/* `path` is relative to the root. The file in which the library keeps its reservations is left out. `unreadable` is
 * called with a directory that cannot be read, or not to its end; with NULL the program ends then. */
void walk(struct spate_exfat *volume,
          void (*visit)(void *context, const char *path, const struct spate_exfat_entry *entry),
          void (*unreadable)(void *context, const char *path, enum spate_error error), void *context);

#endif
