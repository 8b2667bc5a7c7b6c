/* SPDX-License-Identifier: Apache-2.0 */
/* A command that cannot continue ends the program with a message on standard error and one of these statuses. */
#ifndef SPATE_COMMAND_FAIL_H
#define SPATE_COMMAND_FAIL_H

#include <spate/error.h>

enum exit_status {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,  /* a device, a file or the system failed */
  EXIT_USAGE = 2,   /* the command line is wrong: nothing was changed */
  EXIT_REFUSED = 3, /* it would lose data, or is not allowed: nothing was changed */
  EXIT_LOST = 4,    /* done, but data were lost or do not match; the message says how much */
  EXIT_FOUND = 5,   /* done, and doctor found something wrong */
};

#include <stdarg.h>

/* These print on standard error without control characters, which a name from the command line may have. */
__attribute__((format(printf, 1, 0))) void fail_say(const char *format, va_list arguments);
/* For what does not end the program: a line that begins with "spate: ". */
__attribute__((format(printf, 1, 2))) void fail_tell(const char *format, ...);

__attribute__((noreturn, format(printf, 2, 3))) void fail(enum exit_status status, const char *format, ...);

/* Ends the program unless `error` is OK. Prints what was tried, the error's name, and what to do. */
void expect(enum spate_error error, const char *tried);

#endif
