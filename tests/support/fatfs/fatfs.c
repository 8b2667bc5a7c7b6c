/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FatFs on an image file, for tests that compare it with the library. Its commands are those of
 * tests/support/programs/volume.c that both implement.
 *
 *   fatfs IMAGE [-b SECTOR_BYTES] COMMAND ...
 *     format [-c CLUSTER_BYTES] [-l LABEL]
 *     info
 *     ls PATH | tree                 one line each: type, bytes, attributes, time of modification, name
 *     put FILE PATH [OFFSET]         a new file; with OFFSET write into an existing file
 *     weave BYTES FILE PATH ...      append BYTES of each FILE in turn to its PATH, so that all are fragments
 *     expand BYTES PATH              a file of one run, with nothing written to it
 *     truncate BYTES PATH
 *     cat PATH OFFSET BYTES
 *     mkdir PATH | rm PATH | mv FROM TO
 *     batch                          commands from standard input, one a line, words divided by tabs; prints
 *                                    "OK" or the error's name after each
 *
 * Exit status 0, or 1 with the error's name on standard error.
 */
#include "image.h"

#include <ff.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (1u << 20)
#define WORDS_MAX   64
#define FILES_MAX   ((WORDS_MAX - 2) / 2)

static FATFS volume;
static BYTE piece[PIECE_BYTES];

static uint64_t number(const char *text) { return strtoull(text, NULL, 0); }

/* The first error of a call and of the close that always follows it. */
static FRESULT first(FRESULT one, FRESULT two) { return one != FR_OK ? one : two; }

static FRESULT format(int count, char **words) {
  MKFS_PARM options = {.fmt = FM_EXFAT | FM_SFD};
  const char *label = "";
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(words[i], "-c") == 0) options.au_size = (DWORD)number(words[i + 1]);
    if (strcmp(words[i], "-l") == 0) label = words[i + 1];
  }
  FRESULT result = f_mkfs("", &options, piece, PIECE_BYTES);
  if (result == FR_OK) result = f_mount(&volume, "", 1);
  return result == FR_OK ? f_setlabel(label) : result;
}

static FRESULT info(int count, char **words) {
  (void)count;
  (void)words;
  FATFS *mounted;
  DWORD free_clusters, serial;
  char label[11 * 3 + 1];
  FRESULT result = f_getfree("", &free_clusters, &mounted);
  if (result == FR_OK) result = f_getlabel("", label, &serial);
  if (result != FR_OK) return result;
  uint64_t cluster = (uint64_t)mounted->csize * mounted->ssize;
  printf("bytes %" PRIu64 "\nfree %" PRIu64 "\ncluster %" PRIu64 "\nserial %08" PRIx32 "\nlabel %s\n",
         (mounted->n_fatent - 2) * cluster, free_clusters * cluster, cluster, serial, label);
  return FR_OK;
}

static FRESULT list(const char *path, bool deep) {
  DIR directory;
  FILINFO entry;
  FRESULT result = f_opendir(&directory, path);
  while (result == FR_OK) {
    result = f_readdir(&directory, &entry);
    if (result != FR_OK || entry.fname[0] == '\0') break;
    bool folder = (entry.fattrib & AM_DIR) != 0;
    printf("%c %" PRIu64 " %u %04u-%02u-%02uT%02u:%02u:%02u %s%s\n", folder ? 'd' : 'f', entry.fsize, entry.fattrib,
           1980u + (entry.fdate >> 9), (entry.fdate >> 5) & 15u, entry.fdate & 31u, entry.ftime >> 11,
           (entry.ftime >> 5) & 63u, (entry.ftime & 31u) * 2u, deep ? path : "", entry.fname);
    if (!folder || !deep) continue;
    size_t room = strlen(path) + strlen(entry.fname) + 2;
    char *below = malloc(room);
    if (below == NULL) abort();
    (void)snprintf(below, room, "%s%s/", path, entry.fname);
    result = list(below, true);
    free(below);
  }
  return result;
}

static FRESULT ls(int count, char **words) { return list(count > 1 ? words[1] : "", false); }

static FRESULT tree(int count, char **words) {
  (void)count;
  (void)words;
  return list("", true);
}

/* Append at most `most` bytes of a host file at the position of `to`; *more is false at its end. */
static FRESULT append(FIL *to, FILE *from, size_t most, bool *more) {
  UINT put_bytes = 0;
  size_t bytes = fread(piece, 1, most, from);
  if (ferror(from) != 0) abort();
  *more = bytes == most;
  FRESULT result = f_write(to, piece, (UINT)bytes, &put_bytes);
  return result == FR_OK && put_bytes < bytes ? FR_DENIED : result; /* FatFs's own code for a full volume */
}

static FILE *open_source(const char *name) {
  FILE *source = fopen(name, "rb");
  if (source == NULL) {
    perror(name);
    exit(2);
  }
  return source;
}

static FRESULT put(int count, char **words) {
  FIL file;
  bool there = count > 3, more = true;
  FILE *source = open_source(words[1]);
  FRESULT result = f_open(&file, words[2], FA_WRITE | (there ? FA_OPEN_EXISTING : FA_CREATE_ALWAYS));
  if (result == FR_OK) {
    if (there) result = f_lseek(&file, number(words[3]));
    while (result == FR_OK && more)
      result = append(&file, source, PIECE_BYTES, &more);
    result = first(result, f_close(&file));
  }
  (void)fclose(source);
  return result;
}

