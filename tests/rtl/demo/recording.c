/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"
#include <spate/exfat.h>
#include <spate/gateware.h>
#include <spate/partition.h>
#include <spate/port.h>
#include <spate/recorder.h>
#include <stdio.h>

#define PIECES       16u
#define PIECE_BYTES  (512u * 1024u)
#define CACHE_BYTES  (32u * 4096u)
#define BITMAP_BYTES (64u * 1024u)

static struct spate_gateware gateware;
static struct spate_exfat volume;
static struct spate_recorder recorder;
static struct spate_stream stream;
static struct spate_piece pieces[PIECES];
static _Alignas(SPATE_DMA_ALIGN) uint8_t scratch[SPATE_PARTITION_SCRATCH_BYTES], cache[CACHE_BYTES],
    bitmap[BITMAP_BYTES];

static bool is_ok(const char *step, enum spate_error error) {
  if (error == SPATE_OK) return true;
  (void)printf("\nFAILED at %s: %s\n", step, spate_error_name(error));
  return false;
}

static bool open_drive(uintptr_t registers) {
  const struct spate_gateware_config config = {.registers = registers};
  struct spate_gateware_health health;

  if (!is_ok("waiting for the core's drive", spate_gateware_open(&gateware, &config))) {
    struct spate_gateware_failure failure;
    spate_gateware_failure(&gateware, &failure);
    (void)printf("       step %02x, error %u, detail %08x\n", failure.step, failure.error, failure.detail);
    return false;
  }
  const struct spate_block *block = &gateware.block;
  (void)printf("core   brought its drive up by itself: %llu MiB in %u-byte blocks, %s write cache",
               (unsigned long long)(block->blocks << block->block_shift >> 20), spate_block_bytes(block),
               block->volatile_cache ? "volatile" : "no volatile");
  if (spate_gateware_health(&gateware, &health)) (void)printf(", %d C", health.temperature_c);
  (void)printf("\n");
  return true;
}

static struct spate_exfat_block cache_blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];

static bool format(struct spate_exfat_config *config) {
  static const struct spate_partition_ids ids = {.disk = "spate rtl demo", .partition = "a partition of"};
  static const struct spate_exfat_format options = {.label = "SPATE RTL", .serial = 0x5ba7e001};
  struct spate_partition partition;

  /* Without `erase` the drive must be blank. To zero it first would take a quarter of the demonstration's time. */
  if (!is_ok("writing the partition table",
             spate_partition_write(&gateware.block, scratch, &ids, 1u << 20, false, &partition)))
    return false;
  *config = (struct spate_exfat_config){.block = &gateware.block,
                                        .first_lba = partition.first_lba,
                                        .blocks = partition.blocks,
                                        .cache = cache,
                                        .cache_bytes = sizeof cache,
                                        .cache_blocks = cache_blocks,
                                        .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                        .bitmap = bitmap,
                                        .bitmap_bytes = sizeof bitmap};
  if (!is_ok("formatting", spate_exfat_format(config, &options))) return false;
  (void)printf("format GPT with one partition, exFAT, written through the core's mailbox\n");
  return true;
}

/* ---- clips ---- */

static void show_progress(bool last) {
  static uint64_t shown_bytes;
  const struct spate_stream_counters *counters = &stream.counters;

  if (!last && counters->completed_bytes - shown_bytes < 4u << 20) return;
  shown_bytes = counters->completed_bytes;
  (void)printf("\rrecord %4llu MiB on the drive, %4llu MiB safe, %u checkpoints ",
               (unsigned long long)(counters->completed_bytes >> 20),
               (unsigned long long)(counters->durable_bytes >> 20), counters->checkpoints);
  (void)fflush(stdout);
}

static bool work(void) {
  if (!is_ok("recording", spate_recorder_work(&recorder)) || !is_ok("recording", stream.error)) return false;
  show_progress(false);
  return true;
}

/* Pieces are pushed ahead. The core takes the data of a piece from its stream when it writes the piece. */
static bool stream_clip(const struct recording_clip *clip) {
  uint64_t pushed_bytes = 0;

  if (!is_ok("arming a clip", spate_stream_arm(&stream, clip->path, clip->bytes))) return false;
  while (pushed_bytes < clip->bytes) {
    const uint64_t left_bytes = clip->bytes - pushed_bytes;
    const uint32_t bytes = left_bytes < PIECE_BYTES ? (uint32_t)left_bytes : PIECE_BYTES;
    if (spate_stream_room(&stream) > 0) {
      if (!is_ok("pushing a piece", spate_stream_push(&stream, 0, bytes))) return false;
      pushed_bytes += bytes;
    }
    if (!work()) return false;
  }
  if (!is_ok("ending a clip", spate_stream_cut(&stream))) return false;
  while (spate_stream_active(&stream))
    if (!work()) return false;
  return true;
}

static bool record(const struct recording_clip *clips, unsigned count) {
  const struct spate_recorder_config config = {.checkpoint_ms = 100};
  const struct spate_stream_config stream_config = {
      .region = spate_gateware_region(&gateware), .pieces = pieces, .piece_count = PIECES};

  if (!is_ok("opening the recorder", spate_recorder_open(&recorder, &volume, &config)) ||
      !is_ok("opening the stream", spate_stream_open(&recorder, &stream, &stream_config)))
    return false;
  for (unsigned i = 0; i < count; i++)
    if (!stream_clip(&clips[i])) return false;
  show_progress(true);
  if (!is_ok("closing the recorder", spate_recorder_close(&recorder))) return false;
  (void)printf("\nrecord done: %llu stream requests, %u checkpoints and %llu flushes beside the stream\n",
               (unsigned long long)stream.counters.data_requests, stream.counters.checkpoints,
               (unsigned long long)recorder.counters.flushes);
  if (stream.counters.checkpoints != 0) return true;
  (void)printf("\nFAILED at recording: no checkpoint came while the clips streamed\n");
  return false;
}

bool record_clips(uintptr_t registers, const struct recording_clip *clips, unsigned count) {
  struct spate_exfat_config config;

  if (!open_drive(registers) || !format(&config)) return false;
  if (!is_ok("mounting", spate_exfat_mount(&volume, &config, NULL)) ||
      !is_ok("making a directory", spate_exfat_mkdir(&volume, "CLIPS")))
    return false;
  if (!record(clips, count)) return false;
  if (!is_ok("unmounting", spate_exfat_unmount(&volume)) ||
      !is_ok("shutting the drive down", spate_gateware_shutdown(&gateware)))
    return false;
  (void)printf("done   the volume is clean, the drive shut down\n");
  return true;
}
