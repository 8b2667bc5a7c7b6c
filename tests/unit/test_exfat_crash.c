/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power cuts at every request of every operation, with what was not durable kept, lost, or kept in part. Before
 * recovery, a PC must be able to use the volume without harm; after it, everything promised must be there.
 */
#include "exfat_crash.h"
#include "exfat_image.h"
#include "exfat_oracle.h"

#include <spate/bytes.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB          (UINT64_C(1) << 20)
#define FACTS_MAX    256
#define RANDOM_CUTS  4
#define SINGLES_MAX  40 /* requests that alone are kept or lost: more than format sends between two flushes */
#define IMAGE_BYTES  (16 * MIB)
#define SMALL_BYTES  MIB
#define CONTENT_NONE 0xffffffffu
#define CONTENT_OLD  40u
#define TURNS_MAX    200u /* of waiting, for one operation */

/* The record's file on volumes of 512-byte clusters: a cut while it is made may leak as much, once. */
#define RECORD_CLUSTERS (SPATE_EXFAT_CLIPS_MAX + 1u)

enum presence { ABSENT, PRESENT, EITHER };

/* From an event on, this holds of a path. */
struct fact {
  uint64_t since;
  char path[300];
  char or_at[300]; /* for EITHER: exactly one of the two paths exists */
  enum presence presence;
  uint64_t bytes_min;
  uint32_t content;
};

struct world {
  struct image image;
  struct crash crash;
  struct fact facts[FACTS_MAX];
  unsigned fact_count;
  uint64_t random;
  unsigned states;
  unsigned turns;
  bool (*check)(uint64_t at); /* a state after a cut */
  char broken[512];           /* what the first broken promise was; empty: none */
  /* misbehaviour of the caller, for mutations */
  bool publish_unflushed, publish_unwritten;
};

static struct world world;
static struct oracle oracle;

/* ---- what is promised ---- */

static void fact(const char *path, enum presence presence, uint64_t bytes_min, uint32_t content) {
  if (world.fact_count == FACTS_MAX) abort();
  struct fact *added = &world.facts[world.fact_count++];
  *added =
      (struct fact){.since = world.image.ram.events, .presence = presence, .bytes_min = bytes_min, .content = content};
  (void)snprintf(added->path, sizeof added->path, "%s", path);
}

static void moving(const char *from, const char *to, uint64_t bytes, uint32_t content) {
  fact(from, EITHER, bytes, content);
  (void)snprintf(world.facts[world.fact_count - 1].or_at, sizeof world.facts[0].or_at, "%s", to);
  fact(to, EITHER, bytes, content);
}

__attribute__((format(printf, 1, 2))) static void broken(const char *format, ...) {
  va_list arguments;
  if (world.broken[0] != '\0') return;
  va_start(arguments, format);
  (void)vsnprintf(world.broken, sizeof world.broken, format, arguments);
  va_end(arguments);
}

static uint64_t word_of(uint32_t content, uint64_t offset) { return (uint64_t)content << 40 ^ offset; }

static void fill(uint8_t *data, uint64_t bytes, uint32_t content, uint64_t offset) {
  for (uint64_t i = 0; i < bytes; i += 8)
    spate_put64(data + i, word_of(content, offset + i));
}

static void check_content(const struct oracle_file *file, uint32_t content) {
  for (uint64_t at = 0; at + 8 <= file->bytes; at += 256) {
    const uint8_t *data = oracle_at(&oracle, file, at);
    if (data != NULL && spate_get64(data) == word_of(content, at)) continue;
    broken("%s: foreign byte at %llu of %llu", file->path, (unsigned long long)at, (unsigned long long)file->bytes);
    return;
  }
}

static void check_fact(const struct fact *fact, bool recovered) {
  const struct oracle_file *file = oracle_find(&oracle, fact->path);
  if (fact->presence == PRESENT && file == NULL) broken("%s is lost", fact->path);
  if (fact->presence == ABSENT && file != NULL) broken("%s is back", fact->path);
  if (fact->or_at[0] != '\0') {
    const struct oracle_file *other = oracle_find(&oracle, fact->or_at);
    if (file == NULL && other == NULL) broken("%s is neither there nor at %s", fact->path, fact->or_at);
    if (recovered && file != NULL && other != NULL) broken("%s is both there and at %s", fact->path, fact->or_at);
  }
  if (file == NULL) return;
  if (file->bytes < fact->bytes_min)
    broken("%s: %llu of %llu bytes", fact->path, (unsigned long long)file->bytes, (unsigned long long)fact->bytes_min);
  if (!file->directory && fact->content != CONTENT_NONE) check_content(file, fact->content);
}

