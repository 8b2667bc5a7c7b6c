/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and opening arrays: what is written, what is refused, and the effects of a damaged superblock. */
#include "stripe_fixture.h"

#define MEMBER     (4 * MIB)
#define SUPERBLOCK 4096u
#define USED_BYTES 512u /* the header and the used roles: the range of the checksum */

static uint8_t *superblock_of(struct array *array, unsigned drive) { return array->drives[drive].memory + SUPERBLOCK; }

static enum spate_error open_again(struct array *array) { return spate_stripe_open(&array->stripe, &array->config); }

static struct array *created(uint8_t count, uint32_t chunk_bytes, uint32_t block_bytes) {
  struct array *array = open_drives(count, MEMBER + MIB, block_bytes);

  array->create.chunk_bytes = chunk_bytes;
  array->create.created_s = 1700000000;
  OK(spate_stripe_create(&array->config, &array->create));
  return array;
}

/* ---- create ---- */

/* Each field is compared with struct mdp_superblock_1 of Linux's md_p.h. */
static void test_fields(void **state) {
  (void)state;
  for (uint32_t block_bytes = 512; block_bytes <= 4096; block_bytes *= 8) {
    struct array *array = created(3, 65536, block_bytes);
    for (unsigned i = 0; i < 3; i++) {
      const uint8_t *at = superblock_of(array, i);
      assert_int_equal(spate_get32(at), 0xa92b4efc);
      assert_int_equal(spate_get32(at + 4), 1);
      assert_int_equal(spate_get32(at + 8), 0);
      assert_memory_equal(at + 16, array_uuid, 16);
      assert_string_equal((const char *)at + 32, "test");
      assert_int_equal(spate_get64(at + 64), 1700000000);
      assert_int_equal(spate_get32(at + 72), 0);             /* level */
      assert_int_equal(spate_get32(at + 76), 1);             /* layout, as mdadm's */
      assert_int_equal(spate_get32(at + 88), 128);           /* chunk */
      assert_int_equal(spate_get32(at + 92), 3);             /* members */
      assert_int_equal(spate_get64(at + 128), 2048);         /* data area */
      assert_int_equal(spate_get64(at + 136), MEMBER / 512); /* its size */
      assert_int_equal(spate_get64(at + 144), 8);            /* this superblock */
      assert_int_equal(spate_get32(at + 160), i);
      for (unsigned j = 0; j < i; j++)
        assert_memory_not_equal(at + 168, superblock_of(array, j) + 168, 16);
      assert_int_equal(spate_get64(at + 192), 1700000000); /* last updated */
      assert_int_equal(spate_get64(at + 208), UINT64_MAX); /* nothing to resync */
      assert_int_equal(spate_get32(at + 216), checksum(at));
      assert_int_equal(spate_get32(at + 220), 128);
      for (unsigned j = 0; j < 128; j++)
        assert_int_equal(spate_get16(at + 256 + 2 * j), j < 3 ? j : 0xffff);
      assert_true(array->drives[i].count[SPATE_FLUSH] > 0);
    }
    close_drives(array);
  }
}