static FRESULT weave(int count, char **words) {
  static FIL files[FILES_MAX];
  FILE *sources[FILES_MAX] = {NULL};
  int opened = 0;
  uint64_t bytes = number(words[1]);
  FRESULT result = bytes == 0 || bytes > PIECE_BYTES ? FR_INVALID_PARAMETER : FR_OK;
  while (result == FR_OK && 3 + 2 * opened < count) {
    result = f_open(&files[opened], words[3 + 2 * opened], FA_WRITE | FA_OPEN_APPEND);
    if (result == FR_OK) sources[opened] = open_source(words[2 + 2 * opened]);
    if (result == FR_OK) opened++;
  }
  bool any = true;
  while (result == FR_OK && any) {
    any = false;
    for (int i = 0; result == FR_OK && i < opened; i++) {
      bool more;
      result = append(&files[i], sources[i], bytes, &more);
      any = any || more;
    }
  }
  for (int i = 0; i < opened; i++) {
    result = first(result, f_close(&files[i]));
    (void)fclose(sources[i]);
  }
  return result;
}

static FRESULT expand(int count, char **words) {
  (void)count;
  FIL file;
  FRESULT result = f_open(&file, words[2], FA_WRITE | FA_CREATE_NEW);
  if (result != FR_OK) return result;
  result = f_expand(&file, number(words[1]), 1);
  return first(result, f_close(&file));
}

static FRESULT truncate_file(int count, char **words) {
  (void)count;
  FIL file;
  FRESULT result = f_open(&file, words[2], FA_WRITE | FA_OPEN_EXISTING);
  if (result != FR_OK) return result;
  result = f_lseek(&file, number(words[1]));
  if (result == FR_OK) result = f_truncate(&file);
  return first(result, f_close(&file));
}

static FRESULT copy_out(const char *path, FILE *to, uint64_t offset, uint64_t bytes) {
  FIL file;
  FRESULT result = f_open(&file, path, FA_READ);
  if (result != FR_OK) return result;
  result = f_lseek(&file, offset);
  UINT got = 1;
  while (result == FR_OK && got > 0 && bytes > 0) {
    result = f_read(&file, piece, bytes < PIECE_BYTES ? (UINT)bytes : PIECE_BYTES, &got);
    if (result == FR_OK && fwrite(piece, 1, got, to) != got) abort();
    bytes -= got;
  }
  return first(result, f_close(&file));
}

static FRESULT cat(int count, char **words) {
  (void)count;
  return copy_out(words[1], stdout, number(words[2]), number(words[3]));
}

static FRESULT make_directory(int count, char **words) {
  (void)count;
  return f_mkdir(words[1]);
}

static FRESULT delete (int count, char **words) {
  (void)count;
  return f_unlink(words[1]);
}

static FRESULT move(int count, char **words) {
  (void)count;
  return f_rename(words[1], words[2]);
}

static const struct command {
  const char *name;
  int words_min;
  FRESULT (*run)(int count, char **words);
} commands[] = {
    {"info", 1, info},
    {"ls", 1, ls},
    {"tree", 1, tree},
    {"put", 3, put},
    {"weave", 4, weave},
    {"expand", 3, expand},
    {"cat", 4, cat},
    {"truncate", 3, truncate_file},
    {"rm", 2, delete},
    {"mv", 3, move},
    {"mkdir", 2, make_directory},
};

static FRESULT run(int count, char **words) {
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (strcmp(words[0], commands[i].name) == 0 && count >= commands[i].words_min) return commands[i].run(count, words);
  return FR_INVALID_PARAMETER;
}

static const char *result_name(FRESULT result) {
  static const char *const names[] = {
      "OK",
      "DISK_ERR",
      "INT_ERR",
      "NOT_READY",
      "NO_FILE",
      "NO_PATH",
      "INVALID_NAME",
      "DENIED",
      "EXIST",
      "INVALID_OBJECT",
      "WRITE_PROTECTED",
      "INVALID_DRIVE",
      "NOT_ENABLED",
      "NO_FILESYSTEM",
      "MKFS_ABORTED",
      "TIMEOUT",
      "LOCKED",
      "NOT_ENOUGH_CORE",
      "TOO_MANY_OPEN_FILES",
      "INVALID_PARAMETER",
  };
  return (size_t)result < sizeof names / sizeof names[0] ? names[result] : "?";
}

static FRESULT batch(void) {
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    char *words[WORDS_MAX];
    int count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *word = strtok(line, "\t"); word != NULL && count < WORDS_MAX; word = strtok(NULL, "\t"))
      words[count++] = word;
    printf("%s\n", result_name(count > 0 ? run(count, words) : FR_INVALID_PARAMETER));
  }
  free(line);
  return FR_OK;
}

static int fail(const char *what, FRESULT result) {
  (void)fprintf(stderr, "%s: %s: FatFs's answer %d\n", what, result_name(result), (int)result);
  return 1;
}

int main(int count, char **words) {
  unsigned sector_bytes = 512;
  int at = 2;
  for (; at + 1 < count && strcmp(words[at], "-b") == 0; at += 2)
    sector_bytes = (unsigned)number(words[at + 1]);
  if (at >= count) return fail("usage", FR_INVALID_PARAMETER);
  if (!image_open(words[1], sector_bytes)) {
    perror(words[1]);
    return 2;
  }
  FRESULT result;
  if (strcmp(words[at], "format") == 0) {
    result = format(count - at, words + at);
  } else {
    result = f_mount(&volume, "", 1);
    if (result == FR_OK) result = strcmp(words[at], "batch") == 0 ? batch() : run(count - at, words + at);
  }
  result = first(result, f_unmount(""));
  if (!image_close()) result = first(result, FR_DISK_ERR);
  return result == FR_OK ? 0 : fail(words[at], result);
}
