/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include "../bare.h"

#include <stddef.h>
#include <string.h>

char board_words[BOARD_WORDS_BYTES];

const char *arguments_find(char *line, const char *line_end, const char *name) {
  size_t name_bytes = strlen(name);
  for (char *word = line; word < line_end;) {
    char *end = word;
    while (end < line_end && *end != ' ' && *end != 0)
      end++;
    if ((size_t)(end - word) > name_bytes && word[name_bytes] == '=' && memcmp(word, name, name_bytes) == 0) {
      *end = 0;
      return word + name_bytes + 1;
    }
    word = end + 1;
  }
  return NULL;
}

const char *board_argument(const char *name, const char *fallback) {
  const char *value = arguments_find(board_words, board_words + sizeof board_words - 1, name);
  return value ? value : fallback;
}
