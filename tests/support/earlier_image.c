/* SPDX-License-Identifier: Apache-2.0 */
#include "earlier_image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 256u

static void fail(const char *name, const char *problem, const char *line) {
  (void)fprintf(stderr, "%s.txt: %s (tests/library/exfat/images/README.md has the format)\n%s", name, problem, line);
  abort();
}

static bool read_volume(struct earlier_image *image, const char *line) {
  if (sscanf(line, "volume %" SCNu32 " %" SCNu64, &image->block_bytes, &image->bytes) != 2) return false;
  image->memory = calloc(1, image->bytes);
  return image->memory != NULL;
}

static bool read_found(struct earlier_image *image, const char *line) {
  int dirty_before;
  if (sscanf(line, "found %" SCNu32 " %" SCNu64 " %" SCNu32 " %d", &image->reservations, &image->salvaged_bytes,
             &image->record_number, &dirty_before) != 4)
    return false;
  image->dirty_before = dirty_before != 0;
  return true;
}

static bool read_file(struct earlier_image *image, const char *line) {
  if (image->file_count == EARLIER_FILES_MAX) return false;
  struct earlier_file *file = &image->files[image->file_count++];
  *file = (struct earlier_file){0};
  return sscanf(line, "directory %63s", file->path) == 1 ||
         sscanf(line, "file %" SCNu64 " %c %" SCNu32 " %63s", &file->bytes, &file->letter, &file->first_number,
                file->path) == 4;
}

static bool read_row(const struct earlier_image *image, const char *line) {
  char hex[2u * EARLIER_ROW_BYTES + 1u];
  uint8_t row[EARLIER_ROW_BYTES];
  uint64_t at, count;
  if (sscanf(line, "row %" SCNx64 " %" SCNu64 " %64s", &at, &count, hex) != 3 || strlen(hex) != sizeof hex - 1)
    return false;
  for (uint32_t i = 0; i < EARLIER_ROW_BYTES; i++) {
    const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
    row[i] = (uint8_t)strtoul(digits, NULL, 16);
  }
  if (at > image->bytes || count > (image->bytes - at) / EARLIER_ROW_BYTES) return false;
  for (; count > 0; count--, at += EARLIER_ROW_BYTES)
    memcpy(image->memory + at, row, EARLIER_ROW_BYTES);
  return true;
}

static void read_text(struct earlier_image *image, const char *folder, const char *name, unsigned depth) {
  char path[512], line[LINE_BYTES], base[64];
  (void)snprintf(path, sizeof path, "%s/%s.txt", folder, name);
  FILE *text = fopen(path, "r");
  if (text == NULL) {
    perror(path);
    abort();
  }
  while (fgets(line, sizeof line, text) != NULL) {
    if (depth == 0 && sscanf(line, "over %63s", base) == 1)
      read_text(image, folder, base, depth + 1);
    else if (!read_row(image, line) && !read_volume(image, line) && !read_found(image, line) && !read_file(image, line))
      fail(name, "this line cannot be read", line);
  }
  (void)fclose(text);
}

void earlier_image_open(struct earlier_image *image, const char *folder, const char *name) {
  *image = (struct earlier_image){0};
  read_text(image, folder, name, 0);
  if (image->memory == NULL) fail(name, "there is no line \"volume\" or \"over\"", "");
}

void earlier_image_close(struct earlier_image *image) { free(image->memory); }

void earlier_image_row(const struct earlier_file *file, uint64_t offset_bytes, uint8_t row[EARLIER_ROW_BYTES]) {
  char text[EARLIER_ROW_BYTES + 1];
  uint32_t number = file->first_number + (uint32_t)(offset_bytes / EARLIER_PIECE_BYTES);
  (void)snprintf(text, sizeof text, "stream %c, piece number %8" PRIu32, file->letter, number);
  memcpy(row, text, EARLIER_ROW_BYTES);
}
