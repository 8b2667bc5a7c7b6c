/* SPDX-License-Identifier: Apache-2.0 */
/* The program of the README: records 64 MiB into a new file on the volume that the drive has. */
#include "../common/drive.h"
#include <spate/recorder.h>

#define PIECE_BYTES (128u << 10)

static struct drive drive;
static struct spate_exfat volume;
static struct spate_recorder recorder;
static struct spate_stream stream;
static struct spate_piece pieces[32];

int app_main(void) {
  const struct spate_stream_config ring = {.region = &drive.ring, .pieces = pieces, .piece_count = 32};
  struct spate_partition partition;

  drive_open(&drive, 32); /* PCIe, NVMe */
  must("find", spate_partition_find(&drive.queue.block, drive.ring.start, &partition));
  const struct spate_exfat_config place = drive_volume(&drive, &partition);
  must("mount", spate_exfat_mount(&volume, &place, NULL));
  must("open", spate_recorder_open(&recorder, &volume, &(struct spate_recorder_config){0}));
  must("stream", spate_stream_open(&recorder, &stream, &ring));
  must("arm", spate_stream_arm(&stream, "CLIP.RAW", 512 * PIECE_BYTES)); /* reserves space */
  for (uint32_t pushed = 0; pushed < 512;) {
    const enum spate_error error = spate_stream_push(&stream, pushed % 32 * PIECE_BYTES, PIECE_BYTES);
    if (error == SPATE_OK) pushed++;              /* no copy: logic fills the ring */
    must("work", spate_recorder_work(&recorder)); /* submit, reap, checkpoint */
    if (error != SPATE_E_FULL) must("push", error);
  }
  must("finish", spate_recorder_finish(&recorder));
  must("close", spate_recorder_close(&recorder));
  must("unmount", spate_exfat_unmount(&volume));
  return (int)spate_nvme_shutdown(&drive.controller);
}
