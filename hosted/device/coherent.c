/* SPDX-License-Identifier: Apache-2.0 */
#include "coherent.h"

#include "sysfs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)

/* The architecture has it so: caches snoop all DMA. */
bool coherent_device(const char *address, char *why, size_t why_bytes) {
  (void)address;
  (void)why;
  (void)why_bytes;
  return true;
}

#else

static bool has(const char *folder, const char *name) {
  char path[PATH_MAX + 32];

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

/* One folder up; false: there is none. */
static bool up(char *folder) {
  char *last = strrchr(folder, '/');

  if (last == NULL || last == folder) return false;
  *last = '\0';
  return true;
}

/* The nearest word on the way up the tree counts: dma-coherent, or dma-noncoherent. */
static bool tree_says(char *node) {
  do {
    if (has(node, "dma-noncoherent")) return false;
    if (has(node, "dma-coherent")) return true;
  } while (up(node) && strstr(node, "/devicetree/base") != NULL);
  return false;
}

bool coherent_device(const char *address, char *why, size_t why_bytes) {
  char path[SYSFS_PATH_BYTES], folder[PATH_MAX], node[PATH_MAX], link[PATH_MAX + 32];

  sysfs_path(path, address, "");
  if (realpath(path, folder) == NULL) {
    (void)snprintf(why, why_bytes, "there is no such function");
    return false;
  }
  do {
    (void)snprintf(link, sizeof link, "%s/of_node", folder);
    if (realpath(link, node) == NULL) continue;
    if (tree_says(node)) return true;
    (void)snprintf(why, why_bytes, "the device tree does not say that its DMA is coherent (%.300s)", node);
    return false;
  } while (up(folder));
  (void)snprintf(why, why_bytes, "it is in no device tree, so nothing says that its DMA is coherent");
  return false;
}

#endif
