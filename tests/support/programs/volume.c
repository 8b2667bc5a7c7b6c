/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's exFAT on an image file, for tests that compare it with other implementations.
 *
 *   volume IMAGE [-b BLOCK_BYTES] [-o FIRST_LBA] [-s 1 (salvage chunks)] [-w WINDOW_BYTES] COMMAND ...
 *     format [-c CLUSTER_BYTES] [-l LABEL] [-s SERIAL]
 *     info | recover                 (mounting recovers; both print what was found)
 *     ls PATH | tree                 one line each: type, bytes, valid bytes, contiguous, name
 *     put FILE PATH [CHECKPOINTS]    record FILE as a clip, publishing its length CHECKPOINTS times
 *     put-zeros BYTES PATH           a clip of this length, without writing data
 *     arm PATH BYTES                 reserve, and leave as a power cut would
 *     get PATH FILE | cat PATH OFFSET BYTES
 *     mkdir PATH | rm PATH | mv FROM TO
 *     batch                          commands from standard input, one a line, words divided by tabs; prints
 *                                    "OK" or the error's name after each
 *
 * Exit status 0, or 1 with the error's name on standard error.
 */
#include "../exfat_image.h"
#include "../file_block.h"

#include <inttypes.h>
#include <spate/exfat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CACHE_BYTES (32u * 4096u)
#define PIECE_BYTES (1u << 20)
#define WORDS_MAX   8

struct tool {
  struct ram_block drive;
  struct spate_exfat_config config;
  struct spate_exfat volume;
  struct spate_exfat_mounted found;
  bool mounted;
};

static uint8_t *take(size_t bytes) {
  uint8_t *memory = aligned_alloc(4096, bytes);
  if (memory == NULL) abort();
  return memory;
}

static void now(void *context, struct spate_exfat_time *time_now) {
  (void)context;
  time_t seconds = time(NULL);
  struct tm *tm = gmtime(&seconds);
  *time_now = (struct spate_exfat_time){.year = (uint16_t)(tm->tm_year + 1900),
                                        .month = (uint8_t)(tm->tm_mon + 1),
                                        .day = (uint8_t)tm->tm_mday,
                                        .hour = (uint8_t)tm->tm_hour,
                                        .minute = (uint8_t)tm->tm_min,
                                        .second = (uint8_t)tm->tm_sec,
                                        .utc_known = true};
}

static uint64_t number(const char *text) { return strtoull(text, NULL, 0); }

static enum spate_error format(struct tool *tool, int count, char **words) {
  struct spate_exfat_format options = {.serial = 0x5ba7e000};
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(words[i], "-c") == 0) options.cluster_bytes = (uint32_t)number(words[i + 1]);
    if (strcmp(words[i], "-l") == 0) options.label = words[i + 1];
    if (strcmp(words[i], "-s") == 0) options.serial = (uint32_t)number(words[i + 1]);
  }
  return spate_exfat_format(&tool->config, &options);
}

static enum spate_error info(struct tool *tool) {
  struct spate_exfat_info volume;
  enum spate_error error = spate_exfat_info(&tool->volume, &volume);
  if (error != SPATE_OK) return error;
  printf("bytes %" PRIu64 "\nfree %" PRIu64 "\nlongest %" PRIu64 "\ncluster %u\nserial %08x\nlabel %s\n", volume.bytes,
         volume.free_bytes, volume.longest_free_bytes, volume.cluster_bytes, volume.serial, volume.label);
  printf("backup_boot %d\ndirty %d\nreservations %u\nreclaimed %" PRIu64 "\n", tool->found.backup_boot,
         tool->found.dirty, tool->found.reservations, tool->found.reclaimed_bytes);
  return SPATE_OK;
}

static void print_entry(const char *prefix, const struct spate_exfat_entry *entry) {
  printf("%c %" PRIu64 " %" PRIu64 " %d %s%s\n", entry->directory ? 'd' : 'f', entry->bytes, entry->valid_bytes,
         entry->contiguous, prefix, entry->name);
}

