/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/*
 * The library recovers the volumes that a recorder of an earlier version left open (images/). Each image lists the
 * files that were recorded. These tests fail if the layout of the reservation record on the volume changes.
 */
#include "earlier_image.h"
#include "exfat_fixture.h"

#include <dirent.h>
#include <spate/chunk.h>

#define IMAGES SPATE_ROOT "/tests/library/exfat/images"

static struct earlier_image earlier;

static void load(const char *name) {
  earlier_image_open(&earlier, IMAGES, name);
  image_open(&image, earlier.bytes, earlier.block_bytes, 0);
  image.config.salvage = spate_exfat_salvage;
  memcpy(image.ram.memory, earlier.memory, earlier.bytes);
}

static void unload(void) {
  image_close(&image);
  earlier_image_close(&earlier);
}

/* Chunks of stream B begin with a header. */
static bool in_header(const struct earlier_file *file, uint64_t at) {
  return file->letter == 'B' && at % EARLIER_PIECE_BYTES < SPATE_CHUNK_HEADER_BYTES;
}

static void assert_content(const struct earlier_file *file, const struct oracle_file *found) {
  for (uint64_t at = 0; at < file->bytes; at += EARLIER_ROW_BYTES) {
    uint8_t row[EARLIER_ROW_BYTES];
    if (in_header(file, at)) continue;
    earlier_image_row(file, at, row);
    if (memcmp(oracle_at(&oracle, found, at), row, sizeof row) != 0)
      fail_msg("%s differs at byte %llu", file->path, (unsigned long long)at);
  }
}

/* According to the oracle, the volume has the files and directories of the image with their contents, the file of the
 * reservation record, and no others. */
static void assert_files(void) {
  if (!oracle_read(&oracle, image_start(&image), earlier.bytes)) fail_msg("%s", oracle.fault);
  assert_int_equal(oracle.file_count, earlier.file_count + 1);
  assert_non_null(oracle_find(&oracle, ".spate"));
  for (uint32_t i = 0; i < earlier.file_count; i++) {
    const struct earlier_file *file = &earlier.files[i];
    const struct oracle_file *found = oracle_find(&oracle, file->path);
    if (found == NULL) {
      fail_msg("%s is missing", file->path);
      return;
    }
    assert_int_equal(found->directory, file->letter == 0);
    if (found->directory) continue;
    if (found->bytes != file->bytes || found->valid_bytes != file->bytes)
      fail_msg("%s has %llu bytes instead of %llu", file->path, (unsigned long long)found->bytes,
               (unsigned long long)file->bytes);
    assert_content(file, found);
  }
  assert_int_equal(oracle.leaked, 0);
  oracle_free(&oracle);
}

static void recover(const char *name) {
  load(name);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_true(image.found.dirty);
  assert_int_equal(image.found.reservations, earlier.reservations);
  assert_int_equal(image.found.salvaged_bytes, earlier.salvaged_bytes);
  /* Recovery clears each slot that was in use. The record number grows by one with each of these writes. */
  assert_int_equal(image.volume.record_number, earlier.record_number + earlier.reservations);
  assert_files();
  assert_whole(earlier.dirty_before);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);

  /* The second mount finds nothing to recover, and the volume accepts a new clip. */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.dirty, earlier.dirty_before);
  assert_int_equal(image.found.reservations, 0);
  put_file("NEXT.RAW", NULL, 3 * EARLIER_PIECE_BYTES);
  assert_int_equal(spate_exfat_delete(&image.volume, "NEXT.RAW"), SPATE_OK);
  assert_files();
  assert_whole(earlier.dirty_before);
  unload();
}

static void each_volume_of_an_earlier_version_is_recovered(void **state) {
  (void)state;
  DIR *folder = opendir(IMAGES);
  unsigned count = 0;
  assert_non_null(folder);
  if (folder == NULL) return; /* the analyzer does not know that the assertion ends the test */
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char name[256];
    const char *end = strstr(entry->d_name, ".txt");
    if (end == NULL || strstr(entry->d_name, "-formatted") != NULL) continue;
    (void)snprintf(name, sizeof name, "%.*s", (int)(end - entry->d_name), entry->d_name);
    print_message("%s\n", name);
    recover(name);
    count++;
  }
  (void)closedir(folder);
  assert_int_equal(count, 34);
}

/* A read-only mount counts the open reservations. */
static void a_read_only_mount_writes_nothing(void **state) {
  (void)state;
  load("512-2k-full");
  image.config.read_only = true;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, SPATE_EXFAT_CLIPS_MAX + 1);
  assert_memory_equal(image.ram.memory, earlier.memory, earlier.bytes);
  unload();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_volume_of_an_earlier_version_is_recovered),
      cmocka_unit_test(a_read_only_mount_writes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