static void test_create_is_refused(void **state) {
  struct array *array = open_drives(3, MEMBER + MIB, 512);
  struct spate_stripe_create good = array->create;
  char name[34] = "123456789012345678901234567890123";

  (void)state;
  array->config.member_count = 1;
  GIVES(SPATE_E_INVALID, spate_stripe_create(&array->config, &array->create));
  array->config.member_count = 9;
  GIVES(SPATE_E_INVALID, spate_stripe_create(&array->config, &array->create));
  array->config.member_count = 3;
  struct spate_block *second = array->blocks[1];
  array->blocks[1] = array->blocks[2];
  GIVES(SPATE_E_INVALID, spate_stripe_create(&array->config, &array->create));
  array->blocks[1] = second;
  array->config.scratch = array->scratch + 8;
  GIVES(SPATE_E_INVALID, spate_stripe_create(&array->config, &array->create));
  array->config.scratch = array->scratch;
  memset(array->create.uuid, 0, 16);
  GIVES(SPATE_E_INVALID, spate_stripe_create(&array->config, &array->create));
  array->create = good;
  array->create.name = name; /* one byte too many */
  GIVES(SPATE_E_INVALID, spate_stripe_create(&array->config, &array->create));
  array->create = good;
  for (unsigned i = 0; i < 4; i++) {
    array->create.chunk_bytes = (const uint32_t[]){2048, 12288, 3u << 20, UINT32_C(1) << 31}[i];
    GIVES(SPATE_E_INVALID, spate_stripe_create(&array->config, &array->create));
  }
  array->create.chunk_bytes = 8u << 20;
  GIVES(SPATE_E_TOO_SMALL, spate_stripe_create(&array->config, &array->create));
  array->create = good;
  array->drives[2].block.block_shift = 12;
  GIVES(SPATE_E_BLOCK_SIZE, spate_stripe_create(&array->config, &array->create));
  array->drives[2].block.block_shift = 9;
  for (unsigned i = 0; i < 3; i++)
    array->drives[i].block.blocks = UINT64_C(1) << 40; /* 512 TiB each, in chunks of 4096 bytes: too many of them */
  array->create.chunk_bytes = 4096;
  array->create.erase_foreign = true;
  GIVES(SPATE_E_UNSUPPORTED, spate_stripe_create(&array->config, &array->create));
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(array->drives[i].count[SPATE_WRITE], 0);
  close_drives(array);
}

/* The smallest drive decides, whichever it is. */
static void test_smallest_drive(void **state) {
  (void)state;
  for (unsigned smallest = 0; smallest < 3; smallest++) {
    struct array *array = open_drives(3, MEMBER + MIB, 512);
    array->drives[smallest].block.blocks = (3 * MIB + 65536 + 512) / 512;
    array->create.chunk_bytes = 65536;
    OK(spate_stripe_create(&array->config, &array->create));
    OK(open_again(array));
    assert_int_equal(array->stripe.block.blocks, 3 * (2 * MIB + 65536) / 512);
    close_drives(array);
  }
}

static bool is_blank(const uint8_t *at, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i++)
    if (at[i] != 0) return false;
  return true;
}

/* Data on any member, wherever a signature may lie: nothing is written to any member. With the erase option it is
 * gone. */
static void test_foreign(void **state) {
  static const uint64_t places[] = {0, 510, 1024, 4096, 65536 + 64, MIB - 1, MIB, 2 * MIB - 1};

  (void)state;
  for (unsigned place = 0; place < 11; place++)
    for (unsigned drive = 0; drive < 3; drive += 2) {
      struct array *array = open_drives(3, MEMBER + MIB, place % 2 ? 512 : 4096);
      const uint64_t bytes = array->drives[drive].bytes;
      const uint64_t at = place < 8 ? places[place] : place == 8 ? bytes - 1 : place == 9 ? bytes - 512 : bytes - MIB;
      array->drives[drive].memory[at] = 0x42;
      GIVES(SPATE_E_FOREIGN, spate_stripe_create(&array->config, &array->create));
      for (unsigned i = 0; i < 3; i++)
        assert_int_equal(array->drives[i].count[SPATE_WRITE], 0);

      array->create.erase_foreign = true;
      OK(spate_stripe_create(&array->config, &array->create));
      assert_true(is_blank(array->drives[drive].memory, SUPERBLOCK));
      assert_true(is_blank(array->drives[drive].memory + SUPERBLOCK + USED_BYTES, 2 * MIB - SUPERBLOCK - USED_BYTES));
      assert_true(is_blank(array->drives[drive].memory + bytes - MIB, MIB));
      OK(open_again(array));
      close_drives(array);
    }
}

/* A name may fill its field, or be absent. */
static void test_name(void **state) {
  static const char name[] = "12345678901234567890123456789012";
  struct array *array = open_drives(2, MEMBER + MIB, 512);

  (void)state;
  array->create.name = name;
  OK(spate_stripe_create(&array->config, &array->create));
  assert_memory_equal(superblock_of(array, 1) + 32, name, 32);
  assert_int_equal(spate_get64(superblock_of(array, 1) + 64), 0);
  array->create.name = NULL;
  array->create.erase_foreign = true;
  OK(spate_stripe_create(&array->config, &array->create));
  assert_true(is_blank(superblock_of(array, 1) + 32, 32));
  OK(open_again(array));
  close_drives(array);
}

