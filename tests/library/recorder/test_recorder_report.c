/* SPDX-License-Identifier: Apache-2.0 */
/* Does the line of spate_stream_report() say what the counters say, and does the histogram count each request once? */
#include "paced_run.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t sum_of(const struct spate_pressure *pressure) {
  uint64_t sum = 0;

  for (unsigned i = 0; i < SPATE_LATENCY_COUNTS; i++)
    sum += pressure->latency_counts[i];
  return sum;
}

static void each_request_is_counted_at_its_latency(void **state) {
  (void)state;
  struct run *run = start(256, 0, false);
  const struct spate_pressure *pressure = &run->stream.pressure;

  run->in_per_ms = 2;
  paced.out_per_ms = 1.5;
  run_for(run, 300);
  const uint64_t completed = run->stream.counters.completed_bytes / PIECE_BYTES;
  assert_true(completed > 400);
  assert_int_equal(sum_of(pressure), completed);
  /* 28 requests in flight at 1.5 requests per millisecond: 18 ms, which is more than 2^-6 s and less than 2^-5 s. */
  assert_in_range(pressure->latency_counts[11], completed * 7 / 10, completed); /* less while the queue fills */
  assert_in_range(pressure->latency_ticks_sum / completed, 16 * MS, 20 * MS);
  end(run);
}

static void a_bound_belongs_to_the_count_below_it(void **state) {
  (void)state;
  struct run *run = start(2, 0, false);
  const uint64_t latencies[] = {
      15258, 15259, 30516, 30517, UINT64_C(15258) << 18, (UINT64_C(15258) << 18) + 1, UINT64_C(100000000000)};
  const unsigned indices[] = {0, 1, 1, 2, 18, 19, 19};
  const int64_t step_ns = clock_step_ns;

  clock_step_ns = 0; /* reading the clock takes no time */

  for (unsigned i = 0; i < sizeof indices / sizeof indices[0]; i++) {
    const uint64_t before = run->stream.pressure.latency_counts[indices[i]];
    run->fixture->ram.held_ops = RAM_OP(SPATE_WRITE);
    assert_true(push_one(run));
    work(run->fixture);
    run->fixture->ram.held_ops = 0;
    clock_ns += latencies[i];
    for (unsigned turns = 0; turns < 4; turns++)
      work(run->fixture);
    assert_int_equal(run->stream.pressure.latency_counts[indices[i]], before + 1u);
  }
  clock_step_ns = step_ns;
  end(run);
}

/* Every number is another one, so that no two keys can be exchanged. */
static void fill(struct spate_stream *stream) {
  stream->counters = (struct spate_stream_counters){.pushed_bytes = UINT64_MAX,
                                                    .completed_bytes = UINT64_C(10000000000000000000),
                                                    .durable_bytes = 12,
                                                    .lost_bytes = 13,
                                                    .overrun_bytes = 14,
                                                    .unknown_bytes = 15,
                                                    .data_requests = 160,
                                                    .checkpoints = 17,
                                                    .gap_ticks_max = 18,
                                                    .pieces_high_water = 19};
  stream->part = 20;
  stream->error = SPATE_E_MEDIA;
  stream->pressure = (struct spate_pressure){.level = SPATE_LEVEL_SLOW,
                                             .left_ms = 22,
                                             .in_bytes_per_s = 23,
                                             .out_bytes_per_s = 24,
                                             .latency_ticks_max = 25,
                                             .latency_ticks_sum = 26};
  for (unsigned i = 0; i < SPATE_LATENCY_COUNTS; i++)
    stream->pressure.latency_counts[i] = i * 10u;
}

static void the_line_is_exact(void **state) {
  (void)state;
  struct run *run = start(64, 0, false);
  struct spate_stream *stream = &run->stream;
  const struct spate_stream_counters counters = stream->counters;
  const enum spate_error error = stream->error;
  char text[SPATE_REPORT_BYTES_MAX], expected[SPATE_REPORT_BYTES_MAX];

  fill(stream);
  assert_true(push_one(run));
  assert_true(push_one(run));
  stream->counters.pushed_bytes = UINT64_MAX;
  stream->counters.pieces_high_water = 19;
  spate_recorder_temperature(&run->fixture->recorder, -7, 80, 85);
  run->fixture->recorder.heat.left_ms = 27;
  (void)snprintf(expected, sizeof expected,
                 "spate1 stream=0 hz=1000000000 ticks=%" PRIu64
                 " pushed=18446744073709551615 completed=10000000000000000000 durable=12 lost=13 overrun=14 unknown=15 "
                 "requests=160 checkpoints=17 gap_ticks_max=18 left=%" PRIu64 " part=20 error=%u pieces=64 held=2 "
                 "held_max=19 in=23 out=24 level=2 left_ms=22 latency_ticks_max=25 latency_ticks=26 "
                 "latency=0,10,20,30,40,50,60,70,80,90,100,110,120,130,140,150,160,170,180,190 celsius=-7 warning=80 "
                 "critical=85 heat=0 heat_ms=27\n",
                 run->fixture->recorder.now_ticks, spate_stream_left_bytes(stream), SPATE_E_MEDIA);
  assert_int_equal(spate_stream_report(stream, text, sizeof text), strlen(expected));
  assert_string_equal(text, expected);

  stream->pressure.left_ms = run->fixture->recorder.heat.left_ms = SPATE_NEVER_MS;
  (void)spate_stream_report(stream, text, sizeof text);
  assert_null(strstr(text, "_ms="));
  stream->counters = counters;
  stream->error = error;
  end(run);
}

static void a_line_that_does_not_fit_is_not_written(void **state) {
  (void)state;
  struct run *run = start(64, 0, false);
  char text[SPATE_REPORT_BYTES_MAX + 1];

  const size_t length = spate_stream_report(&run->stream, text, sizeof text);
  assert_null(strstr(text, "celsius"));
  for (size_t bytes = 0; bytes <= length; bytes++) {
    memset(text, '#', sizeof text);
    assert_int_equal(spate_stream_report(&run->stream, text, bytes), 0);
    assert_int_equal(text[0], bytes > 0 ? '\0' : '#');
    assert_int_equal(text[bytes], '#');
  }
  assert_int_equal(spate_stream_report(&run->stream, text, length + 1u), length);
  end(run);
}

static void the_longest_line_fits(void **state) {
  (void)state;
  struct run *run = start(64, 0, false);
  struct spate_stream *stream = &run->stream;
  const struct spate_stream_counters counters = stream->counters;
  char text[SPATE_REPORT_BYTES_MAX];

  memset(&stream->counters, 0xff, sizeof stream->counters);
  memset(&stream->pressure, 0xff, sizeof stream->pressure);
  stream->pressure.left_ms = UINT32_MAX - 1u;
  spate_recorder_temperature(&run->fixture->recorder, INT16_MIN, INT16_MIN, INT16_MIN);
  run->fixture->recorder.heat.left_ms = UINT32_MAX - 1u;
  stream->part = UINT32_MAX;
  const size_t length = spate_stream_report(stream, text, sizeof text);
  assert_in_range(length, 900, sizeof text - 200); /* numbers that are not at their longest here have 100 bytes */
  stream->counters = counters;
  memset(&stream->pressure, 0, sizeof stream->pressure);
  end(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_request_is_counted_at_its_latency),
      cmocka_unit_test(a_bound_belongs_to_the_count_below_it),
      cmocka_unit_test(the_line_is_exact),
      cmocka_unit_test(a_line_that_does_not_fit_is_not_written),
      cmocka_unit_test(the_longest_line_fits),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
