/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output as a board's console. An application rewrites a line by beginning it with a carriage return. On a
 * terminal this works as it is; elsewhere such a line is printed as a new line every ten seconds, and once at its end.
 */
#ifndef SPATE_COMMAND_CONSOLE_H
#define SPATE_COMMAND_CONSOLE_H

#include <stddef.h>

/* Ends the program if writing to standard output fails. */
void console_write(const char *text, size_t bytes);

#endif