/* Trimmed drives may read as ones. The space between the places of signatures is not checked. An existing array counts
 * as contents. */
static void test_blank(void **state) {
  struct array *array = open_drives(2, MEMBER + MIB, 512);

  (void)state;
  for (unsigned i = 0; i < 2; i++)
    memset(array->drives[i].memory, 0xff, array->drives[i].bytes);
  array->drives[1].memory[2 * MIB] = 1;
  OK(spate_stripe_create(&array->config, &array->create));
  assert_true(is_blank(superblock_of(array, 0) + 512, 4096 - 512)); /* no ones are left after the roles */
  OK(open_again(array));
  GIVES(SPATE_E_FOREIGN, spate_stripe_create(&array->config, &array->create));
  close_drives(array);
}

static void test_device_errors(void **state) {
  struct array *array = open_drives(3, MEMBER + MIB, 512);

  (void)state;
  ram_block_fault(&array->drives[2],
                  (struct ram_fault){.ops = RAM_OP(SPATE_READ), .last_lba = 7, .times = 1, .error = SPATE_E_MEDIA});
  GIVES(SPATE_E_MEDIA, spate_stripe_create(&array->config, &array->create));
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(array->drives[i].count[SPATE_WRITE], 0);
  ram_block_fault(&array->drives[1],
                  (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), .last_lba = 99, .times = 1, .error = SPATE_E_MEDIA});
  GIVES(SPATE_E_MEDIA, spate_stripe_create(&array->config, &array->create));
  ram_block_fault(&array->drives[1], (struct ram_fault){.ops = RAM_OP(SPATE_FLUSH), .times = 1, .error = SPATE_E_GONE});
  array->create.erase_foreign = true;
  GIVES(SPATE_E_GONE, spate_stripe_create(&array->config, &array->create));
  OK(spate_stripe_create(&array->config, &array->create));
  ram_block_fault(&array->drives[0],
                  (struct ram_fault){.ops = RAM_OP(SPATE_READ), .last_lba = 99, .times = 1, .error = SPATE_E_MEDIA});
  GIVES(SPATE_E_MEDIA, open_again(array));
  OK(open_again(array));
  close_drives(array);
}

/* ---- open ---- */

/* The members may be plugged in any order. */
static void test_any_order(void **state) {
  struct array *array = created(4, 4096, 512);
  uint64_t random = 1;

  (void)state;
  for (unsigned round = 0; round < 24; round++) {
    for (unsigned i = 3; i > 0; i--) {
      const unsigned j = (unsigned)(ram_random(&random) % (i + 1));
      struct spate_block *other = array->blocks[i];
      array->blocks[i] = array->blocks[j];
      array->blocks[j] = other;
    }
    OK(open_again(array));
    for (unsigned i = 0; i < 4; i++) {
      assert_ptr_equal(array->stripe.members[i].block, &array->drives[i].block);
      assert_int_equal(array->stripe.members[i].data_lba, MIB / 512);
    }
  }
  close_drives(array);
}

