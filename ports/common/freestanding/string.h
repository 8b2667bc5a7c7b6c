/* SPDX-License-Identifier: Apache-2.0 */
/* <string.h> for boards without a C library: the functions of ports/common/string.c. */
#ifndef SPATE_PORTS_STRING_H
#define SPATE_PORTS_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *start, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *left, const char *right);

#endif
