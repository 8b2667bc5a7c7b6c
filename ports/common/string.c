/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The four functions that a freestanding compiler may call by itself. They access 8-byte words where both sides can be
 * aligned, and bytes elsewhere. They never make a misaligned access, because uncached memory does not support it. Build
 * with -fno-builtin and -fno-tree-loop-distribute-patterns, or a loop here becomes a call to itself.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WORD_BYTES 8u

typedef uint64_t __attribute__((may_alias)) memory_word;

static size_t misalignment(const void *p) { return (uintptr_t)p % WORD_BYTES; }

static void copy_up(uint8_t *to, const uint8_t *from, size_t bytes) {
  if (misalignment(to) == misalignment(from)) {
    for (; bytes && misalignment(to); bytes--)
      *to++ = *from++;
    for (; bytes >= 4 * WORD_BYTES; bytes -= 4 * WORD_BYTES, to += 4 * WORD_BYTES, from += 4 * WORD_BYTES) {
      const memory_word *source = (const memory_word *)(const void *)from;
      memory_word *target = (memory_word *)(void *)to;
      memory_word a = source[0], b = source[1], c = source[2], d = source[3];
      target[0] = a, target[1] = b, target[2] = c, target[3] = d;
    }
    for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES, to += WORD_BYTES, from += WORD_BYTES)
      *(memory_word *)(void *)to = *(const memory_word *)(const void *)from;
  }
  while (bytes--)
    *to++ = *from++;
}

static void copy_down(uint8_t *to_end, const uint8_t *from_end, size_t bytes) {
  if (misalignment(to_end) == misalignment(from_end)) {
    for (; bytes && misalignment(to_end); bytes--)
      *--to_end = *--from_end;
    for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES) {
      to_end -= WORD_BYTES, from_end -= WORD_BYTES;
      *(memory_word *)(void *)to_end = *(const memory_word *)(const void *)from_end;
    }
  }
  while (bytes--)
    *--to_end = *--from_end;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  copy_up(to, from, bytes);
  return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
  if ((uintptr_t)to - (uintptr_t)from >= bytes) {
    copy_up(to, from, bytes);
  } else {
    copy_down((uint8_t *)to + bytes, (const uint8_t *)from + bytes, bytes);
  }
  return to;
}

void *memset(void *start, int value, size_t bytes) {
  uint8_t *at = start;
  uint8_t byte = (uint8_t)value;
  memory_word pattern = byte * UINT64_C(0x0101010101010101);
  for (; bytes && misalignment(at); bytes--)
    *at++ = byte;
  for (; bytes >= 4 * WORD_BYTES; bytes -= 4 * WORD_BYTES, at += 4 * WORD_BYTES) {
    memory_word *target = (memory_word *)(void *)at;
    target[0] = pattern, target[1] = pattern, target[2] = pattern, target[3] = pattern;
  }
  for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES, at += WORD_BYTES)
    *(memory_word *)(void *)at = pattern;
  while (bytes--)
    *at++ = byte;
  return start;
}

int memcmp(const void *left, const void *right, size_t bytes) {
  const uint8_t *a = left, *b = right;
  if (misalignment(a) == misalignment(b)) {
    for (; bytes && misalignment(a) && *a == *b; bytes--)
      a++, b++;
    if (!misalignment(a)) {
      for (; bytes >= WORD_BYTES && *(const memory_word *)(const void *)a == *(const memory_word *)(const void *)b;
           bytes -= WORD_BYTES)
        a += WORD_BYTES, b += WORD_BYTES;
    }
  }
  for (; bytes; bytes--, a++, b++)
    if (*a != *b) return *a - *b;
  return 0;
}

size_t strlen(const char *text) {
  const char *end = text;
  while (*end)
    end++;
  return (size_t)(end - text);
}

int strcmp(const char *left, const char *right) {
  while (*left && *left == *right)
    left++, right++;
  return (uint8_t)*left - (uint8_t)*right;
}
