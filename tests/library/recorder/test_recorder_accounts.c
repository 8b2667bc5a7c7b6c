/* SPDX-License-Identifier: Apache-2.0 */
/* Every byte is held by the recorder until it is durable; then it is in a file, or it is counted as lost. */
#include "recorder_fixture.h"

/* Writes that complete during a flush are not covered by it, and their memory is not released. */
static void memory_is_released_for_what_a_flush_covers(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, true, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fixture->ram.keep_log = true;
  stream_pieces(fixture, source, 3);
  drain(fixture, source);
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_FLUSH);
  stream_pieces(fixture, source, 2);
  clock_ns += 600000000;
  work(fixture);
  assert_int_equal(fixture->recorder.counters.flushes, 1);
  fixture->ram.held_ops = RAM_OP(SPATE_FLUSH);
  drain(fixture, source);
  assert_int_equal(spate_stream_room(&source->stream), PIECES - 5);
  fixture->ram.held_ops = 0;
  for (int i = 0; i < 10; i++)
    work(fixture);
  assert_int_equal(spate_stream_room(&source->stream), PIECES - 2);
  cut_the_drives_power(fixture); /* loses the two that the flush did not cover */
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, 5 * PIECE);
  close_fixture(fixture);
}

/* Without a volatile cache completed writes are durable, even if no checkpoint has published them. */
static void a_power_loss_takes_nothing_from_a_drive_without_volatile_cache(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  fixture->ram.block.volatile_cache = false;
  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  stream_pieces(fixture, source, 5);
  drain(fixture, source);
  fixture->ram.block.power_losses++;
  stream_pieces(fixture, source, 5);
  OK(spate_recorder_finish(&fixture->recorder));
  assert_int_equal(source->stream.counters.lost_bytes, 0);
  file_holds(fixture, "A.RAW", source->sent, 10 * PIECE);
  close_fixture(fixture);
}

/* ---- random faults ---- */

#define PARTS_MAX 80u

/* Finds this part in what was sent, from *from on. The next part begins behind it. */
static void is_a_part_of_what_was_sent(struct fixture *fixture, const struct source *source, const char *path,
                                       uint64_t bytes, uint64_t *from) {
  struct spate_exfat_file file;
  uint8_t start[64];
  size_t got;

  OK(spate_exfat_open(&fixture->volume, path, &file));
  OK(spate_exfat_read(&file, 0, start, sizeof start, &got));
  const uint8_t *found = memmem(source->sent + *from, source->sent_bytes - *from, start, got);
  assert_non_null(found);
  file_holds(fixture, path, found, bytes);
  *from = (uint64_t)(found - source->sent) + bytes;
}

/* The bytes of A.RAW, A_0002.RAW and so on. A clip without data has no file. */
static uint64_t bytes_of_all_parts(struct fixture *fixture, const struct source *source) {
  uint64_t from = 0;
  uint64_t bytes = 0;

  for (unsigned part = 1; part <= PARTS_MAX; part++) {
    struct spate_exfat_entry entry;
    char path[32] = "A.RAW";
    if (part > 1) (void)snprintf(path, sizeof path, "A_%04u.RAW", part);
    enum spate_error error = spate_exfat_stat(&fixture->volume, path, &entry);
    if (error == SPATE_E_NOT_FOUND) continue;
    OK(error);
    is_a_part_of_what_was_sent(fixture, source, path, entry.bytes, &from);
    bytes += entry.bytes;
  }
  return bytes;
}

static void is_ok_or_a_fault(enum spate_error error) {
  assert_true(error == SPATE_OK || error == SPATE_E_MEDIA || error == SPATE_E_POWER_LOST);
}

/* One clip, or several consecutive ones, with a bad block, power losses and pauses at random. */
static void record_by_chance(uint64_t *random) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  const struct spate_stream_counters *counters = &source->stream.counters;

  fixture->ram.keep_log = true;
  fixture->ram.order = RAM_RANDOM;
  fixture->ram.random = ram_random(random);
  fixture->ram.delay_polls = (uint32_t)(ram_random(random) % 4);
  fixture->ram.block.volatile_cache = ram_random(random) % 4 > 0;
  open_source(fixture, source, 3, ram_random(random) % 2 > 0, ram_random(random) % 2 * MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  uint64_t bad_lba = source->stream.clips[0].file.first_lba + ram_random(random) % (4 * MIB / 512);
  if (ram_random(random) % 2 > 0)
    ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                      .first_lba = bad_lba,
                                                      .last_lba = bad_lba,
                                                      .times = 1 + (uint32_t)(ram_random(random) % 2),
                                                      .error = SPATE_E_MEDIA});
  for (unsigned i = 0; i < 60; i++) {
    (void)push(source, PIECE);
    is_ok_or_a_fault(spate_recorder_work(&fixture->recorder));
    clock_ns += ram_random(random) % 100000000;
    if (ram_random(random) % 32 != 0) continue;
    if (fixture->ram.block.volatile_cache)
      cut_the_drives_power(fixture);
    else
      fixture->ram.block.power_losses++;
  }
  is_ok_or_a_fault(spate_recorder_finish(&fixture->recorder));
  ram_block_clear_faults(&fixture->ram);
  assert_int_equal(counters->pushed_bytes, source->sent_bytes);
  assert_int_equal(counters->completed_bytes + counters->lost_bytes, counters->pushed_bytes);
  assert_int_equal(counters->durable_bytes, counters->completed_bytes);
  assert_int_equal(bytes_of_all_parts(fixture, source), counters->completed_bytes);
  close_fixture(fixture);
}

static void every_byte_is_in_a_file_or_counted_as_lost(void **state) {
  (void)state;
  uint64_t random = 5;

  for (unsigned i = 0; i < 30; i++)
    record_by_chance(&random);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_released_for_what_a_flush_covers),
      cmocka_unit_test(a_power_loss_takes_nothing_from_a_drive_without_volatile_cache),
      cmocka_unit_test(every_byte_is_in_a_file_or_counted_as_lost),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
