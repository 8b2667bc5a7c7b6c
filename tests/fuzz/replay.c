/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target without libFuzzer on every file of a folder. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(INPUT_BYTES_MAX);

  if (file == NULL || data == NULL) {
    (void)fprintf(stderr, "replay: %s cannot be read\n", path);
    if (file != NULL) (void)fclose(file);
    free(data);
    return 1;
  }
  const size_t size = fread(data, 1, INPUT_BYTES_MAX, file);
  (void)fclose(file);
  /* An allocation of exactly the file's size, so that the sanitizer detects a read beyond it. */
  uint8_t *exact = size < INPUT_BYTES_MAX ? malloc(size + (size == 0)) : NULL;
  if (exact == NULL) {
    (void)fprintf(stderr, "replay: %s is too long, or there is no memory for it\n", path);
  } else {
    memcpy(exact, data, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
  }
  free(exact);
  free(data);
  return exact == NULL;
}

int main(int count, char **words) {
  DIR *folder = count == 2 ? opendir(words[1]) : NULL;
  const struct dirent *entry;
  int failed = 0, inputs = 0;

  if (folder == NULL) {
    (void)fprintf(stderr, "replay: name a folder of inputs\n");
    return 2;
  }
  while ((entry = readdir(folder)) != NULL) {
    if (entry->d_name[0] == '.') continue;
    failed |= replay(words[1], entry->d_name);
    inputs++;
  }
  (void)closedir(folder);
  (void)printf("%d inputs\n", inputs);
  return failed != 0 || inputs == 0;
}
