/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include "../text/fail.h"
#include "block_range.h"
#include "contents.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NUMBER_MAX 0xfffffffeul /* of a namespace; all ones mean all namespaces */

/* Parses a number from 1 on after this letter. False: there is none. */
static bool take_number(const char **at, char letter, unsigned long *number) {
  char *end;

  if (**at != letter || (*at)[1] < '1' || (*at)[1] > '9') return false;
  *number = strtoul(*at + 1, &end, 10);
  *at = end;
  return *number <= NUMBER_MAX;
}

size_t place_parse(struct target *target, const char *words, size_t length) {
  const char *slash = memchr(words, '/', length);
  unsigned long nsid, number = 0;

  if (slash == NULL) return length;
  const char *at = slash + 1;
  if (!take_number(&at, 'n', &nsid) || (*at == 'p' && !take_number(&at, 'p', &number)) || at != words + length)
    fail(EXIT_USAGE, "%s: write a namespace as /n2, or a partition of a namespace as /n1p3", target->name);
  target->nsid = (uint32_t)nsid;
  target->partition.number = (unsigned)number;
  return (size_t)(slash - words);
}

void place_of_image(const char *name, char *path, unsigned *number) {
  const char *slash = strrchr(name, '/');
  struct stat status;
  unsigned long found = 0;

  *number = 0;
  (void)snprintf(path, PATH_MAX, "%s", name);
  if (slash == NULL || slash == name || (size_t)(slash - name) >= PATH_MAX) return;
  const char *at = slash + 1;
  if (!take_number(&at, 'p', &found) || *at != '\0') return;
  path[slash - name] = '\0';
  /* A folder may have a file of such a name. */
  if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
    *number = (unsigned)found;
  else
    path[slash - name] = '/';
}

void place_check(const struct target *target, enum target_access access) {
  if (access != TARGET_FUNCTION || target->nsid == 0) return;
  if (target->partition.number == 0)
    fail(EXIT_USAGE, "%s: this program uses the whole drive: leave out /n%u", target->name, target->nsid);
  fail(EXIT_USAGE, "%s: this program uses the whole drive: leave out /n%up%u", target->name, target->nsid,
       target->partition.number);
}

void place_narrow(struct target *target) {
  const uint8_t shift = target->block->block_shift;
  uint64_t bytes;

  if (target->partition.number == 0) return;
  if (!contents_partition(target, &target->partition, &bytes)) {
    const unsigned number = target->partition.number;
    const bool image = target->kind == TARGET_IMAGE;
    const char *whole = image ? "image" : "namespace", *when = image ? "" : " while the kernel has the drive";
    if (contents_write(target, stderr))
      fail(
          EXIT_FAILED,
          "%s: there is no partition %u, or it does not lie within the %s. Name one of these, or change the table with "
          "sfdisk%s",
          target->name, number, whole, when);
    fail(EXIT_FAILED, "%s: the %s has no known contents, and so no partition %u. sfdisk makes one%s", target->name,
         whole, number, when);
  }
  target->range = block_range_open(target->block, target->partition.offset_bytes >> shift, bytes >> shift);
  target->block = block_range_block(target->range);
}