static void test_members_that_do_not_match(void **state) {
  struct array *array = created(3, 65536, 512);
  struct array *other = created(3, 65536, 512);

  (void)state;
  array->config.member_count = 2; /* one is missing */
  GIVES(SPATE_E_STRIPE, open_again(array));
  array->config.member_count = 3;
  array->config.part_count = 5;
  GIVES(SPATE_E_INVALID, open_again(array));
  array->config.part_count = SPATE_STRIPE_PARTS_MAX + 1;
  GIVES(SPATE_E_INVALID, open_again(array));
  struct spate_stripe_part *parts = calloc(SPATE_STRIPE_PARTS_MAX, sizeof *parts);
  array->config.parts = parts;
  array->config.part_count = SPATE_STRIPE_PARTS_MAX;
  OK(open_again(array));
  array->config.parts = array->parts;
  array->config.part_count = PARTS_MAX;
  free(parts);
  for (unsigned i = 0; i < 3; i++) { /* one twice, in any two places */
    struct spate_block *const kept = array->blocks[i];
    array->blocks[i] = array->blocks[(i + 1) % 3];
    GIVES(SPATE_E_INVALID, open_again(array));
    array->blocks[i] = kept;
  }
  array->config.scratch = NULL;
  GIVES(SPATE_E_INVALID, open_again(array));
  array->config.scratch = array->scratch + SPATE_DMA_ALIGN / 2;
  GIVES(SPATE_E_INVALID, open_again(array));
  array->config.scratch = array->scratch;
  array->drives[1].block.block_shift++;
  GIVES(SPATE_E_BLOCK_SIZE, open_again(array));
  array->drives[1].block.block_shift--;
  memcpy(superblock_of(array, 2), superblock_of(array, 1), 4096); /* one twice */
  GIVES(SPATE_E_STRIPE, open_again(array));
  other->create.erase_foreign = true;
  other->create.uuid[15]++;
  OK(spate_stripe_create(&other->config, &other->create));
  memcpy(superblock_of(array, 2), superblock_of(other, 2), 4096); /* one of another array */
  GIVES(SPATE_E_STRIPE, open_again(array));
  memset(superblock_of(array, 2), 0, 4096);
  GIVES(SPATE_E_NO_STRIPE, open_again(array));
  array->drives[2].block.blocks = 15; /* too small to have one */
  GIVES(SPATE_E_NO_STRIPE, open_again(array));
  close_drives(array);
  close_drives(other);
}

/* Valid superblocks whose contents we cannot use. */
static void test_other_arrays(void **state) {
  static const struct {
    unsigned at, bytes;
    uint64_t value;
    enum spate_error error;
    bool on_all;
  } changes[] = {
      {4, 4, 2, SPATE_E_STRIPE, true},           /* another major version */
      {8, 4, 1, SPATE_E_STRIPE, true},           /* a bitmap */
      {8, 4, 4, SPATE_E_STRIPE, true},           /* a reshape under way */
      {8, 4, 4096, SPATE_OK, true},              /* a layout for multiple zones, which it does not have */
      {16, 1, 1, SPATE_E_STRIPE, false},         /* another array */
      {32, 1, 'x', SPATE_OK, false},             /* a name is only a name */
      {72, 4, 1, SPATE_E_STRIPE, true},          /* RAID 1 */
      {72, 4, UINT32_MAX, SPATE_E_STRIPE, true}, /* linear */
      {88, 4, 0, SPATE_E_STRIPE, true},          /* chunk sizes */
      {88, 4, 4, SPATE_E_STRIPE, true},
      {88, 4, 24, SPATE_E_STRIPE, true},
      {88, 4, 1u << 22, SPATE_E_STRIPE, true},
      {88, 4, 64, SPATE_E_STRIPE, false}, /* not the others' */
      {92, 4, 4, SPATE_E_STRIPE, true},   /* more members than there are */
      {92, 4, 2, SPATE_E_STRIPE, true},
      {128, 8, 2047, SPATE_E_STRIPE, true}, /* half a block of 4096 bytes */
      {128, 8, 8, SPATE_E_STRIPE, true},    /* data over the superblock */
      {128, 8, 16, SPATE_OK, true},         /* just behind it */
      {128, 8, 4096, SPATE_E_STRIPE, true}, /* data beyond the drive's end */
      {128, 8, UINT64_MAX, SPATE_E_STRIPE, true},
      {128, 8, UINT64_MAX / 512, SPATE_E_STRIPE, true},
      /* as a number of bytes it wraps to its former value */
      {128, 8, (UINT64_C(1) << 55) + 2048, SPATE_E_STRIPE, true},
      {136, 8, (UINT64_C(1) << 55) + MEMBER / 512, SPATE_E_STRIPE, true},
      {128, 8, 2040, SPATE_OK, false}, /* not the others' offset */
      {136, 8, MEMBER / 512 + 4096, SPATE_E_STRIPE, true},
      {136, 8, UINT64_MAX, SPATE_E_STRIPE, true},
      {136, 8, 0, SPATE_E_STRIPE, true},
      {136, 8, MEMBER / 512 - 128, SPATE_E_STRIPE, false}, /* one chunk less: a second zone for the others */
      {136, 8, MEMBER / 512 - 127, SPATE_E_STRIPE, false},
      {136, 8, MEMBER / 512 + 4, SPATE_OK, false}, /* no chunk more */
      {144, 8, 0, SPATE_E_CORRUPT, true},          /* a superblock of version 1.1 */
      {160, 4, 128, SPATE_E_STRIPE, false},
      {258, 2, 3, SPATE_E_STRIPE, false},          /* one role more than there are members */
      {160, 4, UINT32_MAX, SPATE_E_STRIPE, false}, /* a member number that has no role */
      {160, 4, 5, SPATE_E_STRIPE, false},          /* a spare */
      {220, 4, 1920, SPATE_OK, false},             /* roles to the superblock's end */
      {220, 4, 1921, SPATE_E_CORRUPT, false},      /* roles beyond the superblock's end */
      {220, 4, UINT32_MAX, SPATE_E_CORRUPT, false},
      {220, 4, 127, SPATE_OK, false}, /* an odd half word at the end */
      {200, 8, 77, SPATE_OK, false},  /* events */
  };

  (void)state;
  for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    struct array *array = created(3, 65536, 4096);
    for (unsigned drive = changes[i].on_all ? 0 : 1; drive < (changes[i].on_all ? 3 : 2); drive++) {
      uint8_t *at = superblock_of(array, drive);
      for (unsigned byte = 0; byte < changes[i].bytes; byte++)
        at[changes[i].at + byte] = (uint8_t)(changes[i].value >> 8 * byte);
      at[USED_BYTES] = (uint8_t)drive; /* where the next role would be, after the last one */
      if (spate_get32(at + 220) <= 1920) seal(at);
    }
    const enum spate_error error = open_again(array);
    if (error != changes[i].error) fail_msg("change %u: %s", i, spate_error_name(error));
    if (error == SPATE_OK) assert_int_equal(array->stripe.block.blocks, 3 * MEMBER / 4096);
    close_drives(array);
  }
}

