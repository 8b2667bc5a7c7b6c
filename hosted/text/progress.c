/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include "units.h"

#include <stdio.h>
#include <unistd.h>

#define TERMINAL_S 0.25
#define PLAIN_S    10.0
#define COLUMNS    79 /* a line that fills a terminal of 80 would wrap */

static double between(const struct timespec *from, const struct timespec *to) {
  return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

static struct timespec now(void) {
  struct timespec time;

  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return time;
}

void progress_begin(struct progress *progress, const char *what, uint64_t total_bytes) {
  *progress = (struct progress){
      .what = what, .total_bytes = total_bytes, .begun = now(), .terminal = isatty(STDERR_FILENO) == 1};
  progress->shown = progress->begun;
}

double progress_seconds(const struct progress *progress) {
  const struct timespec time = now();

  return between(&progress->begun, &time);
}

void progress_show(struct progress *progress, uint64_t bytes, const char *more) {
  char done[UNITS_TEXT_BYTES], rate[UNITS_TEXT_BYTES], share[16] = "", line[2 * COLUMNS];
  const struct timespec time = now();
  const double seconds = between(&progress->shown, &time);

  if (seconds < (progress->terminal ? TERMINAL_S : PLAIN_S)) return;
  if (progress->total_bytes > 0)
    (void)snprintf(share, sizeof share, " %3.0f %%", 100.0 * (double)bytes / (double)progress->total_bytes);
  (void)units_decimal((uint64_t)((double)(bytes - progress->shown_bytes) / seconds), rate);
  (void)snprintf(line, sizeof line, "%s%s  %s  %s/s%s%s", progress->what, share, units_decimal(bytes, done), rate,
                 more[0] != '\0' ? "  " : "", more);
  if (progress->terminal)
    (void)fprintf(stderr, "\r\033[K%.*s", COLUMNS, line);
  else
    (void)fprintf(stderr, "%s\n", line);
  progress->shown = time;
  progress->shown_bytes = bytes;
  progress->any = true;
}

void progress_end(struct progress *progress) {
  if (progress->any && progress->terminal) (void)fputs("\r\033[K", stderr);
}
