/* SPDX-License-Identifier: Apache-2.0 */
#include "folders.h"

#include "../text/fail.h"
#include "../text/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void remember(struct folders *folders, char *path) {
  char **longer = realloc(folders->paths, (folders->count + 1u) * sizeof *longer);

  if (longer == NULL) fail(EXIT_FAILED, "no memory");
  folders->paths = longer;
  folders->paths[folders->count++] = path;
}

enum spate_error folders_make(struct folders *folders, struct spate_exfat *volume, const char *path) {
  for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    if (slash == path) continue;
    char *folder = strndup(path, (size_t)(slash - path));
    if (folder == NULL) fail(EXIT_FAILED, "no memory");
    const enum spate_error error = spate_exfat_mkdir(volume, folder);
    if (error == SPATE_OK)
      remember(folders, folder);
    else
      free(folder);
    if (error != SPATE_OK && error != SPATE_E_EXISTS) return error;
  }
  return SPATE_OK;
}

void folders_remove_empty(struct folders *folders, struct spate_exfat *volume) {
  for (size_t i = folders->count; i-- > 0;) {
    const enum spate_error error = spate_exfat_delete(volume, folders->paths[i]);
    if (error != SPATE_OK && error != SPATE_E_NOT_EMPTY)
      (void)fprintf(stderr, "spate: the empty folder %s stays: %s\n", folders->paths[i],
                    spate_error_name(failure_of(error)));
  }
}

void folders_free(struct folders *folders) {
  for (size_t i = 0; i < folders->count; i++)
    free(folders->paths[i]);
  free(folders->paths);
  *folders = (struct folders){0};
}
