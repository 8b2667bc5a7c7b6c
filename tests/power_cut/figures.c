/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What power cuts cost a recording, as figures: the library records the clip that tests/support/fatfs/crash.c records
 * with FatFs, and the same promises are checked.
 *
 *   SPATE_CUTS=STATES crash_figures BYTES PIECE_BYTES PIECES_A_CHECKPOINT
 *
 * One piece a millisecond. Prints JSON.
 */
#include "recorder_fixture.h"
#include "witness.h"

#define MS UINT64_C(1000000)

int main(int count, char **words) {
  if (count != 4 || !witness_on()) {
    (void)fputs("usage: SPATE_CUTS=STATES crash_figures BYTES PIECE_BYTES PIECES_A_CHECKPOINT\n", stderr);
    return 2;
  }
  uint64_t bytes = strtoull(words[1], NULL, 0);
  uint32_t piece_bytes = (uint32_t)strtoul(words[2], NULL, 0);
  uint32_t period_ms = (uint32_t)strtoul(words[3], NULL, 0);
  struct fixture *fixture = open_fixture(512, 32);
  struct source *source = &fixture->sources[0];
  fixture->recorder.period_ticks = period_ms * MS;
  fixture->ram.order = RAM_RANDOM;
  fixture->ram.random = witness_seed();
  fixture->ram.delay_polls = 3;
  open_source(fixture, source, 7, false, 0);
  OK(spate_stream_arm(&source->stream, "CLIP.RAW", bytes));
  for (uint64_t done = 0; done < bytes; done += piece_bytes) {
    uint64_t next_ns = clock_ns + MS;
    OK(push(source, piece_bytes));
    while (clock_ns < next_ns) {
      work(fixture);
      clock_ns += MS / 10;
    }
  }
  witness_tally();
  ram_block_close(&fixture->ram); /* the power is cut before the clip is closed */
  const struct promise_loss *loss = witness_loss();
  (void)printf("{\"states\": %llu, \"short\": %llu, \"foreign\": %llu, \"unmountable\": %llu, \"broken\": %llu, "
               "\"loss_mean\": %.0f, \"loss_max\": %llu}\n",
               (unsigned long long)loss->states, (unsigned long long)loss->broken_short,
               (unsigned long long)loss->broken_foreign, (unsigned long long)loss->unmountable,
               (unsigned long long)loss->broken_volume,
               loss->states > 0 ? (double)loss->bytes_sum / (double)loss->states : 0,
               (unsigned long long)loss->bytes_max);
  return 0;
}