/* Change any byte to any value: the change is detected, or has no effect. */
static void test_corrupted_bytes(void **state) {
  struct array *array = created(2, 65536, 512);
  uint8_t *at = superblock_of(array, 1);
  uint64_t random = 5;

  (void)state;
  OK(open_again(array));
  const struct spate_stripe good = array->stripe;
  for (unsigned offset = 0; offset < 4096; offset++)
    for (unsigned i = 0; i < 9; i++) {
      const uint8_t was = at[offset];
      const uint8_t flip = (uint8_t)(i < 8 ? 1u << i : 1 + ram_random(&random) % 255);
      at[offset] ^= flip;
      const enum spate_error error = open_again(array);
      if (offset < USED_BYTES) {
        if (error != (offset < 4 ? SPATE_E_NO_STRIPE : SPATE_E_CORRUPT))
          fail_msg("byte %u ^ %02x: %s", offset, flip, spate_error_name(error));
      } else {
        OK(error);
        assert_memory_equal(&array->stripe, &good, sizeof good);
      }
      at[offset] = was;
    }
  close_drives(array);
}

/* Opening reads only. */
static void test_open_writes_nothing(void **state) {
  struct array *array = created(2, 65536, 512);

  (void)state;
  for (unsigned i = 0; i < 2; i++)
    ram_block_clear_log(&array->drives[i]);
  OK(open_again(array));
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(array->drives[i].count[SPATE_WRITE] + array->drives[i].count[SPATE_FLUSH], 0);
  close_drives(array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fields),
      cmocka_unit_test(test_create_is_refused),
      cmocka_unit_test(test_smallest_drive),
      cmocka_unit_test(test_foreign),
      cmocka_unit_test(test_name),
      cmocka_unit_test(test_blank),
      cmocka_unit_test(test_device_errors),
      cmocka_unit_test(test_any_order),
      cmocka_unit_test(test_members_that_do_not_match),
      cmocka_unit_test(test_other_arrays),
      cmocka_unit_test(test_corrupted_bytes),
      cmocka_unit_test(test_open_writes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