static void check_facts(uint64_t at, bool recovered) {
  for (unsigned i = 0; i < world.fact_count; i++) {
    bool latest = world.facts[i].since <= at;
    for (unsigned n = i + 1; n < world.fact_count && latest; n++)
      latest = !(world.facts[n].since <= at && strcmp(world.facts[n].path, world.facts[i].path) == 0);
    if (latest) check_fact(&world.facts[i], recovered);
  }
}

static uint64_t volume_bytes(void) { return world.image.config.blocks << world.image.ram.block.block_shift; }

static void check_volume(uint64_t at, bool recovered) {
  if (!oracle_read(&oracle, image_start(&world.image), volume_bytes())) broken("fault: %s", oracle.fault);
  oracle_free(&oracle);
  if (world.broken[0] != '\0') return;
  if (oracle.unallocated > 0) broken("%u owned clusters are free in the bitmap", oracle.unallocated);
  if ((recovered || !oracle.dirty) && oracle.cross_linked > 0) broken("%u cross-linked", oracle.cross_linked);
  if ((recovered || !oracle.dirty) && oracle.overlong > 0) broken("%u chains too long", oracle.overlong);
  if ((recovered || !oracle.dirty) && oracle.strays > 0) broken("%u stray entries", oracle.strays);
  uint32_t leaked_max = recovered && oracle_find(&oracle, ".spate") == NULL ? RECORD_CLUSTERS : 0;
  if ((recovered || !oracle.dirty) && oracle.leaked > leaked_max) broken("%u clusters leaked", oracle.leaked);
  if (oracle.boot_torn) broken("the boot sector came before its region");
  check_facts(at, recovered);
}

/* ---- cuts ---- */

static bool check_state(uint64_t at) {
  world.states++;
  check_volume(at, false);
  enum spate_error error = image_mount(&world.image);
  if (error != SPATE_OK) broken("mount: %s", spate_error_name(error));
  if (world.image.volume.failed != SPATE_OK) broken("recovery: %s", spate_error_name(world.image.volume.failed));
  check_volume(at, true);
  return world.broken[0] == '\0';
}

static void check_new_volume(void) {
  if (oracle.serial != world.image.volume.serial) broken("mount took another boot region");
  if (!oracle.backup_whole) broken("a new volume without a backup boot region");
  if (oracle.leaked + oracle.unallocated + oracle.cross_linked + oracle.overlong + oracle.strays > 0)
    broken("a new volume that is not clean");
  if (oracle.file_count != 1 || oracle_find(&oracle, ".spate") == NULL) broken("a new volume that is not empty");
}

/* A cut in format: the old volume, or none, or the new one; never a mixture. */
static bool check_format(uint64_t at) {
  world.states++;
  enum spate_error error = image_mount(&world.image);
  if (error == SPATE_E_NOT_EXFAT && at < world.crash.events) return true;
  if (error != SPATE_OK) broken("mount: %s", spate_error_name(error));
  if (!oracle_read(&oracle, image_start(&world.image), volume_bytes())) broken("fault: %s", oracle.fault);
  oracle_free(&oracle);
  const struct oracle_file *old = oracle_find(&oracle, "old");
  if (world.broken[0] != '\0') return false;
  if (oracle.serial == IMAGE_SERIAL)
    check_new_volume();
  else if (old == NULL)
    broken("the old volume without its file");
  else
    check_content(old, CONTENT_OLD);
  return world.broken[0] == '\0';
}

/* Cut again, at every request of the recovery. */
static bool check_recovery(struct crash *outer, uint64_t at) {
  struct crash inner;
  (void)crash_cut(outer, at, CRASH_NEW, 0, &world.random);
  crash_begin(&inner, &world.image.ram);
  bool good = image_mount(&world.image) == SPATE_OK;
  crash_end(&inner);
  for (uint64_t event = inner.first_event; good && event <= inner.events; event++) {
    if (crash_nothing_new(&inner, event)) continue;
    (void)crash_cut(&inner, event, CRASH_RANDOM, 0, &world.random);
    good = check_state(at);
    crash_restore(&inner);
  }
  for (size_t i = 0; i < inner.log_count; i++)
    for (uint32_t n = 0; inner.log[i].op == SPATE_WRITE && n < inner.log[i].blocks; n++)
      outer->touched[inner.log[i].lba + n] = 1;
  crash_free(&inner);
  for (uint64_t block = 0; block < world.image.ram.block.blocks; block++)
    if (outer->touched[block])
      memcpy(world.image.ram.memory + (block << world.image.ram.block.block_shift),
             outer->base + (block << world.image.ram.block.block_shift), 1u << world.image.ram.block.block_shift);
  crash_restore(outer);
  return good;
}

