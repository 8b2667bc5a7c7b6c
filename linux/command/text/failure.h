/* SPDX-License-Identifier: Apache-2.0 */
/* What the user reads of a failed request. The library has one error for all that the system refuses (COMMAND). The
 * target notes the system's error here, which messages then use. */
#ifndef SPATE_COMMAND_FAILURE_H
#define SPATE_COMMAND_FAILURE_H

#include <spate/error.h>

/* The target was refused a request with this errno. */
void failure_note(int error);

/* NO_SPACE for COMMAND, if it was refused because there is no space. */
enum spate_error failure_of(enum spate_error error);

/* What to do: spate_error_help(), or what fits the system's error. */
const char *failure_help(enum spate_error error);

#endif
