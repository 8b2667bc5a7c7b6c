/* SPDX-License-Identifier: Apache-2.0 */
#include "console.h"

#include "../text/fail.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PLAIN_S    10
#define LINE_BYTES 512u

static struct {
  char line[LINE_BYTES]; /* not shown yet; a longer line is shown as several */
  size_t used;
  time_t shown_s;
  bool known, terminal;
} console;

static void put(const char *text, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(STDOUT_FILENO, text, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(EXIT_FAILED, "standard output: %s", strerror(errno));
    text += written;
    bytes -= (size_t)written;
  }
}

static time_t now_s(void) {
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

/* Shows the line without the trailing blanks, which only cover the line's previous contents on a terminal. */
static void show_line(void) {
  while (console.used > 0 && console.line[console.used - 1u] == ' ')
    console.used--;
  console.line[console.used] = '\n';
  put(console.line, console.used + 1u);
  console.used = 0;
  console.shown_s = now_s();
}

static void add(char byte) {
  if (byte == '\n') {
    show_line();
  } else if (byte == '\r') {
    if (console.used > 0 && now_s() - console.shown_s >= PLAIN_S) show_line();
    console.used = 0;
  } else {
    if (console.used == LINE_BYTES - 1u) show_line();
    console.line[console.used++] = byte;
  }
}

void console_write(const char *text, size_t bytes) {
  if (!console.known) {
    console.terminal = isatty(STDOUT_FILENO) == 1;
    console.shown_s = now_s();
    console.known = true;
  }
  if (console.terminal)
    put(text, bytes);
  else
    for (size_t i = 0; i < bytes; i++)
      add(text[i]);
}
