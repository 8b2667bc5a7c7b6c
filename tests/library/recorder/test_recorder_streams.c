/* SPDX-License-Identifier: Apache-2.0 */
/* Several streams on one volume: they share its space and its queue, and none keeps another from being armed. */
#include "recorder_fixture.h"

static void eight_streams_at_once(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(4096, VOLUME_MIB); /* all eight entry sets share a block */
  uint64_t random = 99;
  char path[32];

  fixture->ram.order = RAM_RANDOM;
  fixture->ram.delay_polls = 2;
  for (unsigned i = 0; i < STREAMS; i++) {
    open_source(fixture, &fixture->sources[i], i + 1, i % 2 != 0, i < 4 ? 3 * MIB : 0);
    (void)snprintf(path, sizeof(path), "S%u.RAW", i);
    OK(spate_stream_arm(&fixture->sources[i].stream, path, i < 4 ? 3 * MIB : 8 * MIB));
  }
  for (unsigned step = 0; step < 3000; step++) {
    struct source *source = &fixture->sources[ram_random(&random) % STREAMS];
    if (source->sent_bytes < 7 * MIB) {
      enum spate_error error = push(source, PIECE);
      assert_true(error == SPATE_OK || error == SPATE_E_FULL);
    }
    if (step % 3 == 0) work(fixture);
    clock_ns += 1000000;
  }
  OK(spate_recorder_finish(&fixture->recorder));
  for (unsigned i = 0; i < STREAMS; i++) {
    struct source *source = &fixture->sources[i];
    uint64_t first = i < 4 && source->sent_bytes > 3 * MIB ? 3 * MIB : source->sent_bytes;
    (void)snprintf(path, sizeof(path), "S%u.RAW", i);
    file_holds(fixture, path, source->sent, first);
    assert_true(source->sent_bytes > 5 * MIB);
    assert_true(source->stream.counters.checkpoints > 0);
  }
  assert_int_equal(fixture->ram.overlaps, 0);
  close_fixture(fixture);
}

static void without_a_length_the_streams_share_the_longest_run(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_info info;

  open_source(fixture, &fixture->sources[0], 3, false, 0);
  open_source(fixture, &fixture->sources[1], 4, false, 0);
  OK(spate_exfat_info(&fixture->volume, &info));
  OK(spate_stream_arm(&fixture->sources[0].stream, "A.RAW", 0));
  uint64_t half_bytes = fixture->sources[0].stream.clips[0].file.reserved_bytes;
  assert_in_range(half_bytes, info.longest_free_bytes / 2 - info.cluster_bytes, info.longest_free_bytes / 2);
  stream_pieces(fixture, &fixture->sources[0], 3);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", fixture->sources[0].sent, 3 * PIECE);
  close_fixture(fixture);
}

/* While another stream's arm waits for its flush, this stream's requests are submitted and complete, and pieces are
 * pushed to it. */
static void a_stream_flows_while_another_is_armed(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  open_source(fixture, &fixture->sources[1], 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 64 * MIB));
  stream_pieces(fixture, source, 2);
  uint64_t before = source->stream.counters.completed_bytes;
  fixture->ram.delay_polls = 20; /* metadata is slow */
  fixture->push_while_waiting = source;
  OK(spate_stream_arm(&fixture->sources[1].stream, "B.RAW", MIB));
  fixture->push_while_waiting = NULL;
  assert_true(source->stream.counters.completed_bytes - before >= 8 * PIECE);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, source->sent_bytes);
  struct spate_exfat_entry entry;
  GIVES(SPATE_E_NOT_FOUND, spate_exfat_stat(&fixture->volume, "B.RAW", &entry));
  close_fixture(fixture);
}

static void streams_do_not_starve_metadata(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  fixture->ram.block.depth = 8;
  fixture->recorder.config.depth = 8; /* the device's whole depth */
  open_source(fixture, source, 3, false, 0);
  open_source(fixture, &fixture->sources[1], 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 100 * MIB));
  fixture->push_while_waiting = source;
  fixture->turns = 0;
  while (push(source, PIECE) == SPATE_OK) {
  }
  OK(spate_stream_arm(&fixture->sources[1].stream, "B.RAW", MIB));
  assert_true(fixture->turns < 1000);
  fixture->push_while_waiting = NULL;
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, source->sent_bytes);
  close_fixture(fixture);
}

static void eight_streams_without_a_length_share_the_volume(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, 100);
  struct spate_exfat_info info;
  char path[] = "0";

  for (unsigned i = 0; i < STREAMS; i++)
    open_source(fixture, &fixture->sources[i], i + 1, false, 0);
  OK(spate_exfat_info(&fixture->volume, &info));
  for (unsigned i = 0; i < STREAMS; i++) {
    path[0] = (char)('A' + i);
    OK(spate_stream_arm(&fixture->sources[i].stream, path, 0));
    uint64_t share_bytes = fixture->sources[i].stream.clips[0].file.reserved_bytes;
    assert_in_range(share_bytes, info.longest_free_bytes / STREAMS - MIB, info.longest_free_bytes / STREAMS + MIB);
  }
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eight_streams_at_once),
      cmocka_unit_test(without_a_length_the_streams_share_the_longest_run),
      cmocka_unit_test(a_stream_flows_while_another_is_armed),
      cmocka_unit_test(streams_do_not_starve_metadata),
      cmocka_unit_test(eight_streams_without_a_length_share_the_volume),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
