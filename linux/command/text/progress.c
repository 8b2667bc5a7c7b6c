/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include "json.h"
#include "units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TERMINAL_S 0.25
#define JSON_S     1.0
#define PLAIN_S    10.0
#define COLUMNS    80 /* if the terminal does not say how many it has */
#define WHAT_MIN   8u /* columns of the path, before the rest of the line is cut */

enum progress_style progress_style;

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

/* ---- text ---- */

struct line {
  char text[PROGRESS_TEXT_BYTES];
  size_t used;
};

/* A line that fills the terminal would wrap. */
static size_t columns(void) {
  struct winsize size;

  return (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : COLUMNS) - 1u;
}

/* The end of a path that has at most `room` bytes, and begins with a character. */
static const char *end_of(const char *path, size_t room) {
  const size_t length = strlen(path);
  const char *end = length > room ? path + (length - room) : path;

  while (((unsigned char)*end & 0xc0u) == 0x80u)
    end++;
  return end;
}

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  const int more = vsnprintf(line->text + line->used, sizeof line->text - line->used, format, arguments);
  va_end(arguments);
  if (more > 0) line->used += (size_t)more;
  if (line->used >= sizeof line->text) line->used = sizeof line->text - 1u;
}

static void add_time(struct line *line, double seconds) {
  if (seconds < 100)
    add(line, "  %.0f s left", seconds);
  else if (seconds < 6000)
    add(line, "  %.0f min left", seconds / 60);
  else
    add(line, "  %.1f h left", seconds / 3600);
}

static void add_losses(struct line *line, const struct progress_recording *recording) {
  char lost[UNITS_TEXT_BYTES];

  if (recording->lost_bytes > 0) add(line, "  LOST %s", units_decimal(recording->lost_bytes, lost));
  if (recording->lost_datagrams > 0) add(line, "  LOST %llu datagrams", (unsigned long long)recording->lost_datagrams);
}

/* Names pressure and heat only if they are not calm. */
static void add_recording(struct line *line, const struct progress_recording *recording) {
  add(line, "  ring %.0f %%", recording->ring_percent);
  if (strcmp(recording->pressure, "watch") == 0) add(line, ", filling");
  if (strcmp(recording->pressure, "slow") == 0) add(line, ", SLOW DOWN");
  if (strcmp(recording->pressure, "critical") == 0) add(line, ", OVERRUN NEAR");
  if (recording->celsius != PROGRESS_NO_TEMPERATURE) add(line, "  %d C", recording->celsius);
  if (strcmp(recording->heat, "calm") != 0) add(line, ", HOT");
}

static struct line line_of(const struct progress *progress, uint64_t bytes, double rate,
                           const struct progress_recording *recording) {
  char done[UNITS_TEXT_BYTES], speed[UNITS_TEXT_BYTES];
  const uint64_t left_bytes = progress->total_bytes > bytes ? progress->total_bytes - bytes
                              : recording != NULL           ? recording->room_bytes
                                                            : 0;
  struct line line = {.used = 0};

  /* A total that was estimated may be exceeded. */
  const uint64_t counted = bytes < progress->total_bytes ? bytes : progress->total_bytes;
  if (progress->total_bytes > 0) add(&line, " %3.0f %%", 100.0 * (double)counted / (double)progress->total_bytes);
  if (recording != NULL) add_losses(&line, recording); /* first, as a narrow terminal cuts the rest */
  add(&line, "  %s  %s/s", units_decimal(bytes, done), units_decimal((uint64_t)rate, speed));
  if (left_bytes > 0 && rate >= 1) add_time(&line, (double)left_bytes / rate);
  if (recording != NULL) add_recording(&line, recording);
  return line;
}

static void show_line(const struct progress *progress, uint64_t bytes, double rate,
                      const struct progress_recording *recording) {
  const struct line line = line_of(progress, bytes, rate, recording);

  if (!progress->terminal) {
    (void)fprintf(stderr, "%s%s\n", progress->what, line.text);
    return;
  }
  const size_t width = columns();
  const char *what = end_of(progress->what, width > line.used + WHAT_MIN ? width - line.used : WHAT_MIN);
  const size_t rest = width > strlen(what) ? width - strlen(what) : 0;
  (void)fprintf(stderr, "\r\033[K%s%.*s", what, (int)rest, line.text);
}

/* ---- JSON ---- */

static void show_json(const struct progress *progress, uint64_t bytes, double rate,
                      const struct progress_recording *recording) {
  struct json json = {.to = stderr, .line = true};

  json_open(&json, NULL, '{');
  json_string(&json, "what", progress->what);
  json_real(&json, "seconds", progress_seconds(progress));
  json_integer(&json, "bytes", bytes);
  if (progress->total_bytes > 0) json_integer(&json, "total_bytes", progress->total_bytes);
  json_real(&json, "bytes_per_s", rate);
  if (recording != NULL) {
    json_integer(&json, "durable_bytes", recording->durable_bytes);
    json_integer(&json, "room_bytes", recording->room_bytes);
    json_integer(&json, "lost_bytes", recording->lost_bytes);
    json_integer(&json, "lost_datagrams", recording->lost_datagrams);
    json_integer(&json, "gaps", recording->gaps);
    json_real(&json, "ring_percent", recording->ring_percent);
    json_string(&json, "pressure", recording->pressure);
    json_string(&json, "heat", recording->heat);
    if (recording->celsius != PROGRESS_NO_TEMPERATURE) json_real(&json, "celsius", recording->celsius);
  }
  json_close(&json, '}');
}

/* Since the last line. Bytes fall when work begins again, as the links of a join do after a loss of power. */
static double rate_of(const struct progress *progress, uint64_t bytes, double seconds) {
  return bytes > progress->shown_bytes ? (double)(bytes - progress->shown_bytes) / seconds : 0;
}

void progress_show(struct progress *progress, uint64_t bytes, const struct progress_recording *recording) {
  const struct timespec time = now();
  const double seconds = between(&progress->shown, &time);
  const double rate = rate_of(progress, bytes, seconds);
  const double interval_s = progress_style == PROGRESS_JSON ? JSON_S : progress->terminal ? TERMINAL_S : PLAIN_S;

  if (progress_style == PROGRESS_NONE || seconds < interval_s) return;
  if (progress_style == PROGRESS_JSON)
    show_json(progress, bytes, rate, recording);
  else
    show_line(progress, bytes, rate, recording);
  progress->shown = time;
  progress->shown_bytes = bytes;
  progress->any = true;
}

bool progress_text(struct progress *progress, uint64_t bytes, const struct progress_recording *recording,
                   double interval_s, char text[PROGRESS_TEXT_BYTES]) {
  const struct timespec time = now();
  const double seconds = between(&progress->shown, &time);

  if (seconds < interval_s) return false;
  const struct line line = line_of(progress, bytes, rate_of(progress, bytes, seconds), recording);
  const char *words = line.text + strspn(line.text, " ");
  memcpy(text, words, strlen(words) + 1u);
  progress->shown = time;
  progress->shown_bytes = bytes;
  return true;
}

void progress_clear(const struct progress *progress) {
  if (progress->any && progress->terminal && progress_style == PROGRESS_PEOPLE) (void)fputs("\r\033[K", stderr);
}

void progress_end(struct progress *progress) { progress_clear(progress); }
