/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What users of FatFs over an asynchronous disk layer reported: files in folders vanish, f_sync() never returns, files
 * that were moved into one folder are deleted, f_close() returns FR_INT_ERR. Each scenario does what the report says,
 * while another file is being written, and then reads the volume back. It returns NULL, or what went wrong.
 */
#ifndef SPATE_TESTS_DISKIO_SCENARIOS_H
#define SPATE_TESTS_DISKIO_SCENARIOS_H

#include "diskio_fixture.h"

#define CLIP_PIECES 12u
#define BUSY        99u /* the number of the other file's contents */

/* Ends a scenario at FatFs's first error. */
#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    const FRESULT answer = (call);                                                                                     \
    if (answer != FR_OK) return failed(#call, answer);                                                                 \
  } while (0)
#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const char *wrong = (call);                                                                                        \
    if (wrong != NULL) return wrong;                                                                                   \
  } while (0)

static inline const char *failed(const char *call, FRESULT answer) {
  static char text[200];

  (void)snprintf(text, sizeof text, "%s: FatFs's answer %d", call, (int)answer);
  return text;
}

/* The other stream continues: its writes are in flight during what comes next. The lookup moves FatFs's only window
 * from the allocation table to a directory, so that the table is written and soon read again. */
static inline FRESULT others(struct fixture *fixture) {
  FILINFO entry;

  for (unsigned i = 0; i < 4; i++) {
    const FRESULT result = append(fixture, &fixture->objects->busy, BUSY);
    if (result != FR_OK) return result;
  }
  const FRESULT result = f_stat("/BUSY.RAW", &entry);
  return result == FR_OK ? append(fixture, &fixture->objects->busy, BUSY) : result;
}

static inline FRESULT begin(struct fixture *fixture) {
  FRESULT result = f_open(&fixture->objects->busy, "/BUSY.RAW", FA_WRITE | FA_CREATE_NEW);

  if (result == FR_OK) result = f_sync(&fixture->objects->busy);
  return result == FR_OK ? others(fixture) : result;
}

/* Writes a file of CLIP_PIECES pieces. */
static inline const char *write_clip(struct fixture *fixture, const char *path, unsigned number) {
  FIL *file = &fixture->objects->file;

  TRY(f_open(file, path, FA_WRITE | FA_CREATE_NEW));
  for (unsigned i = 0; i < CLIP_PIECES; i++) {
    TRY(append(fixture, file, number));
    if (i % 4 == 0) TRY(others(fixture));
  }
  TRY(f_close(file));
  return NULL;
}

/* How many files a folder has. */
static inline unsigned count_files(struct fixture *fixture, const char *path) {
  DIR *directory = &fixture->objects->directory;
  FILINFO entry;
  unsigned count = 0;

  if (f_opendir(directory, path) != FR_OK) return 0;
  while (count < 1000 && f_readdir(directory, &entry) == FR_OK && entry.fname[0] != '\0')
    count++;
  return count;
}

static inline const char *after(struct fixture *fixture, const char *folder, unsigned files) {
  const uint64_t busy_bytes = f_size(&fixture->objects->busy);

  TRY(f_close(&fixture->objects->busy));
  TRY(fixture_remount(fixture));
  CHECK(wrong_file(fixture, "/BUSY.RAW", BUSY, busy_bytes));
  return count_files(fixture, folder) == files ? NULL : "the folder has another number of files";
}

/* "The directory folder is created, but the file does not show up in the folder." */
static inline const char *files_vanish(struct fixture *fixture) {
  char path[64];

  TRY(begin(fixture));
  TRY(f_mkdir("/FOLDER"));
  TRY(others(fixture));
  TRY(f_chdir("/FOLDER"));
  for (unsigned i = 0; i < 3; i++) {
    (void)snprintf(path, sizeof path, "A file with a long name %u.raw", i);
    CHECK(write_clip(fixture, path, i));
  }
  TRY(f_chdir("/"));
  CHECK(after(fixture, "/FOLDER", 3));
  for (unsigned i = 0; i < 3; i++) {
    (void)snprintf(path, sizeof path, "/FOLDER/A file with a long name %u.raw", i);
    CHECK(wrong_file(fixture, path, i, CLIP_PIECES * PIECE_BYTES));
  }
  return NULL;
}

static inline const char *sync_often(struct fixture *fixture, FIL *file) {
  for (unsigned i = 0; i < CLIP_PIECES; i++) {
    TRY(append(fixture, file, 1));
    TRY(others(fixture));
    TRY(f_sync(file));
  }
  return NULL;
}

/* "f_sync() stalls. The function that stalls is load_obj_xdir." The caller limits the time. */
static inline const char *sync_stalls(struct fixture *fixture) {
  FIL *file = &fixture->objects->file;

  TRY(begin(fixture));
  TRY(f_mkdir("/FOLDER"));
  TRY(f_open(file, "/FOLDER/CLIP.RAW", FA_WRITE | FA_CREATE_NEW));
  CHECK(sync_often(fixture, file));
  TRY(f_sync(&fixture->objects->busy));
  const uint64_t busy_bytes = f_size(&fixture->objects->busy);
  TRY(append(fixture, file, 1));
  TRY(fixture_remount(fixture)); /* neither file was closed */
  CHECK(wrong_file(fixture, "/BUSY.RAW", BUSY, busy_bytes));
  return wrong_file(fixture, "/FOLDER/CLIP.RAW", 1, CLIP_PIECES * PIECE_BYTES);
}

static inline const char *move_clip(struct fixture *fixture, const char *from, const char *to, unsigned number) {
  CHECK(write_clip(fixture, from, number));
  TRY(others(fixture));
  TRY(f_rename(from, to));
  return NULL;
}

/* "If I create another file and move it to the same folder, both files end up getting deleted." */
static inline const char *moved_files_vanish(struct fixture *fixture) {
  TRY(begin(fixture));
  TRY(f_mkdir("/FOLDER"));
  CHECK(move_clip(fixture, "/ONE.RAW", "/FOLDER/ONE.RAW", 1));
  CHECK(move_clip(fixture, "/TWO.RAW", "/FOLDER/TWO.RAW", 2));
  CHECK(after(fixture, "/FOLDER", 2));
  CHECK(wrong_file(fixture, "/FOLDER/ONE.RAW", 1, CLIP_PIECES * PIECE_BYTES));
  return wrong_file(fixture, "/FOLDER/TWO.RAW", 2, CLIP_PIECES * PIECE_BYTES);
}

/* "When I try to close the file, it returns FR_INT_ERR." */
static inline const char *close_fails(struct fixture *fixture) {
  TRY(begin(fixture));
  TRY(f_mkdir("/directory"));
  TRY(others(fixture));
  CHECK(write_clip(fixture, "/directory/filename.txt", 1));
  CHECK(after(fixture, "/directory", 1));
  return wrong_file(fixture, "/directory/filename.txt", 1, CLIP_PIECES * PIECE_BYTES);
}

static const struct scenario {
  const char *name;
  const char *(*run)(struct fixture *fixture);
} scenarios[] = {
    {"files in folders vanish", files_vanish},
    {"f_sync stalls", sync_stalls},
    {"moved files vanish", moved_files_vanish},
    {"f_close fails", close_fails},
};
#define SCENARIOS (sizeof scenarios / sizeof scenarios[0])

#endif
