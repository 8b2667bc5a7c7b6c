/* SPDX-License-Identifier: Apache-2.0 */
/* Clips recorded onto an array: effects of one member on the clips. */
#include "recorder_fixture.h"

#include <spate/stripe.h>

#define MEMBERS       3u
#define MEMBER_MIB    24u
#define CHUNK         (32u * 1024u) /* half of a piece; pieces do not begin at the start of a chunk */
#define PARTS         40u
#define CLIP_PIECES   150u
#define RESERVE       (12 * MIB)
#define CHECKPOINT_NS 1000000u

struct striped {
  struct ram_block drives[MEMBERS];
  struct spate_block *blocks[MEMBERS];
  struct spate_stripe stripe;
  struct spate_stripe_part parts[PARTS];
  struct spate_stripe_config config;
  struct fixture *fixture;
};

static void mount(struct striped *striped) {
  const struct spate_recorder_config config = {.checkpoint_ms = 1, .event = on_event, .context = striped->fixture};

  OK(spate_exfat_mount(&striped->fixture->volume, &striped->fixture->config, NULL));
  OK(spate_recorder_open(&striped->fixture->recorder, &striped->fixture->volume, &config));
}

static struct striped *open_striped(uint32_t block_bytes, uint64_t seed) {
  struct striped *striped = calloc(1, sizeof(*striped));
  const struct spate_stripe_create create = {.uuid = {1}, .chunk_bytes = CHUNK};

  assert_non_null(striped);
  for (uint32_t i = 0; i < MEMBERS; i++) {
    struct ram_block *drive = &striped->drives[i];
    ram_block_open(drive, MEMBER_MIB * MIB / block_bytes, block_bytes);
    drive->order = RAM_RANDOM;
    drive->random = seed * MEMBERS + i;
    drive->delay_polls = 1 + i;
    drive->block.depth = (uint16_t)(4 + i);
    striped->blocks[i] = &drive->block;
  }
  striped->config = (struct spate_stripe_config){.members = striped->blocks,
                                                 .member_count = MEMBERS,
                                                 .parts = striped->parts,
                                                 .part_count = PARTS,
                                                 .scratch = aligned_alloc(4096, SPATE_STRIPE_SCRATCH_BYTES)};
  OK(spate_stripe_create(&striped->config, &create));
  OK(spate_stripe_open(&striped->stripe, &striped->config));
  struct fixture *fixture = calloc(1, sizeof(*fixture));
  assert_non_null(fixture);
  striped->fixture = fixture;
  fixture->config = (struct spate_exfat_config){.block = &striped->stripe.block,
                                                .blocks = striped->stripe.block.blocks,
                                                .cache = aligned_alloc(4096, CACHE_BYTES),
                                                .cache_bytes = CACHE_BYTES,
                                                .cache_blocks = fixture->blocks,
                                                .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                                .bitmap = aligned_alloc(4096, BITMAP_BYTES),
                                                .bitmap_bytes = BITMAP_BYTES};
  const struct spate_exfat_format format = {.serial = 1, .cluster_bytes = 1u << 20};
  OK(spate_exfat_format(&fixture->config, &format));
  mount(striped);
  return striped;
}

static void unmount(struct striped *striped) {
  OK(spate_recorder_close(&striped->fixture->recorder));
  OK(spate_exfat_unmount(&striped->fixture->volume));
}

static void close_striped(struct striped *striped) {
  unmount(striped);
  for (unsigned i = 0; i < MEMBERS; i++) {
    assert_int_equal(striped->drives[i].overlaps, 0);
    ram_block_close(&striped->drives[i]);
  }
  free(striped->fixture->config.cache);
  free(striped->fixture->config.bitmap);
  free(striped->fixture);
  free(striped->config.scratch);
  free(striped);
}

/* Everything that completed on this member since its last flush is gone. cut_the_drives_power() does the same for a
 * single drive. */
static void cut_a_members_power(struct ram_block *drive) {
  struct fixture *single = calloc(1, sizeof(*single));

  assert_non_null(single);
  single->ram.log = drive->log;
  single->ram.log_count = drive->log_count;
  single->ram.memory = drive->memory;
  cut_the_drives_power(single);
  drive->block.power_losses++;
  free(single);
}

static void record_two(struct striped *striped, uint64_t seed,
                       void (*between)(struct striped *striped, uint32_t piece)) {
  struct fixture *fixture = striped->fixture;

  for (unsigned i = 0; i < 2; i++) {
    fixture->sources[i] = (struct source){0};
    open_source(fixture, &fixture->sources[i], seed * 2 + i, true, 0);
    OK(spate_stream_arm(&fixture->sources[i].stream, i == 0 ? "one" : "two", RESERVE));
  }
  /* Five pieces at a time for each clip; the last one of a clip is no whole number of blocks. */
  for (uint32_t piece = 0; piece < CLIP_PIECES; piece++) {
    for (unsigned i = 0; i < 2; i++)
      while (push(&fixture->sources[i], piece + 1 < CLIP_PIECES ? PIECE : 777) != SPATE_OK)
        work(fixture);
    if (piece % 5 == 4) work(fixture);
    if (between != NULL) between(striped, piece);
    clock_ns += CHECKPOINT_NS / 8;
  }
  OK(spate_recorder_finish(&fixture->recorder));
}

