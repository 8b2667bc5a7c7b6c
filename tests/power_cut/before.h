/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a volume hold before a mount. A mount may make a file longer, rename or remove it, as its promises
 * say. It must not change a byte that a file has. */
#ifndef SPATE_TESTS_BEFORE_H
#define SPATE_TESTS_BEFORE_H

#include "exfat_oracle.h"

struct before {
  struct before_file {
    char path[1024];
    uint64_t bytes, hash;
  } * files;
  uint32_t count, capacity;
};

void before_free(struct before *before);
void before_note(struct before *before, const struct oracle *oracle);
/* The first file that has other bytes now, or fewer; NULL: none. Files that are not there any more do not count. */
const char *before_changed(const struct before *before, const struct oracle *oracle);

#endif