static bool cut_once(struct crash *crash, uint64_t at, enum crash_choice choice, uint32_t which, uint32_t *undecided) {
  *undecided = crash_cut(crash, at, choice, which, &world.random);
  bool good = world.check(at);
  crash_restore(crash);
  return good;
}

static bool cut_everywhere(struct crash *crash) {
  for (uint64_t at = crash->first_event; at <= crash->events; at++) {
    uint32_t undecided;
    if (crash_nothing_new(crash, at)) continue;
    if (!cut_once(crash, at, CRASH_OLD, 0, &undecided)) return false;
    if (undecided > 0 && !cut_once(crash, at, CRASH_NEW, 0, &undecided)) return false;
    for (uint32_t i = 0; i < undecided && i < SINGLES_MAX; i++) {
      uint32_t which = undecided - 1 - i;
      if (!cut_once(crash, at, CRASH_ONE_NEW, which, &undecided)) return false;
      if (!cut_once(crash, at, CRASH_ONE_OLD, which, &undecided)) return false;
    }
    for (uint32_t i = 0; undecided > 0 && i < RANDOM_CUTS; i++)
      if (!cut_once(crash, at, CRASH_RANDOM, 0, &undecided)) return false;
    if (at % 7 == 0 && world.check == check_state && !check_recovery(crash, at)) return false;
  }
  return true;
}

/* ---- scenarios: operations with their promises ---- */

static void make_directory(const char *path) {
  fact(path, EITHER, 0, CONTENT_NONE);
  assert_int_equal(spate_exfat_mkdir(&world.image.volume, path), SPATE_OK);
  fact(path, PRESENT, 0, CONTENT_NONE);
}

static void arm(struct spate_exfat_clip *clip, const char *path, uint64_t bytes, uint32_t content) {
  fact(path, EITHER, 0, content);
  assert_int_equal(spate_exfat_arm(&world.image.volume, clip, path, bytes), SPATE_OK);
  fact(path, PRESENT, 0, content);
}

static void stream(struct spate_exfat_clip *clip, uint64_t from, uint64_t to, uint32_t content) {
  static _Alignas(64) uint8_t data[65536];
  uint32_t shift = world.image.ram.block.block_shift;
  for (uint64_t at = from; at < to; at += sizeof data) {
    uint64_t bytes = to - at < sizeof data ? to - at : sizeof data;
    fill(data, (bytes + 4095) & ~UINT64_C(4095), content, at);
    uint32_t blocks = (uint32_t)((bytes + (1u << shift) - 1) >> shift);
    assert_int_equal(spate_block_write(&world.image.ram.block, clip->first_lba + (at >> shift), blocks, data, 0),
                     SPATE_OK);
  }
}

static void flush(void) {
  if (!world.publish_unflushed) assert_int_equal(spate_block_flush(&world.image.ram.block), SPATE_OK);
}

static void publish(struct spate_exfat_clip *clip, const char *path, uint64_t bytes, uint32_t content) {
  assert_int_equal(spate_exfat_publish(clip, bytes), SPATE_OK);
  while (clip->publishing)
    spate_block_poll(&world.image.ram.block, 1);
  assert_int_equal(clip->published_bytes, bytes);
  fact(path, PRESENT, bytes, content);
}

static void checkpoint(struct spate_exfat_clip *clip, const char *path, uint64_t from, uint64_t to, uint32_t content) {
  if (!world.publish_unwritten) stream(clip, from, to, content);
  flush();
  publish(clip, path, to, content);
  if (world.publish_unwritten) stream(clip, from, to, content);
}

static void finish(struct spate_exfat_clip *clip, const char *path, uint64_t bytes, uint32_t content) {
  assert_int_equal(spate_exfat_close(clip, bytes), SPATE_OK);
  fact(path, PRESENT, bytes, content);
}

