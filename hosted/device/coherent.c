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

#if defined(__x86_64__) || defined(__i386__)

/* The architecture has it so: caches snoop all DMA. */
void coherent_check(const char *address) { (void)address; }

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

__attribute__((noreturn)) static void refuse(const char *address, const char *why) {
  fail(EXIT_REFUSED,
       "%s: %s. Without coherent DMA data would be wrong now and then. If the root port is connected coherently (on a "
       "Zynq UltraScale+ by HPC or ACP), its node in the device tree says dma-coherent",
       address, why);
}

void coherent_check(const char *address) {
  char path[SYSFS_PATH_BYTES], folder[PATH_MAX], node[PATH_MAX], link[PATH_MAX + 32];

  sysfs_path(path, address, "");
  if (realpath(path, folder) == NULL) refuse(address, "there is no such function");
  do {
    (void)snprintf(link, sizeof link, "%s/of_node", folder);
    if (realpath(link, node) == NULL) continue;
    if (!tree_says(node)) refuse(address, "the device tree does not say that its DMA is coherent");
    return;
  } while (up(folder));
  refuse(address, "it is in no device tree, so nothing says that its DMA is coherent");
}

#endif
