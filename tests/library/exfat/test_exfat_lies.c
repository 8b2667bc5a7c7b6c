/* SPDX-License-Identifier: Apache-2.0 */
/* A drive that lies about metadata: a write lands in another place, or nowhere, with success; and metadata that could
 * be read when the volume was mounted cannot be read later. */
#include "exfat/internal.h"
#include "exfat_fixture.h"

#define BLOCK        512u
#define CHECKSUM_LBA 11u /* of the main boot region */

static const char contents[] = "what was there before";

static void open_volume(void) {
  image_open(&image, 64 * MIB, BLOCK, 0);
  image_format(&image);
  put_file("old", contents, sizeof contents);
}

static void restart(void) {
  ram_block_drop_pending(&image.ram);
  ram_block_clear_faults(&image.ram);
  image.ram.lie.kind = RAM_HONEST;
  assert_int_equal(image_mount(&image), SPATE_OK);
}

/* The operation may notice the lie, or not. */
static void told(enum spate_error error) { (void)error; }

static void old_is_whole(void) {
  struct spate_exfat_file file;
  uint8_t got[sizeof contents + 1];
  size_t bytes = 0;
  assert_int_equal(spate_exfat_open(&image.volume, "old", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 0, got, sizeof got, &bytes), SPATE_OK);
  assert_int_equal(bytes, sizeof contents);
  assert_memory_equal(got, contents, bytes);
}

/* The next write, which is metadata, lands here. */
static void misdirect(uint64_t lba) {
  image.ram.lie = (struct ram_lie){.kind = RAM_ELSEWHERE, .last_lba = UINT64_MAX, .other_lba = lba};
}

/* The main boot region has a checksum, and the backup takes its place. Where the region's other sectors are not ours,
 * another system may have written them, and nothing is changed. The boot sector itself is written again with the next
 * change. */
static void a_write_into_the_boot_region_is_seen(void **state) {
  (void)state;
  for (uint64_t lba = 0; lba <= CHECKSUM_LBA; lba++) {
    open_volume();
    misdirect(lba);
    told(spate_exfat_mkdir(&image.volume, "d"));
    restart();
    assert_int_equal(image.found.backup_boot, lba > 0);
    old_is_whole();
    if (lba > 0 && lba < CHECKSUM_LBA) {
      assert_int_equal(image.found.read_only, SPATE_EXFAT_ONLY_BACKUP);
      assert_int_equal(spate_exfat_mkdir(&image.volume, "e"), SPATE_E_READ_ONLY);
    } else {
      put_file("new", contents, sizeof contents); /* repairs the region */
      restart();
      assert_false(image.found.backup_boot);
    }
    old_is_whole();
    image_close(&image);
  }
}

/* The up-case table has a checksum: no name is compared with a wrong one, and nothing is written. */
static void a_write_into_the_upcase_table_is_seen(void **state) {
  (void)state;
  open_volume();
  const uint8_t *entry =
      image.ram.memory + (image.volume.heap_lba + ((image.volume.root.first_cluster - 2u) * MIB >> 9)) * BLOCK;
  while (entry[0] != 0x82)
    entry += 32;
  misdirect(image.volume.heap_lba + ((spate_get32(entry + 20) - 2u) * MIB >> 9));
  told(spate_exfat_mkdir(&image.volume, "d"));
  restart();
  assert_int_equal(image.found.read_only, SPATE_EXFAT_UPCASE);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "e"), SPATE_E_READ_ONLY);
  old_is_whole();
  image_close(&image);
}

/* A slot of the record has a CRC: what landed there counts as empty, and frees nothing. */
static void a_write_into_the_record_frees_nothing(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 3 * MIB), SPATE_OK);
  misdirect(image.volume.record_lba + clip.record);
  assert_int_equal(image_publish(&image.ram.block, &clip, 100), SPATE_OK);
  restart();
  assert_int_equal(image.found.reservations, 0);
  bool allocated;
  assert_int_equal(spate_exfat_bitmap_allocated(&image.volume, clip.first_cluster, 1, &allocated), SPATE_OK);
  assert_true(allocated);
  old_is_whole();
  image_close(&image);
}

/* Whichever write of an operation is nowhere, the file of before is whole after a restart. */
static bool one_write_is_nowhere(uint32_t skip) {
  struct spate_exfat_clip clip;
  open_volume();
  image.ram.lie = (struct ram_lie){.kind = RAM_PHANTOM, .last_lba = UINT64_MAX, .skip = skip};
  if (spate_exfat_mkdir(&image.volume, "d") == SPATE_OK &&
      spate_exfat_arm(&image.volume, &clip, "d/clip", 3 * MIB) == SPATE_OK) {
    (void)image_publish(&image.ram.block, &clip, MIB + 1);
    told(spate_exfat_close(&clip, 2 * MIB));
    told(spate_exfat_rename(&image.volume, "d/clip", "a name that is longer than the one before"));
    told(spate_exfat_delete(&image.volume, "d"));
  }
  const bool happened = image.ram.lie.kind == RAM_HONEST;
  restart();
  old_is_whole();
  image_close(&image);
  return happened;
}

static void a_write_that_is_nowhere_leaves_what_was_there_before(void **state) {
  (void)state;
  uint32_t writes = 0;
  while (one_write_is_nowhere(writes))
    writes++;
  assert_true(writes > 15);
}

/* From some moment on nothing of the volume can be read. The clip continues, and what was published stays. */
static void a_clip_goes_on_when_metadata_cannot_be_read_any_more(void **state) {
  (void)state;
  const struct ram_fault unreadable = {
      .ops = RAM_OP(SPATE_READ), .last_lba = UINT64_MAX, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA};
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  open_volume();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 8 * MIB), SPATE_OK);
  ram_block_fault(&image.ram, unreadable);
  for (uint64_t bytes = MIB; bytes <= 4 * MIB; bytes += MIB)
    assert_int_equal(image_publish(&image.ram.block, &clip, bytes), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clip, 5 * MIB), SPATE_OK);
  restart();
  assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), SPATE_OK);
  assert_int_equal(entry.bytes, 5 * MIB);
  old_is_whole();
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_write_into_the_boot_region_is_seen),
      cmocka_unit_test(a_write_into_the_upcase_table_is_seen),
      cmocka_unit_test(a_write_into_the_record_frees_nothing),
      cmocka_unit_test(a_write_that_is_nowhere_leaves_what_was_there_before),
      cmocka_unit_test(a_clip_goes_on_when_metadata_cannot_be_read_any_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
