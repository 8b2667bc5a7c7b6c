/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <stddef.h>
#include <string.h>

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
