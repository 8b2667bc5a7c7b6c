/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loop (spate/loop.h) costs the processor beside the recorder, in instructions, on the drive of recording.h.
 *
 *   work   spate_loop_work() that finds nothing to do
 *   lap    all further instructions of it for one part, with the calls of the drive: delete the oldest, arm the next,
 *          and write the list
 *
 * The including file must first include recording.h and <spate/loop.h>.
 */
#ifndef SPATE_FIRMWARE_LOOPING_H
#define SPATE_FIRMWARE_LOOPING_H

#define LOOPING_PIECE_BYTES (1u << 20)
#define LOOPING_PART_PIECES 64u
#define LOOPING_PART_BYTES  (LOOPING_PART_PIECES * (uint64_t)LOOPING_PIECE_BYTES)
#define LOOPING_PARTS       16u
#define LOOPING_LAPS        64u /* parts that are counted, when the loop goes round already */

struct looping_cost {
  uint32_t work, lap;
};

struct looping {
  struct spate_loop loop;
  struct spate_loop_part parts[LOOPING_PARTS];
};

COUNTED looping_count_work(struct spate_loop *loop) {
  const uint32_t before = pmu_instructions();

  const enum spate_error error = spate_loop_work(loop);
  const uint32_t after = pmu_instructions();
  must("going round", error);
  return after - before - count_nothing();
}

/* A volume without the files of earlier measurements, so that its metadata are where the drive keeps them. */
static void looping_open(struct looping *looping, struct recording *recording, const struct spate_region *data) {
  static const struct spate_recorder_config config = {.checkpoint_ms = 1};
  const struct spate_exfat_format format = {.label = "COUNT", .serial = 2};
  const struct spate_exfat_config volume = recording->volume.config;
  const struct spate_stream_config stream = {
      .region = data, .pieces = recording->pieces, .piece_count = RECORDING_PIECES};
  const struct spate_loop_config loop = {.stream = &recording->stream,
                                         .path = "LOOP/CLIP.RAW",
                                         .part_bytes = LOOPING_PART_BYTES,
                                         .keep_bytes = (LOOPING_PARTS - 4u) * LOOPING_PART_BYTES,
                                         .parts = looping->parts,
                                         .part_count = LOOPING_PARTS,
                                         .memory = recording_memory(1u << RECORDING_BLOCK_SHIFT)};

  must("unmounting", spate_exfat_unmount(&recording->volume));
  must("formatting", spate_exfat_format(&volume, &format));
  must("mounting", spate_exfat_mount(&recording->volume, &volume, NULL));
  must("making the folder", spate_exfat_mkdir(&recording->volume, "LOOP"));
  must("opening the recorder", spate_recorder_open(&recording->recorder, &recording->volume, &config));
  must("opening the stream", spate_stream_open(&recording->recorder, &recording->stream, &stream));
  must("opening the loop", spate_loop_open(&looping->loop, &loop));
}

/* Records so many parts. Returns the sum of the loop's instructions; *least: the least of one call; *calls: how many.
 */
static uint64_t looping_record(struct looping *looping, struct recording *recording, uint32_t parts, uint32_t *least,
                               uint32_t *calls) {
  uint64_t sum = 0;

  for (uint32_t pieces = 0; pieces < parts * LOOPING_PART_PIECES;) {
    const uint64_t slot = recording->pushed % RECORDING_PIECES;
    const enum spate_error error = spate_loop_push(&looping->loop, slot * LOOPING_PIECE_BYTES, LOOPING_PIECE_BYTES);
    if (error != SPATE_E_FULL && error != SPATE_E_RESERVATION) {
      must("pushing", error);
      pieces++;
      recording->pushed++;
    }
    must("recording", spate_recorder_work(&recording->recorder));
    const uint32_t cost = looping_count_work(&looping->loop);
    if (cost < *least) *least = cost;
    sum += cost;
    (*calls)++;
  }
  return sum;
}

static void looping_count(struct looping *looping, struct recording *recording, const struct spate_region *data,
                          struct looping_cost *cost) {
  uint32_t calls = 0;

  cost->work = UINT32_MAX;
  recording->pushed = 0;
  looping_open(looping, recording, data);
  (void)looping_record(looping, recording, 2u * LOOPING_PARTS, &cost->work, &calls);
  const uint32_t deleted = looping->loop.counters.deleted;
  calls = 0;
  const uint64_t sum = looping_record(looping, recording, LOOPING_LAPS, &cost->work, &calls);
  const uint32_t laps = looping->loop.counters.deleted - deleted;
  if (laps == 0) give_up("going round", SPATE_E_STATE);
  cost->lap = (uint32_t)((sum - (uint64_t)calls * cost->work) / laps);
  must("closing the last part", spate_recorder_finish(&recording->recorder));
  must("closing the loop", spate_loop_close(&looping->loop));
  must("closing the recorder", spate_recorder_close(&recording->recorder));
}

#endif
