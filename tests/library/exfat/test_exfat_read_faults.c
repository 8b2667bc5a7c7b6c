/* SPDX-License-Identifier: Apache-2.0 */
/* Each read of each operation fails, once or for good. The operation reports that error, or it has the same result as
 * without the fault: a read that only reads ahead may fail. */
#include "shared_fixture.h"

#define VOLUME_BYTES    (4 * MIB)
#define CHAIN_CLUSTERS  40u
#define CHAIN_STEP      17u /* a block of the FAT has 128 entries, so the chain uses several blocks */
#define SHARED_CLUSTERS 100u
#define RECORD_BYTES    (UINT64_C(17) * 512)
#define READ_BYTES      700u

static uint8_t *medium;   /* before the operation */
static uint8_t *expected; /* after it, without a fault */
static uint64_t digest;   /* of an operation's results */

static void mix(const void *data, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    digest = (digest ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
}

static enum spate_error mount(void) {
  enum spate_error error = image_mount(&image);
  mix(&image.found.reservations, sizeof image.found.reservations);
  mix(&image.volume.record_lba, sizeof image.volume.record_lba);
  return error == SPATE_OK ? image.volume.failed : error; /* without the place of the record nothing can be changed */
}

static enum spate_error list_directory(void) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  bool more = true;
  enum spate_error error = spate_exfat_list(&image.volume, "deep/down", &directory);
  while (error == SPATE_OK && more) {
    error = spate_exfat_list_next(&directory, &entry, &more);
    if (error == SPATE_OK && more) mix(&entry.bytes, sizeof entry.bytes);
  }
  return error;
}

/* Reads from the end to the start, so that each read follows the chain from its first cluster. */
static enum spate_error read_chain(void) {
  static uint8_t data[READ_BYTES];
  struct spate_exfat_file file;
  size_t got;
  enum spate_error error = spate_exfat_open(&image.volume, "chain", &file);
  for (uint64_t left = error == SPATE_OK ? file.bytes : 0; error == SPATE_OK && left > 0;) {
    left -= left < sizeof data ? left : sizeof data;
    error = spate_exfat_read(&file, left, data, sizeof data, &got);
    if (error == SPATE_OK) mix(data, got);
  }
  return error;
}

/* The extent of each cluster, also from the end to the start. */
static enum spate_error extents(void) {
  struct spate_exfat_file file;
  uint64_t lba, blocks;
  enum spate_error error = spate_exfat_open(&image.volume, "chain", &file);
  for (uint32_t left = CHAIN_CLUSTERS; error == SPATE_OK && left > 0;) {
    left--;
    error = spate_exfat_extent(&file, (uint64_t)left * cluster_bytes(), &lba, &blocks);
    if (error == SPATE_OK) mix(&lba, sizeof lba);
    if (error == SPATE_OK) mix(&blocks, sizeof blocks);
  }
  return error;
}

static enum spate_error record(void) {
  struct spate_exfat_clip clip;
  enum spate_error error = spate_exfat_arm(&image.volume, &clip, "deep/down/clip", 100 * UINT64_C(1024));
  return error == SPATE_OK ? spate_exfat_close(&clip, 50 * UINT64_C(1024)) : error;
}

static enum spate_error make_directory(void) { return spate_exfat_mkdir(&image.volume, "deep/down/new"); }
static enum spate_error delete_chain(void) { return spate_exfat_delete(&image.volume, "chain"); }
static enum spate_error delete_shared(void) { return spate_exfat_delete(&image.volume, "run one"); }
static enum spate_error move(void) {
  return spate_exfat_rename(&image.volume, "chain", "deep/down/a name that needs more entries");
}

static enum spate_error measure(void) {
  uint64_t longest_bytes;
  enum spate_error error = spate_exfat_longest_free(&image.volume, 1, &longest_bytes);
  if (error == SPATE_OK) mix(&longest_bytes, sizeof longest_bytes);
  return error;
}

static const struct operation {
  const char *name;
  enum spate_error (*run)(void);
} operations[] = {
    {"mount", NULL},
    {"list", list_directory},
    {"read", read_chain},
    {"extents", extents},
    {"record", record},
    {"mkdir", make_directory},
    {"delete a chain", delete_chain},
    {"delete a file whose clusters another one owns too", delete_shared},
    {"rename", move},
    {"the longest free run", measure},
};

