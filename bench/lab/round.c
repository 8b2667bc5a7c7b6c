/* SPDX-License-Identifier: Apache-2.0 */
#include "round.h"
#include "check.h"

#include <spate/port.h>
#include <stdlib.h>

#define PARTS_SPARE 3u /* that are armed, streamed into, or closing beside those that are kept */

/* Nothing is triggered, and nobody else uses the volume: each event would be an error. */
static void event(void *context, struct spate_loop *loop, enum spate_loop_event event, const char *path,
                  uint64_t value) {
  (void)context;
  (void)loop;
  (void)value;
  lab_fail("the loop reported event %u of %s", (unsigned)event, path);
}

void lab_round_open(struct lab_round *round, struct lab_machine *machine, struct spate_stream *stream) {
  const struct lab_options *options = machine->options;
  const uint64_t count = options->keep_bytes / options->file_bytes + PARTS_SPARE;

  if (count > SPATE_LOOP_PARTS_MAX) lab_fail("--keep: %u parts of --file at most", SPATE_LOOP_PARTS_MAX - PARTS_SPARE);
  round->parts = calloc((size_t)count, sizeof *round->parts);
  if (round->parts == NULL) lab_fail("no memory for the loop's parts");
  const struct spate_loop_config config = {.stream = stream,
                                           .path = LAB_FILE,
                                           .part_bytes = options->file_bytes,
                                           .keep_bytes = options->keep_bytes,
                                           .parts = round->parts,
                                           .part_count = (uint32_t)count,
                                           .memory = sim_memory_take(machine->sim, SPATE_PAGE_BYTES, SIM_CACHED),
                                           .event = event};
  lab_expect(spate_loop_open(&round->loop, &config), "opening the loop (does --keep have 8 parts of --file?)");
}

void lab_round_free(struct lab_round *round) { free(round->parts); }

static double milliseconds(uint64_t ticks) { return (double)ticks * 1e3 / (double)spate_port_ticks_per_second(); }

void lab_round_write(const struct lab_round *round, struct json *json) {
  const struct spate_loop_counters *counters = &round->loop.counters;

  json_integer(json, "parts", counters->parts);
  json_integer(json, "deleted", counters->deleted);
  json_real(json, "arm_ms_max", milliseconds(counters->arm_ticks_max));
  json_real(json, "loop_work_ms_max", milliseconds(counters->work_ticks_max));
}
