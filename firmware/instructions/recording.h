/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording costs the processor above the block interface, in instructions: the recorder and exFAT, without the
 * driver (calls.h).
 *
 * The drive is one in memory that keeps the volume's metadata, drops the stream's data, and completes every request at
 * the next poll. Its own calls are counted first, with the same requests, and subtracted.
 *
 *   push        spate_stream_push() of a piece
 *   turn        spate_recorder_work(): its part that does not depend on pieces, and what it costs if it finds nothing
 *   piece       its part for each piece
 *   checkpoint  all further instructions of a checkpoint: flush and publish
 *   clip        arming a clip of 16 GiB and closing it, with the calls of the drive in memory
 *
 * The including file must first include calls.h, and the recorder's and the board's headers.
 */
#ifndef SPATE_FIRMWARE_RECORDING_H
#define SPATE_FIRMWARE_RECORDING_H

#include <string.h>

#define RECORDING_KEPT_BYTES  (32u << 20)           /* the volume's metadata are before this */
#define RECORDING_DRIVE_BYTES (UINT64_C(128) << 30) /* the largest drive with clusters of 1 MiB */
#define RECORDING_CLIP_BYTES  (UINT64_C(16) << 30)
#define RECORDING_BLOCK_SHIFT 9u
#define RECORDING_PIECES      32u
#define RECORDING_MANY        16u /* pieces in one turn */
#define RECORDING_TURNS       64u
#define RECORDING_CACHE_BYTES (16u << RECORDING_BLOCK_SHIFT)
#define RECORDING_BITMAP      (32u << 10)
#define RECORDING_CHECKPOINTS 4u

struct recording_cost {
  uint32_t push, turn, piece, checkpoint, clip;
};

/* ---- the drive ---- */

struct recording_drive {
  struct spate_block block; /* the first member */
  uint8_t *memory;
  struct spate_io *first, *last;
  unsigned queued;
};

static enum spate_error recording_submit(struct spate_block *block, struct spate_io *io) {
  struct recording_drive *drive = (struct recording_drive *)(void *)block;

  if (drive->queued == block->depth) return SPATE_E_FULL;
  io->next = NULL;
  if (drive->first == NULL)
    drive->first = io;
  else
    drive->last->next = io;
  drive->last = io;
  drive->queued++;
  return SPATE_OK;
}

static void recording_kick(struct spate_block *block) { (void)block; }

/* Of the stream's data nothing is kept. Metadata elsewhere than expected are an error, and not lost. */
static enum spate_error recording_carry_out(const struct recording_drive *drive, const struct spate_io *io) {
  const uint64_t start = io->lba << RECORDING_BLOCK_SHIFT;
  const size_t bytes = (size_t)io->blocks << RECORDING_BLOCK_SHIFT;

  if (io->region != NULL || io->op == SPATE_FLUSH) return SPATE_OK;
  if (start + bytes > RECORDING_KEPT_BYTES) return SPATE_E_MEDIA;
  if (io->op == SPATE_READ) memcpy(io->buffer, drive->memory + start, bytes);
  if (io->op == SPATE_WRITE) memcpy(drive->memory + start, io->buffer, bytes);
  if (io->op == SPATE_ZERO) memset(drive->memory + start, 0, bytes);
  return SPATE_OK;
}

static unsigned recording_poll(struct spate_block *block, unsigned max) {
  struct recording_drive *drive = (struct recording_drive *)(void *)block;
  unsigned reaped = 0;

  for (; reaped < max && drive->first != NULL; reaped++) {
    struct spate_io *io = drive->first;
    drive->first = io->next;
    drive->queued--;
    io->error = recording_carry_out(drive, io);
    io->done(io);
  }
  return reaped;
}

static void recording_drive_open(struct recording_drive *drive, void *memory) {
  static const struct spate_block_ops ops = {recording_submit, recording_kick, recording_poll};

  *drive = (struct recording_drive){
      .block = {.ops = &ops,
                .blocks = RECORDING_DRIVE_BYTES >> RECORDING_BLOCK_SHIFT,
                .block_shift = RECORDING_BLOCK_SHIFT,
                .volatile_cache = true,
                .can_zero = true,
                .depth = 2u * RECORDING_PIECES,
                .command_bytes_max = 1u << 20,
                .request_blocks_max = (1u << 20) >> RECORDING_BLOCK_SHIFT},
      .memory = memory,
  };
}

