/* SPDX-License-Identifier: Apache-2.0 */
/* How far long work is, on standard error: one line that changes on a terminal, a line every ten seconds elsewhere. */
#ifndef SPATE_HOSTED_PROGRESS_H
#define SPATE_HOSTED_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
  const char *what;
  uint64_t total_bytes; /* 0: not known */
  uint64_t shown_bytes;
  struct timespec begun, shown;
  bool terminal, any;
};

void progress_begin(struct progress *progress, const char *what, uint64_t total_bytes);
/* `more` follows the rate: the command's own words. Shown four times a second at most. */
void progress_show(struct progress *progress, uint64_t bytes, const char *more);
void progress_end(struct progress *progress);

/* Since the beginning. */
double progress_seconds(const struct progress *progress);

#endif
