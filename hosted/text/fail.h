/* SPDX-License-Identifier: Apache-2.0 */
/* A command that cannot go on ends the program with a sentence on standard error and one of these statuses. */
#ifndef SPATE_HOSTED_FAIL_H
#define SPATE_HOSTED_FAIL_H

#include <spate/error.h>

enum exit_status {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,  /* a device, a file or the system failed */
  EXIT_USAGE = 2,   /* the command line is wrong: nothing was touched */
  EXIT_REFUSED = 3, /* it would lose something, or is not allowed: nothing was changed */
  EXIT_LOST = 4,    /* done, but data were lost or do not compare; the sentence says how much */
  EXIT_FOUND = 5,   /* done, and something is wrong with what was looked at */
};

__attribute__((noreturn, format(printf, 2, 3))) void fail(enum exit_status status, const char *format, ...);

/* Ends the program unless `error` is OK: what was tried, the error's name, and what to do about it. */
void expect(enum spate_error error, const char *tried);

#endif
