/* SPDX-License-Identifier: Apache-2.0 */
#include "recording_loop.h"
#include "exfat_image.h"
#include <spate/gateware.h>
#include <spate/loop.h>
#include <spate/port.h>
#include <stdio.h>

#define BLOCK_SHIFT   9u
#define CLUSTER_SHIFT 14u
#define PIECES        8u
#define PIECE_BYTES   (48u << 10) /* two and two thirds in a part */
#define PART_BYTES    (128u << 10)
#define PARTS         16u
#define CACHE_BYTES   (16u * 4096u)
#define BITMAP_BYTES  4096u
#define EVER_MS       UINT64_MAX
#define TURNS_MAX     1000000u

static struct spate_gateware gateware;
static struct spate_exfat volume;
static struct spate_recorder recorder;
static struct spate_stream stream;
static struct spate_piece pieces[PIECES];
static struct spate_loop loop;
static struct spate_loop_part parts[PARTS];
static unsigned kept;
static _Alignas(SPATE_DMA_ALIGN) uint8_t cache[CACHE_BYTES], bitmap[BITMAP_BYTES], list_block[4096];
static struct spate_exfat_block cache_blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];

static bool is_ok(const char *step, enum spate_error error) {
  if (error != SPATE_OK) (void)fprintf(stderr, "FAILED at %s: %s\n", step, spate_error_name(error));
  return error == SPATE_OK;
}

static void on_event(void *context, struct spate_loop *of, enum spate_loop_event event, const char *path,
                     uint64_t value) {
  (void)context;
  (void)of;
  (void)path;
  (void)value;
  if (event == SPATE_LOOP_KEPT) kept++;
}

void recording_loop_volume(uint8_t *image, uint64_t bytes) { small_format(image, bytes, BLOCK_SHIFT, CLUSTER_SHIFT); }

static bool open_all(uintptr_t registers) {
  const struct spate_gateware_config core = {.registers = registers};

  if (!is_ok("waiting for the drive", spate_gateware_open(&gateware, &core))) return false;
  const struct spate_exfat_config config = {.block = &gateware.block,
                                            .blocks = gateware.block.blocks,
                                            .cache = cache,
                                            .cache_bytes = sizeof cache,
                                            .cache_blocks = cache_blocks,
                                            .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                            .bitmap = bitmap,
                                            .bitmap_bytes = sizeof bitmap};
  const struct spate_recorder_config recording = {.checkpoint_ms = 100};
  const struct spate_stream_config source = {
      .region = spate_gateware_region(&gateware), .pieces = pieces, .piece_count = PIECES};
  const struct spate_loop_config looping = {.stream = &stream,
                                            .path = "LOOP.RAW",
                                            .part_bytes = PART_BYTES,
                                            .keep_bytes = SPATE_LOOP_PARTS_MIN * PART_BYTES,
                                            .parts = parts,
                                            .part_count = PARTS,
                                            .memory = list_block,
                                            .event = on_event};
  return is_ok("mounting", spate_exfat_mount(&volume, &config, NULL)) &&
         is_ok("opening the recorder", spate_recorder_open(&recorder, &volume, &recording)) &&
         is_ok("opening the stream", spate_stream_open(&recorder, &stream, &source)) &&
         is_ok("opening the loop", spate_loop_open(&loop, &looping));
}

/* A piece is pushed before its data: the core takes them from its stream when they come. */
static bool turn(void) {
  const enum spate_error error = spate_loop_push(&loop, 0, PIECE_BYTES);

  return is_ok("pushing a piece", error == SPATE_E_FULL ? SPATE_OK : error) &&
         is_ok("recording", spate_recorder_work(&recorder)) && is_ok("working on the loop", spate_loop_work(&loop));
}

static bool stream_parts(uint32_t count) {
  const uint32_t until = loop.counters.parts + count;

  while (loop.counters.parts < until)
    if (!turn()) return false;
  return true;
}

static bool keep(const char *path) {
  const unsigned before = kept;

  if (!is_ok("the trigger", spate_loop_trigger(&loop, path, EVER_MS, 0, NULL))) return false;
  for (uint32_t turns = 0; spate_loop_keeps(&loop) && turns < TURNS_MAX; turns++)
    if (!turn()) return false;
  if (kept == before) (void)fprintf(stderr, "FAILED at keeping %s: it did not become a file\n", path);
  return kept == before + 1u;
}

static bool close_all(void) {
  return is_ok("ending the recording", spate_recorder_finish(&recorder)) &&
         is_ok("closing the loop", spate_loop_close(&loop)) &&
         is_ok("closing the recorder", spate_recorder_close(&recorder)) &&
         is_ok("unmounting", spate_exfat_unmount(&volume)) &&
         is_ok("shutting the drive down", spate_gateware_shutdown(&gateware));
}

bool recording_loop(uintptr_t registers, uint64_t *sent_bytes) {
  const bool done = open_all(registers) && stream_parts(12) && keep(RECORDING_LOOP_FIRST) && stream_parts(10) &&
                    keep(RECORDING_LOOP_SECOND) && close_all();

  *sent_bytes = stream.counters.pushed_bytes;
  return done;
}