/* ---- what its calls cost ---- */

struct recording_calls {
  uint32_t submit, kick, poll, data, metadata, flush; /* the last three: for each request that a poll completes */
};

/* One poll that completes `count` of these requests. */
static uint32_t recording_polled(const struct spate_io *like, uint32_t count, uint32_t *submit) {
  enum spate_error error = SPATE_OK;

  for (uint32_t i = 0; i < count; i++) {
    ios[i] = *like;
    ios[i].done = do_nothing;
    *submit = count_submit(&ios[i], &error);
  }
  return count_poll();
}

/* The difference of two polls: what one more request costs. The callback that does nothing is the caller's part. */
static uint32_t recording_each(const struct spate_io *like, uint32_t *submit) {
  const uint32_t one = recording_polled(like, 1, submit);

  return recording_polled(like, 2, submit) - one - 1u; /* do_nothing() is one instruction */
}

static void recording_count_calls(const struct spate_region *data, void *block_of_memory,
                                  struct recording_calls *calls) {
  const struct spate_io piece = {.op = SPATE_WRITE, .blocks = 8, .region = data};
  const struct spate_io metadata = {
      .op = SPATE_WRITE, .flags = SPATE_IO_FUA, .lba = 64, .blocks = 1, .buffer = block_of_memory};
  const struct spate_io flush = {.op = SPATE_FLUSH};

  calls->poll = count_poll();
  calls->kick = count_kick();
  calls->flush = recording_each(&flush, &calls->submit);
  calls->metadata = recording_each(&metadata, &calls->submit);
  calls->data = recording_each(&piece, &calls->submit);
}

/* ---- recording ---- */

struct recording {
  struct recording_drive drive;
  struct recording_calls calls;
  struct spate_exfat volume;
  struct spate_exfat_block blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];
  struct spate_recorder recorder;
  struct spate_stream stream;
  struct spate_piece pieces[RECORDING_PIECES];
  uint32_t piece_bytes;
  uint64_t pushed;
};

COUNTED recording_count_push(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes) {
  const uint32_t before = pmu_instructions();

  const enum spate_error error = spate_stream_push(stream, offset_bytes, bytes);
  const uint32_t after = pmu_instructions();
  must("pushing", error);
  return after - before - count_nothing();
}

COUNTED recording_count_work(struct spate_recorder *recorder) {
  const uint32_t before = pmu_instructions();

  const enum spate_error error = spate_recorder_work(recorder);
  const uint32_t after = pmu_instructions();
  must("recording", error);
  return after - before - count_nothing();
}

COUNTED recording_count_arm(struct spate_stream *stream, const char *name) {
  const uint32_t before = pmu_instructions();

  const enum spate_error error = spate_stream_arm(stream, name, RECORDING_CLIP_BYTES);
  const uint32_t after = pmu_instructions();
  must("arming", error);
  return after - before - count_nothing();
}

COUNTED recording_count_finish(struct spate_recorder *recorder) {
  const uint32_t before = pmu_instructions();

  const enum spate_error error = spate_recorder_finish(recorder);
  const uint32_t after = pmu_instructions();
  must("closing the clip", error);
  return after - before - count_nothing();
}

static void *recording_memory(size_t bytes) {
  void *memory = spate_arena_take(board_memory(), bytes, SPATE_PAGE_BYTES);

  if (memory == NULL) give_up("allocating memory", SPATE_E_MEMORY);
  return memory;
}