/* The same bytes are read from the array after it is opened again, with its members in another order. */
static void check_two(struct striped *striped) {
  struct fixture *fixture = striped->fixture;
  struct spate_block *first = striped->blocks[0];

  unmount(striped);
  striped->blocks[0] = striped->blocks[2];
  striped->blocks[2] = first;
  OK(spate_stripe_open(&striped->stripe, &striped->config));
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  for (unsigned i = 0; i < 2; i++) {
    struct source *source = &fixture->sources[i];
    file_holds(fixture, i == 0 ? "one" : "two", source->sent, source->sent_bytes);
    close_source(source);
  }
  OK(spate_exfat_unmount(&fixture->volume));
  mount(striped);
}

static void test_clips(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    struct striped *striped = open_striped(seed % 2 ? 512 : 4096, seed);
    record_two(striped, seed, NULL);
    for (unsigned i = 0; i < MEMBERS; i++) {
      assert_int_equal(striped->stripe.members[i].in_flight_max, 4 + i); /* its whole depth */
      assert_true(striped->drives[i].count[SPATE_FLUSH] > 4);
    }
    assert_true(striped->fixture->sources[0].stream.counters.checkpoints > 2);
    check_two(striped);
    close_striped(striped);
  }
}

/* One of three drives loses power, five times during two clips. Nothing is lost, because the ring still has it. */
static uint64_t power_seed;

static void lose_power(struct striped *striped, uint32_t piece) {
  if (piece % 30 == 7) cut_a_members_power(&striped->drives[ram_random(&power_seed) % MEMBERS]);
}

static void test_member_loses_power(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    struct striped *striped = open_striped(512, seed);
    power_seed = seed;
    for (unsigned i = 0; i < MEMBERS; i++)
      striped->drives[i].keep_log = true;
    record_two(striped, seed, lose_power);
    assert_int_equal(striped->stripe.block.power_losses, 5);
    for (unsigned i = 0; i < 2; i++) {
      OK(striped->fixture->sources[i].stream.error);
      assert_int_equal(striped->fixture->sources[i].stream.counters.lost_bytes, 0);
    }
    check_two(striped);
    close_striped(striped);
  }
}

/* No length is published before the last member has flushed what it covers. */
static void test_checkpoint_waits_for_every_member(void **state) {
  (void)state;
  for (unsigned held = 0; held < MEMBERS; held++) {
    struct striped *striped = open_striped(512, held + 1);
    struct source *source = &striped->fixture->sources[0];
    open_source(striped->fixture, source, 3, false, 0);
    OK(spate_stream_arm(&source->stream, "clip", RESERVE));
    striped->drives[held].held_ops = RAM_OP(SPATE_FLUSH);
    for (unsigned i = 0; i < 60; i++) {
      stream_pieces(striped->fixture, source, 1);
      clock_ns += CHECKPOINT_NS;
    }
    drain(striped->fixture, source);
    assert_int_equal(source->stream.counters.durable_bytes, 0);
    assert_int_equal(source->stream.current->file.published_bytes, 0);
    striped->drives[held].held_ops = 0;
    for (unsigned i = 0; i < 200; i++) {
      work(striped->fixture);
      clock_ns += CHECKPOINT_NS;
    }
    assert_int_equal(source->stream.counters.durable_bytes, source->sent_bytes);
    assert_int_equal(source->stream.current->file.published_bytes, source->sent_bytes);
    OK(spate_recorder_finish(&striped->fixture->recorder));
    file_holds(striped->fixture, "clip", source->sent, source->sent_bytes);
    close_source(source);
    close_striped(striped);
  }
}

/* One member fails every write from then on: the clip ends at its last progress, and its error says why. */
static void test_member_fails(void **state) {
  struct striped *striped = open_striped(512, 1);
  struct fixture *fixture = striped->fixture;
  struct source *source = &fixture->sources[0];

  (void)state;
  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "clip", RESERVE));
  stream_pieces(fixture, source, 40);
  ram_block_fault(&striped->drives[1], (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                          .first_lba = 6 * MIB / 512,
                                                          .last_lba = UINT64_MAX,
                                                          .times = RAM_ALWAYS,
                                                          .error = SPATE_E_MEDIA,
                                                          .detail = 0x280});
  enum spate_error error = SPATE_OK;
  for (unsigned i = 0; i < 100000 && error != SPATE_E_MEDIA; i++) {
    error = push(source, PIECE);
    work(fixture);
  }
  GIVES(SPATE_E_MEDIA, error);
  GIVES(SPATE_E_MEDIA, spate_recorder_finish(&fixture->recorder));
  assert_true(striped->stripe.members[1].errors > 0);
  assert_int_equal(striped->stripe.members[0].errors + striped->stripe.members[2].errors, 0);
  assert_true(source->stream.counters.completed_bytes >= 40 * PIECE);
  ram_block_clear_faults(&striped->drives[1]);
  file_holds(fixture, "clip", source->sent, source->stream.counters.completed_bytes);
  close_source(source);
  close_striped(striped);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clips),
      cmocka_unit_test(test_member_loses_power),
      cmocka_unit_test(test_checkpoint_waits_for_every_member),
      cmocka_unit_test(test_member_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
