/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/*
 * A source that follows the recorder's levels loses nothing where a source that ignores them overruns: when a drive's
 * SLC cache is full, and when a drive becomes so hot that it throttles. The drive is a 970 EVO Plus, and the recorder
 * is the library's own.
 */
#include "machine/stack.h"
#include <spate/port.h>
#include <spate/recorder.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PIECE_BYTES (UINT64_C(1) << 20)
#define PIECES_MAX  512u
#define SLOW_MS     200u
#define THROTTLES_C 80 /* from the profile: five degrees below the warning temperature that the drive reports */

#define OK(call) assert_int_equal(call, SPATE_OK)

struct run {
  struct sim_stack *stack;
  struct spate_exfat volume;
  struct spate_recorder recorder;
  struct spate_stream stream;
  struct spate_piece pieces[PIECES_MAX];
  struct spate_region *ring;
  struct sim_profile profile;
  bool listens;
  double rate;        /* of the source, bytes per second */
  uint64_t first_lba; /* of the clip */
  uint64_t made, next_ps, slow_down_ps, health_ps;
  /* the first time of each; 0: not yet */
  uint64_t overrun_ps, throttled_ps, level_ps[4], heat_ps[4];
};

static uint64_t now_ps(const struct run *run) { return sim_now_ps(run->stack->sim); }

static struct sim_media *media_of(const struct run *run) { return sim_drive_media(run->stack->drives[0].drive); }

static void on_event(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  struct run *run = context;
  uint64_t *first_ps = event == SPATE_EVENT_HEAT ? run->heat_ps : run->level_ps;

  (void)stream;
  if (event != SPATE_EVENT_HEAT && event != SPATE_EVENT_PRESSURE) return;
  for (uint64_t level = 0; level <= value; level++)
    if (first_ps[level] == 0) first_ps[level] = now_ps(run);
  if (run->listens && value >= SPATE_LEVEL_SLOW && run->slow_down_ps == 0)
    run->slow_down_ps = now_ps(run) + SLOW_MS * SIM_PS_PER_MS;
}

static struct run *start(double rate, uint32_t ring_pieces, bool listens, double celsius) {
  const struct sim_stack_config config = {.machine = {.seed = 1, .coherent = true}, .profile = "970evoplus"};
  struct run *run = calloc(1, sizeof *run);

  if (run == NULL) abort();
  run->rate = rate;
  run->listens = listens;
  run->stack = sim_stack_new(&config);
  sim_drive_heat(run->stack->drives[0].drive, celsius);
  OK(sim_stack_open(run->stack));
  struct spate_exfat_config volume = sim_stack_exfat(run->stack);
  const struct spate_exfat_format format = {.label = "WATCH", .serial = 1, .cluster_bytes = 4u << 20};
  OK(spate_exfat_format(&volume, &format));
  OK(spate_exfat_mount(&run->volume, &volume, NULL));
  const struct spate_recorder_config recorder = {.slow_ms = SLOW_MS, .event = on_event, .context = run};
  OK(spate_recorder_open(&run->recorder, &run->volume, &recorder));
  run->ring = sim_stack_region(run->stack, ring_pieces * PIECE_BYTES, SIM_LOGIC);
  const struct spate_stream_config stream = {.region = run->ring, .pieces = run->pieces, .piece_count = ring_pieces};
  OK(spate_stream_open(&run->recorder, &run->stream, &stream));
  OK(spate_stream_arm(&run->stream, "CLIP.RAW", UINT64_C(200) << 30));
  run->first_lba = run->stream.current->file.first_lba;
  run->profile = *media_of(run)->profile;
  run->next_ps = run->health_ps = now_ps(run);
  return run;
}

static void end(struct run *run) {
  OK(spate_recorder_finish(&run->recorder));
  assert_int_equal(run->stream.counters.durable_bytes, run->stream.counters.pushed_bytes);
  assert_int_equal(run->stream.counters.lost_bytes, 0);
  OK(spate_recorder_close(&run->recorder));
  OK(spate_exfat_unmount(&run->volume));
  OK(sim_stack_close(run->stack));
  sim_stack_free(run->stack);
  free(run);
}

static void make_piece(struct run *run) {
  const uint64_t at = run->made * PIECE_BYTES;
  const uint64_t ring_at = run->stream.counters.pushed_pieces % run->stream.config.piece_count * PIECE_BYTES;

  run->made++;
  if (spate_stream_room(&run->stream) == 0) {
    spate_stream_overrun(&run->stream, PIECE_BYTES);
    if (run->overrun_ps == 0) run->overrun_ps = now_ps(run);
    return;
  }
  for (uint64_t page = 0; page < PIECE_BYTES; page += SIM_PAGE)
    sim_stamp_put(run->ring->start + ring_at + page, (struct sim_stamp){.clip = 1, .offset = at + page});
  OK(spate_stream_push(&run->stream, ring_at, (uint32_t)PIECE_BYTES));
}

static void look_after_health(struct run *run) {
  struct spate_nvme *nvme = &run->stack->drives[0].nvme;

  if (now_ps(run) - run->health_ps < SIM_PS_PER_S) return;
  run->health_ps = now_ps(run);
  if (spate_nvme_health(nvme)->sequence > 0)
    spate_recorder_temperature(&run->recorder, spate_nvme_health(nvme)->temperature_c, THROTTLES_C, 85);
  OK(spate_nvme_health_start(nvme));
}

