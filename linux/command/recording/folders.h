/* SPDX-License-Identifier: Apache-2.0 */
/* The folders that a recording makes for its files. */
#ifndef SPATE_COMMAND_FOLDERS_H
#define SPATE_COMMAND_FOLDERS_H

#include <spate/exfat.h>

/* Zeros: none were made. */
struct folders {
  char **paths; /* in the order in which they were made */
  size_t count;
};

/* Makes the folders of this path that do not exist. */
SPATE_MUST_CHECK enum spate_error folders_make(struct folders *folders, struct spate_exfat *volume, const char *path);

/* Removes those that were made and are still empty. */
void folders_remove_empty(struct folders *folders, struct spate_exfat *volume);

void folders_free(struct folders *folders);

#endif