static enum spate_error list(struct tool *tool, const char *path, const char *prefix, int depth) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  bool more = true;
  enum spate_error error = spate_exfat_list(&tool->volume, path, &directory);
  while (error == SPATE_OK && more) {
    error = spate_exfat_list_next(&directory, &entry, &more);
    if (error != SPATE_OK || !more) break;
    print_entry(prefix, &entry);
    if (!entry.directory || depth == 0) continue;
    size_t bytes = strlen(path) + strlen(entry.name) + 2;
    char *below = malloc(bytes + 1);
    if (below == NULL) abort();
    (void)snprintf(below, bytes + 1, "%s%s/", path, entry.name);
    error = list(tool, below, below, depth - 1);
    free(below);
  }
  return error;
}

static void write_data(struct tool *tool, uint64_t lba, void *data, uint32_t bytes) {
  uint32_t blocks = (bytes + (1u << tool->drive.block.block_shift) - 1) >> tool->drive.block.block_shift;
  if (spate_block_write(&tool->drive.block, lba, blocks, data, 0) != SPATE_OK) abort();
}

static enum spate_error publish(struct tool *tool, struct spate_exfat_clip *clip, uint64_t bytes) {
  enum spate_error error = spate_block_flush(&tool->drive.block);
  return error == SPATE_OK ? image_publish(&tool->drive.block, clip, bytes) : error;
}

static enum spate_error put(struct tool *tool, const char *from, const char *path, unsigned checkpoints) {
  struct spate_exfat_clip clip;
  FILE *file = fopen(from, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return SPATE_E_NOT_FOUND;
  uint64_t bytes = (uint64_t)ftell(file);
  if (fseek(file, 0, SEEK_SET) != 0) abort();
  enum spate_error error = spate_exfat_arm(&tool->volume, &clip, path, bytes > 0 ? bytes : 1);
  uint8_t *data = take(PIECE_BYTES);
  uint64_t at = 0;
  uint64_t next = checkpoints > 0 ? bytes / (checkpoints + 1) : UINT64_MAX;
  while (error == SPATE_OK && at < bytes) {
    size_t got = fread(data, 1, PIECE_BYTES, file);
    if (got == 0) abort();
    write_data(tool, clip.first_lba + (at >> tool->drive.block.block_shift), data, (uint32_t)got);
    at += got;
    if (at < next || at == bytes) continue;
    error = publish(tool, &clip, at);
    next = at + bytes / (checkpoints + 1);
  }
  if (error == SPATE_OK) error = spate_exfat_close(&clip, bytes);
  free(data);
  (void)fclose(file);
  return error;
}

static enum spate_error put_zeros(struct tool *tool, uint64_t bytes, const char *path) {
  struct spate_exfat_clip clip;
  enum spate_error error = spate_exfat_arm(&tool->volume, &clip, path, bytes > 0 ? bytes : 1);
  return error == SPATE_OK ? spate_exfat_close(&clip, bytes) : error;
}

static enum spate_error get(struct tool *tool, const char *path, FILE *to, uint64_t offset, uint64_t bytes) {
  struct spate_exfat_file file;
  uint8_t *data = take(PIECE_BYTES);
  enum spate_error error = spate_exfat_open(&tool->volume, path, &file);
  size_t got = 1;
  while (error == SPATE_OK && got > 0 && bytes > 0) {
    error = spate_exfat_read(&file, offset, data, bytes < PIECE_BYTES ? (size_t)bytes : PIECE_BYTES, &got);
    if (error == SPATE_OK && fwrite(data, 1, got, to) != got) abort();
    offset += got;
    bytes -= got;
  }
  free(data);
  return error;
}

static enum spate_error get_file(struct tool *tool, const char *path, const char *name) {
  FILE *file = fopen(name, "wb");
  if (file == NULL) return SPATE_E_INVALID;
  enum spate_error error = get(tool, path, file, 0, UINT64_MAX);
  return fclose(file) == 0 ? error : SPATE_E_MEDIA;
}

static enum spate_error run(struct tool *tool, int count, char **words) {
  const char *command = words[0];
  struct spate_exfat *volume = &tool->volume;
  static struct spate_exfat_clip armed[SPATE_EXFAT_CLIPS_MAX];
  static unsigned armed_count;