static void record(const char *path, uint64_t bytes, uint32_t content) {
  struct spate_exfat_clip clip;
  arm(&clip, path, bytes > 0 ? bytes : 1, content);
  stream(&clip, 0, bytes, content);
  finish(&clip, path, bytes, content);
}

static void discard(struct spate_exfat_clip *clip, const char *path) {
  fact(path, EITHER, 0, CONTENT_NONE);
  assert_int_equal(spate_exfat_discard(clip), SPATE_OK);
  fact(path, ABSENT, 0, CONTENT_NONE);
}

static void delete_file(const char *path, uint64_t bytes, uint32_t content) {
  fact(path, EITHER, bytes, content);
  assert_int_equal(spate_exfat_delete(&world.image.volume, path), SPATE_OK);
  fact(path, ABSENT, 0, content);
}

static void rename_file(const char *from, const char *to, uint64_t bytes, uint32_t content) {
  moving(from, to, bytes, content);
  assert_int_equal(spate_exfat_rename(&world.image.volume, from, to), SPATE_OK);
  fact(from, ABSENT, 0, content);
  fact(to, PRESENT, bytes, content);
}

static void two_clips(void) {
  struct spate_exfat_clip a;
  struct spate_exfat_clip b;
  arm(&a, "a.mov", 3 * MIB, 1);
  checkpoint(&a, "a.mov", 0, 100000, 1);
  arm(&b, "unused.mov", 3 * MIB, 2);
  discard(&b, "unused.mov");
  arm(&b, "b.mov", 3 * MIB, 2);
  checkpoint(&b, "b.mov", 0, 65536, 2);
  checkpoint(&a, "a.mov", 65536, 200000, 1); /* again from a whole piece */
  /* both at once: one block, one write in flight, the other length waits */
  stream(&a, 196608, 300000, 1);
  stream(&b, 65536, 131072, 2);
  flush();
  assert_int_equal(spate_exfat_publish(&a, 300000), SPATE_OK);
  assert_int_equal(spate_exfat_publish(&b, 131072), SPATE_OK);
  while (a.publishing || b.publishing)
    spate_block_poll(&world.image.ram.block, 1);
  fact("a.mov", PRESENT, 300000, 1);
  fact("b.mov", PRESENT, 131072, 2);
  finish(&a, "a.mov", 300000, 1); /* two of three clusters are given back */
  record("c.mov", 150000, 3);     /* and used again */
  finish(&b, "b.mov", 131072, 2);
  delete_file("a.mov", 300000, 1);
  delete_file("c.mov", 150000, 3);
  record("d.mov", 200000, 4);
}

static void directories(void) {
  make_directory("d");
  make_directory("d/e");
  record("d/e/f", 3000, 5);
  rename_file("d/e/f", "d/g", 3000, 5);
  rename_file("d/g", "d/G with a longer name than that", 3000, 5);
  rename_file("d/G with a longer name than that", "d/h", 3000, 5);
  rename_file("d/h", "d/i", 3000, 5);
  rename_file("d/e", "e", 0, CONTENT_NONE);
  delete_file("e", 0, CONTENT_NONE);
  delete_file("d/i", 3000, 5);
  delete_file("d", 0, CONTENT_NONE);
}

/* Directories of 16 entries a cluster: grown, linked by the FAT, and sets across blocks. */
static void small_clusters(void) {
  char path[320];
  make_directory("d");
  for (unsigned i = 0; i < 12; i++) {
    (void)snprintf(path, sizeof path, "%sfile_%u_of_some", i % 2 ? "d/" : "", i);
    record(path, 700, 10 + i);
  }
  memset(path, 'x', sizeof path);
  path[250] = '\0';
  make_directory(path);
  memcpy(path, "d/", 2);
  rename_file("d/file_1_of_some", path, 700, 11);
  path[2] = 'z';
  rename_file("d/file_3_of_some", path, 700, 13);
  rename_file(path, "back", 700, 13);
  path[2] = 'x';
  delete_file(path, 700, 11);
  delete_file("back", 700, 13);
  delete_file("chained", 2000, CONTENT_NONE);
}

/* A directory whose set another system put across two blocks, and that must grow. */
static void straddling(void) {
  char path[64];
  for (unsigned i = 0; i < 12; i++) {
    (void)snprintf(path, sizeof path, "dir/file %u", i);
    record(path, 700, 30 + i);
  }
  assert_true(oracle_read(&oracle, image_start(&world.image), volume_bytes()));
  oracle_free(&oracle);
  assert_true((oracle_find(&oracle, "dir")->set_offset + 32) % 512 != 0); /* it did move */
}

