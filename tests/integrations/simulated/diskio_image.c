/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diskio_image FORMAT BLOCK_BYTES CLUSTER_BYTES BYTES IMAGE: FatFs records through integrations/fatfs onto a virtual
 * drive that carries out writes late and in random order, and the contents of the drive become an image file. FORMAT is
 * fat32 or exfat. Prints a line for each file: number of its contents, bytes, path. Byte `at` of contents N is
 * content() in diskio_fixture.h.
 */
#include "../diskio_scenarios.h"

#include <machine/stack.h>
#include <stdlib.h>

#define COPY_BYTES (1u << 20)

static void must(bool good, const char *what) {
  if (good) return;
  (void)fprintf(stderr, "diskio_image: %s failed\n", what);
  exit(1);
}

static void tell(unsigned number, uint64_t bytes, const char *path) {
  (void)printf("%u %llu %s\n", number, (unsigned long long)bytes, path);
}

/* A file of odd pieces from odd addresses, of which one half is written twice. */
static void put_odd(struct fixture *fixture, const char *path, unsigned number, uint32_t bytes) {
  FIL *file = &fixture->objects->file;
  UINT put_bytes;

  must(f_open(file, path, FA_WRITE | FA_CREATE_NEW) == FR_OK, path);
  for (uint32_t turn = 0; turn < 2; turn++)
    for (uint32_t at = turn == 0 ? 0 : bytes / 2; at < bytes;) {
      const uint32_t now = bytes - at < 7001u ? bytes - at : 7001u;
      uint8_t *piece = piece_take(fixture) + 3;
      fill(piece, number, at, now);
      must(f_lseek(file, at) == FR_OK && f_write(file, piece, now, &put_bytes) == FR_OK && put_bytes == now, path);
      at += now;
    }
  must(f_close(file) == FR_OK, path);
  tell(number, bytes, path);
}

static void record(struct fixture *fixture) {
  char path[64], moved[64];

  must(begin(fixture) == FR_OK, "begin");
  must(f_mkdir("/clips") == FR_OK && f_mkdir("/clips/a folder inside") == FR_OK, "f_mkdir");
  for (unsigned i = 0; i < 12; i++) {
    (void)snprintf(path, sizeof path, "/clip %u with a long name.raw", i);
    (void)snprintf(moved, sizeof moved, "/clips%s/clip %u.raw", i % 2 == 0 ? "" : "/a folder inside", i);
    must(write_clip(fixture, path, i) == NULL, path);
    must(others(fixture) == FR_OK, "others");
    if (i % 3 == 2) {
      must(f_unlink(path) == FR_OK, "f_unlink");
      continue;
    }
    if (i % 3 == 1) must(f_rename(path, moved) == FR_OK, "f_rename");
    tell(i, CLIP_PIECES * PIECE_BYTES, i % 3 == 1 ? moved : path);
  }
  put_odd(fixture, "/clips/odd.bin", 50, 300001);
  tell(BUSY, f_size(&fixture->objects->busy), "/BUSY.RAW");
  must(f_close(&fixture->objects->busy) == FR_OK, "f_close");
}

/* Pages of zeros stay holes. */
static void write_image(struct sim_drive *drive, uint64_t bytes, const char *path) {
  static uint8_t data[COPY_BYTES], zeros[COPY_BYTES];
  FILE *image = fopen(path, "wb");

  must(image != NULL, path);
  for (uint64_t at = 0; at < bytes; at += COPY_BYTES) {
    sim_store_read(sim_drive_store(drive), at, data, COPY_BYTES);
    if (memcmp(data, zeros, COPY_BYTES) == 0 && at + COPY_BYTES < bytes) continue;
    must(fseeko(image, (off_t)at, SEEK_SET) == 0 && fwrite(data, COPY_BYTES, 1, image) == 1, path);
  }
  must(fclose(image) == 0, path);
}

int main(int count, char **words) {
  must(count == 6, "usage");
  const uint32_t block_bytes = (uint32_t)strtoul(words[2], NULL, 0);
  const uint64_t bytes = strtoull(words[4], NULL, 0);
  const struct volume_kind kind = {.name = words[1],
                                   .format = strcmp(words[1], "fat32") == 0 ? FM_FAT32 : FM_EXFAT,
                                   .block_bytes = block_bytes,
                                   .cluster_bytes = (uint32_t)strtoul(words[3], NULL, 0)};
  const struct sim_stack_config config = {
      .machine = {.seed = 9, .host = sim_host_a53},
      .profile = "970evoplus",
      .options = {.shuffle = true, .write_delay_us = 2000, .bytes = bytes, .block_shift = block_bytes == 512 ? 9 : 12}};
  static struct fixture fixture;
  struct sim_stack *stack = sim_stack_new(&config);

  must(sim_stack_open(stack) == SPATE_OK, "opening the drive");
  fixture.block = stack->block;
  fixture.region = sim_stack_region(stack, REGION_BYTES, SIM_CACHED);
  fixture.bounce = sim_memory_take(stack->sim, BOUNCE_BYTES, SIM_CACHED);
  must(fixture_format(&fixture, &kind) == FR_OK, "formatting");
  record(&fixture);
  fixture_close(&fixture);
  must(sim_stack_close(stack) == SPATE_OK, "shutting the drive down");
  write_image(stack->drives[0].drive, bytes, words[5]);
  sim_stack_free(stack);
  return 0;
}
