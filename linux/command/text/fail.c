/* SPDX-License-Identifier: Apache-2.0 */
#include "fail.h"

#include "failure.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MESSAGE_BYTES 4096

void fail_say(const char *format, va_list arguments) {
  char message[MESSAGE_BYTES];

  (void)vsnprintf(message, sizeof message, format, arguments);
  for (char *at = message; *at != '\0'; at++)
    if (iscntrl((unsigned char)*at) && *at != '\n') *at = '?';
  (void)fputs(message, stderr);
}

__attribute__((format(printf, 1, 0))) static void line(const char *format, va_list arguments) {
  (void)fputs("spate: ", stderr);
  fail_say(format, arguments);
  (void)fputc('\n', stderr);
}

void fail_tell(const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  line(format, arguments);
  va_end(arguments);
}

void fail(enum exit_status status, const char *format, ...) {
  va_list arguments;

  (void)fflush(stdout);
  va_start(arguments, format);
  line(format, arguments);
  va_end(arguments);
  exit((int)status);
}

void expect(enum spate_error error, const char *tried) {
  if (error != SPATE_OK)
    fail(EXIT_FAILED, "%s: %s. %s", tried, spate_error_name(failure_of(error)), failure_help(error));
}