static void prepare_straddling(uint8_t *memory) {
  small_format(memory, SMALL_BYTES, 9, 10);
  small_add(memory, "a", 0x20, 0, 0, 0, false);
  small_add(memory, "b", 0x20, 0, 0, 0, false);
  small_add(memory, "c", 0x20, 0, 0, 0, false);
  small_add(memory, "d with a long name", 0x20, 0, 0, 0, false);
  uint32_t at = small_add(memory, "dir", 0x10, small_allocate(memory, 1, 1), 1024, 1024, false);
  assert_int_equal(at, 512 - 32);
}

/* A stream that always has more to publish must not keep a directory's block from whoever changes it. */
static void publish_more(void *context) {
  struct spate_exfat_clip *clip = context;
  if (++world.turns > TURNS_MAX) fail_msg("a change waits for ever behind lengths that are published");
  enum spate_error error = spate_exfat_publish(clip, clip->wanted_bytes + 8);
  assert_true(error == SPATE_OK || error == SPATE_E_FULL);
}

static void publishing(void) {
  struct spate_exfat_clip clip;
  struct ram_block *ram = &world.image.ram;
  arm(&clip, "clip", MIB, 6);
  stream(&clip, 0, 65536, 6);
  flush();
  ram->block.while_waiting = publish_more;
  ram->block.while_waiting_context = &clip;
  ram->delay_polls = 2; /* so that each write is in flight for some turns */
  world.turns = 0;
  make_directory("d");
  ram->block.while_waiting = NULL;
  ram->delay_polls = 0;
  while (clip.publishing)
    spate_block_poll(&ram->block, 1);
  assert_true(clip.published_bytes > 0);
  fact("clip", PRESENT, clip.published_bytes, 6);
  finish(&clip, "clip", 65536, 6);
}

/* A volume that another system made, nearly full of one file: where the new structures come to lie, too. */
static void prepare_old(uint8_t *memory) {
  small_format(memory, IMAGE_BYTES, 9, 16);
  uint64_t bytes = 250 * UINT64_C(65536);
  uint32_t first = small_allocate(memory, 250, 1);
  fill(small_cluster(memory, first), bytes, CONTENT_OLD, 0);
  small_add(memory, "old", 0x20, first, bytes, bytes, true);
}

enum scenario_kind { CLIPS_512, CLIPS_4096, DIRECTORIES, PUBLISHING, REPAIR, FORMAT, SMALL, FOREIGN, STRADDLING };

static void prepare_large(enum scenario_kind kind) {
  image_open(&world.image, IMAGE_BYTES, kind == CLIPS_4096 ? 4096 : 512, 0);
  uint8_t *memory = world.image.ram.memory;
  if (kind == FORMAT) {
    prepare_old(memory);
    return;
  }
  image_format(&world.image);
  if (kind == REPAIR) memset(memory, 0, 12 * 512);
}

/* A deleted file's slots: the record's file takes them, so that nothing but itself makes the volume dirty first. */
static void add_deleted(uint8_t *memory) {
  uint32_t at = small_add(memory, "deleted", 0x20, 0, 0, 0, false);
  uint8_t *set = small_cluster(memory, spate_get32(memory + 96)) + at;
  for (uint32_t i = 0; i < 3; i++)
    set[32 * i] &= 0x7f;
}

static void prepare_small(enum scenario_kind kind) {
  image_open(&world.image, SMALL_BYTES, 512, 0);
  uint8_t *memory = world.image.ram.memory;
  if (kind == STRADDLING) {
    prepare_straddling(memory);
  } else {
    small_format(memory, SMALL_BYTES, 9, 9);
    if (kind == FOREIGN) add_deleted(memory);
    small_add(memory, "chained", 0x20, small_allocate(memory, 4, 3), 2000, 2000, false);
  }
  assert_int_equal(image_mount(&world.image), SPATE_OK);
  if (kind != FOREIGN) assert_int_equal(spate_exfat_mkdir(&world.image.volume, "first"), SPATE_OK);
}

