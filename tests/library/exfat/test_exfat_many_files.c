/* SPDX-License-Identifier: Apache-2.0 */
/* How often a folder of ten thousand files is read for a new file. */
#include "exfat_fixture.h"

#define FILES        10000u
#define SET_BYTES    96u /* of a name of up to 15 characters */
#define CLUSTER_BITS 15u
#define BLOCK_SETS   (512u / SET_BYTES) /* a set does not cross a block: so the library places them */
#define FOLDER_BYTES (FILES / BLOCK_SETS * 512u)

/* Let the root directory make a set, and take it out again. */
static void make_set(unsigned number, uint8_t *set) {
  char name[16];
  (void)snprintf(name, sizeof name, "%08u.raw", number);
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  const uint32_t at = small_add(image.ram.memory, name, 0x20, 0, 0, 0, false);
  memcpy(set, root + at, SET_BYTES);
  memset(root + at, 0, SET_BYTES);
}

static void open_folder(void) {
  const uint32_t clusters = (FOLDER_BYTES >> CLUSTER_BITS) + 1u;
  image_open(&image, 64 * MIB, 512, 0);
  small_format(image.ram.memory, 64 * MIB, 9, CLUSTER_BITS);
  const uint32_t first = small_allocate(image.ram.memory, clusters, 1);
  uint8_t *folder = small_cluster(image.ram.memory, first);
  for (unsigned i = 0; i < FILES; i++)
    make_set(i, folder + (size_t)(i / BLOCK_SETS) * 512u + (size_t)(i % BLOCK_SETS) * SET_BYTES);
  for (unsigned i = BLOCK_SETS; i <= FILES; i += BLOCK_SETS)
    folder[(size_t)(i / BLOCK_SETS) * 512u - 32u] = 5; /* an unused entry */
  (void)small_add(image.ram.memory, "many", 0x10, first, (uint64_t)clusters << CLUSTER_BITS,
                  (uint64_t)clusters << CLUSTER_BITS, false);
  image.config.cache_bytes = (size_t)SPATE_EXFAT_CACHE_BLOCKS_MAX * 512u; /* as the command has it */
  assert_int_equal(image_mount(&image), SPATE_OK);
}

/* What spate record asks the library, from before the file is made to after it is closed. */
static void record(const char *path) {
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  assert_int_equal(spate_exfat_stat(&image.volume, path, &entry), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "many"), SPATE_E_EXISTS);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, path, 100000), SPATE_OK);
  assert_int_equal(image_publish(&image.ram.block, &clip, 50000), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clip, 60000), SPATE_OK);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(spate_exfat_stat(&image.volume, path, &entry), SPATE_OK);
    assert_int_equal(entry.bytes, 60000);
  }
}

static uint64_t read_bytes(void) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < image.ram.log_count; i++)
    if (image.ram.log[i].op == SPATE_READ) bytes += (uint64_t)image.ram.log[i].blocks << 9;
  return bytes;
}

/* The folder is read once, with half of the cache at a time, and a little beside it. */
static void a_new_file_costs_one_pass(void **state) {
  (void)state;
  open_folder();
  assert_int_equal(spate_exfat_mkdir(&image.volume, "other"), SPATE_OK); /* makes the record's file, too */
  for (unsigned i = 0; i < 3; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "many/new %u", i);
    ram_block_clear_log(&image.ram);
    image.ram.keep_log = true;
    record(path);
    assert_in_range(read_bytes(), FOLDER_BYTES, FOLDER_BYTES + FOLDER_BYTES / 16u);
    assert_in_range(image.ram.count[SPATE_READ], 1, FOLDER_BYTES / (32u * 512u) + 32u);
  }
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_new_file_costs_one_pass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