static void make_volume(void) {
  open_volume(VOLUME_BYTES, 10);
  uint8_t *memory = image.ram.memory;
  uint32_t runs = small_allocate(memory, 3 * SHARED_CLUSTERS, 1);
  uint32_t chain = small_allocate(memory, CHAIN_CLUSTERS, CHAIN_STEP);
  uint32_t reservations = small_allocate(memory, RECORD_BYTES / 1024 + 1, 1);
  /* as after a copy by a PC: with a chain in the FAT */
  small_add(memory, ".spate", 0x06, reservations, RECORD_BYTES, RECORD_BYTES, false);
  add("chain", chain, CHAIN_CLUSTERS, false);
  add("run one", runs, 2 * SHARED_CLUSTERS, true);
  add("run two", runs + SHARED_CLUSTERS, 2 * SHARED_CLUSTERS, true);
  image.ram.keep_log = true;
  image.config.cache_bytes = 6 * 512; /* so few that most blocks are read again */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "deep"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "deep/down"), SPATE_OK);
  for (unsigned i = 0; i < 12; i++) { /* "deep/down" has several clusters */
    char path[64];
    (void)snprintf(path, sizeof path, "deep/down/a file with a long name, number %u", i);
    put_file(path, "x", 1);
  }
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  medium = malloc(VOLUME_BYTES);
  expected = malloc(VOLUME_BYTES);
  assert_non_null(medium);
  assert_non_null(expected);
  memcpy(medium, memory, VOLUME_BYTES);
}

static void restart(void) {
  memcpy(image.ram.memory, medium, VOLUME_BYTES);
  host_starts_again(&image.ram.block);
  digest = 0;
}

static enum spate_error run(const struct operation *operation, const struct ram_fault *fault) {
  restart();
  if (operation->run != NULL) assert_int_equal(image_mount(&image), SPATE_OK);
  ram_block_clear_log(&image.ram);
  if (fault != NULL) ram_block_fault(&image.ram, *fault);
  enum spate_error error = operation->run != NULL ? operation->run() : mount();
  ram_block_clear_faults(&image.ram);
  return error;
}

/* The result is part of the digest: it is CORRUPT if files share clusters. */
static void unmount(void) {
  enum spate_error error = spate_exfat_unmount(&image.volume);
  mix(&error, sizeof error);
}

static void check_failed(const struct operation *operation, uint32_t request, enum spate_error error) {
  if (error != SPATE_E_MEDIA) fail_msg("%s, request %u: error %d", operation->name, request, (int)error);
  host_starts_again(&image.ram.block);
  if (image_mount(&image) != SPATE_OK) fail_msg("%s, request %u: the next mount fails", operation->name, request);
  read_volume();
  if (oracle.leaked > 0 || oracle.cross_linked > SHARED_CLUSTERS)
    fail_msg("%s, request %u: leaked %u, cross-linked %u", operation->name, request, oracle.leaked,
             oracle.cross_linked);
}

/* Mount writes a block of the record again that it cannot read: a cleared slot has a number then. */
static void ignore_record(void) {
  const uint64_t at = image.volume.record_lba << 9;
  memcpy(image.ram.memory + at, expected + at, RECORD_BYTES);
}

static void check_unaffected(const struct operation *operation, uint32_t request, uint64_t expected_digest) {
  unmount();
  if (operation->run == NULL && image.found.record_unread > 0) ignore_record();
  if (digest != expected_digest || memcmp(image.ram.memory, expected, VOLUME_BYTES) != 0)
    fail_msg("%s, request %u: no error, but another result", operation->name, request);
}

static void check_read(const struct operation *operation, uint32_t request, const struct ram_fault *fault,
                       uint64_t expected_digest) {
  enum spate_error error = run(operation, fault);
  if (error == SPATE_OK)
    check_unaffected(operation, request, expected_digest);
  else
    check_failed(operation, request, error);
}

static bool overlap(const struct ram_log_entry *one, const struct ram_log_entry *two) {
  return one->lba < two->lba + two->blocks && two->lba < one->lba + one->blocks;
}

/* The blocks of this read fail, from this read on. Earlier reads of the same blocks succeed. */
static struct ram_fault fault_of(const struct ram_log_entry *log, uint32_t request, uint32_t times) {
  struct ram_fault fault = {.ops = RAM_OP(SPATE_READ), .times = times, .error = SPATE_E_MEDIA};
  fault.first_lba = log[request].lba;
  fault.last_lba = log[request].lba + log[request].blocks - 1;
  for (uint32_t i = 0; i < request; i++)
    fault.skip += log[i].op == SPATE_READ && overlap(&log[i], &log[request]);
  return fault;
}

static void check_each_read(const struct operation *operation) {
  static struct ram_log_entry log[4096];
  assert_int_equal(run(operation, NULL), SPATE_OK);
  const size_t requests = image.ram.log_count;
  assert_in_range(requests, 1, sizeof log / sizeof log[0]);
  memcpy(log, image.ram.log, requests * sizeof log[0]);
  unmount();
  const uint64_t expected_digest = digest;
  memcpy(expected, image.ram.memory, VOLUME_BYTES);
  for (uint32_t request = 0; request < requests; request++) {
    if (log[request].op != SPATE_READ) continue;
    const struct ram_fault once = fault_of(log, request, 1);
    const struct ram_fault always = fault_of(log, request, RAM_ALWAYS);
    check_read(operation, request, &once, expected_digest);
    check_read(operation, request, &always, expected_digest);
  }
}

static void a_failed_read_is_reported_or_changes_nothing(void **state) {
  (void)state;
  make_volume();
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
    check_each_read(&operations[i]);
  image_close(&image);
  free(medium);
  free(expected);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_failed_read_is_reported_or_changes_nothing)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