static void act(enum scenario_kind kind) {
  switch (kind) {
  case CLIPS_512:
  case CLIPS_4096: two_clips(); break;
  case DIRECTORIES: directories(); break;
  case PUBLISHING: publishing(); break;
  case FORMAT: image_format(&world.image); break;
  case SMALL: small_clusters(); break;
  case STRADDLING: straddling(); break;
  case REPAIR:
    assert_int_equal(image_mount(&world.image), SPATE_OK);
    assert_true(world.image.found.backup_boot);
    make_directory("d");
    break;
  case FOREIGN: /* the record's file is made first */
    make_directory("first");
    record("first/file", 700, 7);
    break;
  }
}

static void run(enum scenario_kind kind, enum crash_mutation mutation) {
  if (kind < SMALL)
    prepare_large(kind);
  else
    prepare_small(kind);
  world.fact_count = world.states = 0;
  world.random = 1;
  world.broken[0] = '\0';
  world.check = kind == FORMAT ? check_format : check_state;
  world.image.ram.order = RAM_RANDOM;
  world.image.ram.trim_fill = 0x5a;
  /* What was on the drive before must not be taken for the clip's own bytes. */
  crash_begin(&world.crash, &world.image.ram);
  world.crash.mutation = mutation;
  world.crash.bitmap_lba = world.image.volume.heap_lba;
  act(kind);
  assert_int_equal(world.image.ram.overlaps, 0);
  crash_end(&world.crash);
  (void)cut_everywhere(&world.crash);
  crash_free(&world.crash);
  image_close(&world.image);
}

static void survives(enum scenario_kind kind) {
  run(kind, CRASH_AS_IS);
  if (world.broken[0] != '\0') fail_msg("%s", world.broken);
  print_message("%u states\n", world.states);
}

static void test_clips_512(void **state) {
  (void)state;
  survives(CLIPS_512);
}

static void test_clips_4096(void **state) {
  (void)state;
  survives(CLIPS_4096);
}

static void test_directories(void **state) {
  (void)state;
  survives(DIRECTORIES);
}

static void test_small_clusters(void **state) {
  (void)state;
  survives(SMALL);
}

static void test_straddling(void **state) {
  (void)state;
  survives(STRADDLING);
}

static void test_publishing(void **state) {
  (void)state;
  survives(PUBLISHING);
}

static void test_format(void **state) {
  (void)state;
  survives(FORMAT);
}

static void test_repair(void **state) {
  (void)state;
  survives(REPAIR);
}

static void test_foreign(void **state) {
  (void)state;
  survives(FOREIGN);
}

/* ---- mutations: what the rules are worth ---- */

static void breaks(enum scenario_kind kind, enum crash_mutation mutation, const char *name) {
  run(kind, mutation);
  world.publish_unflushed = world.publish_unwritten = false;
  if (world.broken[0] == '\0') fail_msg("%s: nothing broke in %u states", name, world.states);
  print_message("%s: %s\n", name, world.broken);
}

static void test_mutations(void **state) {
  (void)state;
  breaks(CLIPS_512, CRASH_NO_FLUSH, "no flush at all");
  breaks(DIRECTORIES, CRASH_NO_FLUSH, "no flush at all, directories");
  breaks(CLIPS_512, CRASH_NO_FUA, "no FUA");
  breaks(DIRECTORIES, CRASH_NO_FUA, "no FUA, directories");
  breaks(SMALL, CRASH_NO_FUA, "no FUA, small clusters");
  breaks(CLIPS_512, CRASH_EARLY_TRIM, "TRIM before the deletion is durable");
  breaks(CLIPS_512, CRASH_ENTRY_FIRST, "entry before bitmap");
  breaks(CLIPS_512, CRASH_TORN_BLOCKS, "entry set across two blocks");
  breaks(FORMAT, CRASH_NO_FLUSH, "no flush at all, format");
  breaks(REPAIR, CRASH_NO_FUA, "no FUA, repair of the boot region");
  breaks(FOREIGN, CRASH_NO_FLUSH, "no flush at all, a foreign volume");
  world.publish_unflushed = true;
  breaks(CLIPS_512, CRASH_AS_IS, "no flush before the checkpoint");
  world.publish_unwritten = true;
  breaks(CLIPS_512, CRASH_AS_IS, "length from submitted bytes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clips_512),      cmocka_unit_test(test_clips_4096), cmocka_unit_test(test_directories),
      cmocka_unit_test(test_small_clusters), cmocka_unit_test(test_straddling), cmocka_unit_test(test_publishing),
      cmocka_unit_test(test_format),         cmocka_unit_test(test_repair),     cmocka_unit_test(test_foreign),
      cmocka_unit_test(test_mutations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
