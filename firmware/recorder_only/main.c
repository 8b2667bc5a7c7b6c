/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest recorder: mount a volume that a PC or another application has formatted, record one clip, close it, shut
 * down. The size report measures it, and it can be read in a minute.
 *
 * With OWN_VOLUME_AT_BYTES it is `recorder_own`, which is smaller still: it records only on volumes of Spate, which
 * begin at this place of the drive, and leaves recovery and repairs to another program. */
#include <board.h>
#include <spate/nvme.h>
#include <spate/partition.h>
#include <spate/port.h>
#include <spate/recorder.h>

#define DEPTH        32u
#define PIECE_BYTES  (128u << 10) /* 31 commands of 8 KiB, the least MDTS, are enough for it */
#define PIECES       32u
#define CACHE_BLOCKS (SPATE_EXFAT_CACHE_BLOCKS_MIN + 1u) /* one clip is open */
#define BITMAP_BYTES (12u * 1024u)

static struct spate_pcie_host host;
static struct spate_nvme controller;
static struct spate_nvme_queue queue;
static struct spate_nvme_slot queue_slots[SPATE_NVME_SLOTS(DEPTH)];
static struct spate_region ring;
static struct spate_exfat volume;
static struct spate_exfat_block blocks[CACHE_BLOCKS];
static struct spate_recorder recorder;
static struct spate_stream stream;
static struct spate_piece pieces[PIECES];

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    enum spate_error error_ = (call);                                                                                  \
    if (error_ != SPATE_OK) return error_;                                                                             \
  } while (0)

static enum spate_error open_drive(void) {
  struct spate_pcie_device *device = NULL;

  TRY(board_pcie_bring_up(&host));
  TRY(spate_pcie_find(&host, SPATE_PCIE_CLASS_NVME, 0, &device));
  struct spate_nvme_config config = {.registers = device->bar0,
                                     .registers_bytes = device->bar0_bytes,
                                     .queue_memory = board_queue_memory(),
                                     .bus = {.vendor_id = device->vendor_id, .device_id = device->device_id}};
  TRY(spate_nvme_open(&controller, &config));
  const struct spate_nvme_queue_config queue_config = {
      .depth = DEPTH, .slots = queue_slots, .slot_count = SPATE_NVME_SLOTS(DEPTH)};
  TRY(spate_nvme_queue_open(&controller, &queue, &queue_config));
  return board_ring_open(&ring);
}

#ifdef OWN_VOLUME_AT_BYTES
static enum spate_error mount_volume(struct spate_exfat_config *config) {
  config->first_lba = OWN_VOLUME_AT_BYTES >> queue.block.block_shift;
  if (config->first_lba > queue.block.blocks) return SPATE_E_TOO_SMALL;
  config->blocks = queue.block.blocks - config->first_lba; /* the volume may end before */
  return spate_exfat_mount_own(&volume, config, NULL);
}
#else
static enum spate_error mount_volume(struct spate_exfat_config *config) {
  struct spate_partition partition;

  TRY(spate_partition_find(&queue.block, ring.start, &partition)); /* the ring is empty yet */
  config->first_lba = partition.first_lba;
  config->blocks = partition.blocks;
  return spate_exfat_mount(&volume, config, NULL);
}
#endif

static enum spate_error mount(void) {
  const size_t cache_bytes = (size_t)CACHE_BLOCKS << queue.block.block_shift;
  struct spate_exfat_config config = {.block = &queue.block,
                                      .cache = spate_arena_take(board_memory(), cache_bytes, SPATE_DMA_ALIGN),
                                      .cache_bytes = cache_bytes,
                                      .cache_blocks = blocks,
                                      .cache_block_count = CACHE_BLOCKS,
                                      .bitmap = spate_arena_take(board_memory(), BITMAP_BYTES, SPATE_DMA_ALIGN),
                                      .bitmap_bytes = BITMAP_BYTES,
                                      .now = board_now};

  if (config.cache == NULL || config.bitmap == NULL) return SPATE_E_MEMORY;
  return mount_volume(&config);
}

static enum spate_error record(uint64_t bytes) {
  const uint64_t slots = ring.bytes < PIECES * PIECE_BYTES ? ring.bytes / PIECE_BYTES : PIECES;
  struct spate_recorder_config config = {0};
  struct spate_stream_config stream_config = {.region = &ring, .pieces = pieces, .piece_count = (uint32_t)slots};
  uint64_t slot = 0;

  TRY(spate_recorder_open(&recorder, &volume, &config));
  TRY(spate_stream_open(&recorder, &stream, &stream_config));
  TRY(spate_stream_arm(&stream, "CLIP.RAW", bytes));
  for (uint64_t pushed_bytes = 0; pushed_bytes < bytes;) {
    /* Logic fills one slot after the other; here the contents do not matter. */
    enum spate_error error = spate_stream_push(&stream, slot * PIECE_BYTES, PIECE_BYTES);
    if (error == SPATE_OK) {
      pushed_bytes += PIECE_BYTES;
      slot = slot + 1u < slots ? slot + 1u : 0;
    } else if (error != SPATE_E_FULL) {
      return error;
    }
    TRY(spate_recorder_work(&recorder));
  }
  TRY(spate_recorder_finish(&recorder));
  return spate_recorder_close(&recorder);
}

static enum spate_error run(void) {
  TRY(open_drive());
  TRY(mount());
  TRY(record(64u << 20));
  TRY(spate_exfat_unmount(&volume));
  return spate_nvme_shutdown(&controller);
}

int app_main(void) {
  const enum spate_error error = run();

  /* The sentences of spate_error_help() would make up a tenth of this program. */
  if (error != SPATE_OK) spate_port_log("recorder_only: failed; spate/error.h has the code", (uint64_t)error);
  return (int)error;
}
