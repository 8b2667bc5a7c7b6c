/* SPDX-License-Identifier: Apache-2.0 */
#include "coherent.h"

#include "../text/fail.h"
#include "sysfs.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has(const char *folder, const char *name) {
  char path[PATH_MAX + 32];

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

/* Goes to the parent folder. False: there is none. */
static bool up(char *folder) {
  char *last = strrchr(folder, '/');

  if (last == NULL || last == folder) return false;
  *last = '\0';
  return true;
}

/* Searches upward from the node. The first dma-coherent or dma-noncoherent decides. */
static bool tree_says(char *node) {
  do {
    if (has(node, "dma-noncoherent")) return false;
    if (has(node, "dma-coherent")) return true;
  } while (up(node) && strstr(node, "/devicetree/base") != NULL);
  return false;
}

static enum coherent coherent_in_tree(const char *address) {
  char path[SYSFS_PATH_BYTES], folder[PATH_MAX], node[PATH_MAX], link[PATH_MAX + 32];

  sysfs_path(path, address, "");
  if (realpath(path, folder) == NULL) return COHERENT_UNKNOWN;
  do {
    (void)snprintf(link, sizeof link, "%s/of_node", folder);
    if (realpath(link, node) != NULL) return tree_says(node) ? COHERENT_YES : COHERENT_NO;
  } while (up(folder));
  return COHERENT_UNKNOWN;
}

enum coherent coherent_of(const char *address) {
#if defined(__x86_64__) || defined(__i386__)
  /* On this architecture caches snoop all DMA. A copy of sysfs may be from another machine. */
  if (!sysfs_is_copy()) return COHERENT_YES;
#endif
  return coherent_in_tree(address);
}

void coherent_check(const char *address, enum coherent coherent) {
  if (coherent == COHERENT_YES) return;
  fail(EXIT_REFUSED,
       "%s: %s. Without coherent DMA, data would sometimes be wrong. If the root port is connected coherently (on a "
       "Zynq UltraScale+ by HPC), add dma-coherent to its node in the device tree",
       address,
       coherent == COHERENT_NO ? "the device tree does not say that its DMA is coherent"
                               : "it is not in a device tree, so its DMA may not be coherent");
}