static void recording_mount(struct recording *recording, const struct spate_region *data) {
  recording_drive_open(&recording->drive, recording_memory(RECORDING_KEPT_BYTES));
  struct spate_block *block = &recording->drive.block;
  const struct spate_exfat_config config = {.block = block,
                                            .blocks = block->blocks,
                                            .cache = recording_memory(RECORDING_CACHE_BYTES),
                                            .cache_bytes = RECORDING_CACHE_BYTES,
                                            .cache_blocks = recording->blocks,
                                            .cache_block_count = sizeof recording->blocks / sizeof recording->blocks[0],
                                            .bitmap = recording_memory(RECORDING_BITMAP),
                                            .bitmap_bytes = RECORDING_BITMAP,
                                            .now = board_now};
  const struct spate_exfat_format format = {.label = "COUNT", .serial = 1};

  device = block;
  recording_count_calls(data, config.cache, &recording->calls);
  must("formatting", spate_exfat_format(&config, &format));
  must("mounting", spate_exfat_mount(&recording->volume, &config, NULL));
}

/* Pushes pieces, then does a turn that completes those of the turn before. Returns the turn's instructions. */
static uint32_t recording_turn(struct recording *recording, uint32_t pieces, uint32_t *push) {
  for (uint32_t i = 0; i < pieces; i++) {
    const uint64_t slot = recording->pushed++ % RECORDING_PIECES;
    const uint32_t cost =
        recording_count_push(&recording->stream, slot * recording->piece_bytes, recording->piece_bytes);
    if (cost < *push) *push = cost;
  }
  return recording_count_work(&recording->recorder);
}

/* The cheapest of several turns with the same number of pieces, in a steady state, without the drive's calls. The
 * others have a checkpoint or a step of the early warnings in them. */
static uint32_t recording_steady(struct recording *recording, uint32_t pieces, uint32_t *push) {
  const struct recording_calls *calls = &recording->calls;
  uint32_t least = UINT32_MAX;

  for (uint32_t i = 0; i < RECORDING_TURNS; i++) {
    const uint32_t turn = recording_turn(recording, pieces, push);
    if (i > 0 && turn < least) least = turn;
  }
  return least - calls->poll - calls->kick - pieces * (calls->submit + calls->data);
}

/* Runs until several checkpoints are made. What these turns cost more than a plain turn is the checkpoints'. */
static uint32_t recording_checkpoints(struct recording *recording, uint32_t plain, uint32_t *push) {
  const struct recording_calls *calls = &recording->calls;
  const uint32_t first = recording->stream.counters.checkpoints;
  const uint32_t turn = plain + calls->poll + calls->kick + calls->submit + calls->data;
  uint64_t more = 0;

  while (recording->stream.counters.checkpoints - first < RECORDING_CHECKPOINTS)
    more += recording_turn(recording, 1, push) - turn;
  const uint32_t requests = 2u * calls->submit + calls->flush + calls->metadata;
  return (uint32_t)((more + RECORDING_CHECKPOINTS / 2u) / RECORDING_CHECKPOINTS) - requests;
}

/* Records a clip. `name`: of a file that does not exist. */
static void recording_count(struct recording *recording, const struct spate_region *data, const char *name,
                            uint32_t piece_bytes, struct recording_cost *cost) {
  const struct spate_recorder_config config = {.checkpoint_ms = 1};
  const struct spate_stream_config stream = {
      .region = data, .pieces = recording->pieces, .piece_count = RECORDING_PIECES};

  *cost = (struct recording_cost){.push = UINT32_MAX};
  recording->piece_bytes = piece_bytes;
  recording->pushed = 0;
  must("opening the recorder", spate_recorder_open(&recording->recorder, &recording->volume, &config));
  must("opening the stream", spate_stream_open(&recording->recorder, &recording->stream, &stream));
  cost->clip = recording_count_arm(&recording->stream, name);
  const uint32_t many = recording_steady(recording, RECORDING_MANY, &cost->push);
  const uint32_t one = recording_steady(recording, 1, &cost->push);
  cost->piece = (many - one) / (RECORDING_MANY - 1u);
  cost->turn = one - cost->piece;
  cost->checkpoint = recording_checkpoints(recording, one, &cost->push);
  cost->clip += recording_count_finish(&recording->recorder);
  must("closing the recorder", spate_recorder_close(&recording->recorder));
}

#endif
