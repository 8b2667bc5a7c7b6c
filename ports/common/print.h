/* SPDX-License-Identifier: Apache-2.0 */
/* Formatted text for applications on a board's console. Nothing in src/ uses it. */
#ifndef SPATE_PORTS_PRINT_H
#define SPATE_PORTS_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/*
 * The part of printf that firmware needs: %% %c %s %d %i %u %x %X %p, each with flags '-', '0' and '+', a width and a
 * precision (also '*'), and the lengths h hh l ll z j t. Precision: characters of %s, least digits of a number.
 * Anything else is printed unchanged.
 */
__attribute__((format(printf, 1, 2))) void print(const char *format, ...);

/* Prints into `buffer`, which always ends with a NUL if `bytes` > 0. Returns the length of the whole text. */
__attribute__((format(printf, 3, 4))) size_t print_into(char *buffer, size_t bytes, const char *format, ...);

/* The function behind both: `emit` gets the text in parts. Returns the length of the text. As with vprintf(),
 * `arguments` may only be passed to va_end() afterwards. */
size_t print_format(void (*emit)(void *context, const char *text, size_t bytes), void *context, const char *format,
                    va_list arguments);

#endif