  if (strcmp(command, "info") == 0 || strcmp(command, "recover") == 0) return info(tool);
  if (strcmp(command, "tree") == 0) return list(tool, "", "", 64);
  if (strcmp(command, "ls") == 0) return list(tool, count > 1 ? words[1] : "", "", 0);
  if (count < 2) return SPATE_E_INVALID;
  if (strcmp(command, "mkdir") == 0) return spate_exfat_mkdir(volume, words[1]);
  if (strcmp(command, "rm") == 0) return spate_exfat_delete(volume, words[1]);
  if (count < 3) return SPATE_E_INVALID;
  if (strcmp(command, "mv") == 0) return spate_exfat_rename(volume, words[1], words[2]);
  if (strcmp(command, "put-zeros") == 0) return put_zeros(tool, number(words[1]), words[2]);
  if (strcmp(command, "arm") == 0 && armed_count < SPATE_EXFAT_CLIPS_MAX)
    return spate_exfat_arm(volume, &armed[armed_count++], words[1], number(words[2]));
  if (strcmp(command, "put") == 0) return put(tool, words[1], words[2], count > 3 ? (unsigned)number(words[3]) : 0);
  if (strcmp(command, "get") == 0) return get_file(tool, words[1], words[2]);
  if (count < 4) return SPATE_E_INVALID;
  if (strcmp(command, "cat") == 0) return get(tool, words[1], stdout, number(words[2]), number(words[3]));
  return SPATE_E_INVALID;
}

static enum spate_error batch(struct tool *tool) {
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    char *words[WORDS_MAX];
    int count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *word = strtok(line, "\t"); word != NULL && count < WORDS_MAX; word = strtok(NULL, "\t"))
      words[count++] = word;
    enum spate_error error = count > 0 ? run(tool, count, words) : SPATE_E_INVALID;
    printf("%s\n", spate_error_name(error));
    (void)fflush(stdout);
  }
  free(line);
  return SPATE_OK;
}

static int fail(const char *what, enum spate_error error) {
  (void)fprintf(stderr, "%s: %s: %s\n", what, spate_error_name(error), spate_error_help(error));
  return 1;
}

int main(int count, char **words) {
  static struct tool tool;
  static struct spate_exfat_block blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];
  uint32_t block_bytes = 512;
  uint64_t first_lba = 0;
  size_t window_bytes = 256u * 1024u;
  enum spate_error (*salvage)(struct spate_exfat *, struct spate_exfat_mounted *) = NULL;
  int at = 2;
  for (; at + 1 < count && words[at][0] == '-'; at += 2) {
    if (words[at][1] == 'b') block_bytes = (uint32_t)number(words[at + 1]);
    if (words[at][1] == 'o') first_lba = number(words[at + 1]);
    if (words[at][1] == 's' && number(words[at + 1]) != 0) salvage = spate_exfat_salvage;
    if (words[at][1] == 'w') window_bytes = (size_t)number(words[at + 1]);
  }
  if (at >= count) return fail("usage", SPATE_E_INVALID);
  if (file_block_open(&tool.drive, words[1], block_bytes, true) != 0) return fail(words[1], SPATE_E_NOT_FOUND);
  tool.config = (struct spate_exfat_config){.block = &tool.drive.block,
                                            .first_lba = first_lba,
                                            .blocks = tool.drive.block.blocks - first_lba,
                                            .cache = take(CACHE_BYTES),
                                            .cache_bytes = CACHE_BYTES,
                                            .cache_blocks = blocks,
                                            .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                            .bitmap = take(window_bytes),
                                            .bitmap_bytes = window_bytes,
                                            .salvage = salvage,
                                            .now = now};
  tool.drive.trim_fill = -1;
  enum spate_error error;
  if (strcmp(words[at], "format") == 0) {
    error = format(&tool, count - at, words + at);
  } else {
    error = spate_exfat_mount(&tool.volume, &tool.config, &tool.found);
    if (error == SPATE_OK) error = strcmp(words[at], "batch") == 0 ? batch(&tool) : run(&tool, count - at, words + at);
    bool open = tool.volume.clips != NULL;
    if (error == SPATE_OK && !open) error = spate_exfat_unmount(&tool.volume);
  }
  ram_block_close(&tool.drive);
  free(tool.config.cache);
  free(tool.config.bitmap);
  return error == SPATE_OK ? 0 : fail(words[at], error);
}
