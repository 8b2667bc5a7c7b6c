/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output as a board's console. An application rewrites a line by beginning it with a carriage return. A
 * terminal shows that; elsewhere such a line becomes plain lines, one each ten seconds, and its last state.
 */
#ifndef SPATE_HOSTED_CONSOLE_H
#define SPATE_HOSTED_CONSOLE_H

#include <stddef.h>

/* Ends the program if standard output takes no more. */
void console_write(const char *text, size_t bytes);

#endif