/* Record until it overruns, or for this time. */
static void record(struct run *run, double seconds) {
  const uint64_t until_ps = now_ps(run) + (uint64_t)(seconds * (double)SIM_PS_PER_S);

  while (now_ps(run) < until_ps && run->overrun_ps == 0) {
    for (; run->next_ps <= now_ps(run); run->next_ps += (uint64_t)((double)PIECE_BYTES / run->rate * 1e12))
      make_piece(run);
    OK(spate_recorder_work(&run->recorder));
    look_after_health(run);
    if (media_of(run)->throttled && run->throttled_ps == 0) run->throttled_ps = now_ps(run);
    if (run->slow_down_ps != 0 && now_ps(run) >= run->slow_down_ps) {
      run->rate /= 2;
      run->slow_down_ps = UINT64_MAX;
    }
    if (run->next_ps > now_ps(run)) sim_idle(run->stack->sim, run->next_ps - now_ps(run));
  }
}

static void drive_holds_page(const struct run *run, uint64_t at) {
  struct sim_drive *drive = run->stack->drives[0].drive;
  const uint64_t first = run->first_lba << sim_drive_block_shift(drive);
  struct sim_stamp stamp = {0};

  if (!sim_store_stamp(sim_drive_store(drive), first + at, &stamp) || stamp.offset != at)
    fail_msg("page at %lu: stamp %lu", (unsigned long)at, (unsigned long)stamp.offset);
}

/* Everything that the source made is on the drive, in its place: checks both ends of each piece. */
static void drive_holds_all(struct run *run) {
  OK(spate_recorder_finish(&run->recorder));
  assert_int_equal(run->overrun_ps, 0);
  assert_int_equal(run->stream.counters.durable_bytes, run->made * PIECE_BYTES);
  for (uint64_t piece = 0; piece < run->made; piece++) {
    drive_holds_page(run, piece * PIECE_BYTES);
    drive_holds_page(run, (piece + 1) * PIECE_BYTES - SIM_PAGE);
  }
}

static double ms_between(uint64_t from_ps, uint64_t to_ps) { return ((double)to_ps - (double)from_ps) / 1e9; }

/* 3 GB/s into an SLC cache of 3.3 GB/s that is full after 1.5 s; then the drive accepts 1.72 GB/s. */
static struct run *over_the_edge(bool listens) {
  struct run *run = start(3.0e9, 512, listens, 40);

  media_of(run)->slc_used_bytes = (double)run->profile.slc_bytes - 4.5e9;
  record(run, 4);
  return run;
}

static void the_edge_of_the_slc_cache(void **state) {
  (void)state;
  struct run *ignored = over_the_edge(false);

  assert_int_not_equal(ignored->overrun_ps, 0);
  const double watch_ms = ms_between(ignored->level_ps[SPATE_LEVEL_WATCH], ignored->overrun_ps);
  const double slow_ms = ms_between(ignored->level_ps[SPATE_LEVEL_SLOW], ignored->overrun_ps);
  const double critical_ms = ms_between(ignored->level_ps[SPATE_LEVEL_CRITICAL], ignored->overrun_ps);
  print_message("SLC edge, levels ignored: WATCH %.0f ms, SLOW %.0f ms, CRITICAL %.0f ms ahead of the overrun\n",
                watch_ms, slow_ms, critical_ms);
  assert_true(slow_ms >= SLOW_MS && slow_ms <= SLOW_MS + 100 && watch_ms >= slow_ms);
  end(ignored);

  struct run *followed = over_the_edge(true);
  print_message("SLC edge, levels followed: never more than %u of %u pieces held\n",
                followed->stream.counters.pieces_high_water, followed->stream.config.piece_count);
  assert_int_equal(media_of(followed)->state, SIM_MEDIA_DIRECT);
  assert_int_not_equal(followed->level_ps[SPATE_LEVEL_SLOW], 0);
  assert_int_equal(followed->level_ps[SPATE_LEVEL_CRITICAL], 0);
  drive_holds_all(followed);
  end(followed);
}

/* 1.5 GB/s past the SLC cache, in a hot case: in a minute the drive reaches its limit, and accepts 1.29 GB/s. */
static struct run *in_a_hot_box(bool listens) {
  struct run *run = start(1.5e9, 64, listens, 70);

  run->profile.ambient_c = 62;
  media_of(run)->profile = &run->profile;
  media_of(run)->slc_used_bytes = (double)run->profile.slc_bytes;
  record(run, 60);
  return run;
}

static void a_hot_drive(void **state) {
  (void)state;
  struct run *ignored = in_a_hot_box(false);

  assert_int_not_equal(ignored->overrun_ps, 0);
  const double watch_s = ms_between(ignored->heat_ps[SPATE_LEVEL_WATCH], ignored->throttled_ps) / 1e3;
  const double slow_s = ms_between(ignored->heat_ps[SPATE_LEVEL_SLOW], ignored->throttled_ps) / 1e3;
  print_message("hot, levels ignored: HEAT WATCH %.1f s, SLOW %.1f s ahead of throttling; overrun %.1f s after\n",
                watch_s, slow_s, ms_between(ignored->throttled_ps, ignored->overrun_ps) / 1e3);
  assert_true(slow_s >= 20 && watch_s > slow_s);
  end(ignored);

  struct run *followed = in_a_hot_box(true);
  print_message("hot, levels followed: %.1f C at the end, never more than %u of %u pieces held\n",
                media_of(followed)->temperature_c, followed->stream.counters.pieces_high_water,
                followed->stream.config.piece_count);
  assert_int_equal(followed->throttled_ps, 0);
  drive_holds_all(followed);
  end(followed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_edge_of_the_slc_cache),
      cmocka_unit_test(a_hot_drive),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
