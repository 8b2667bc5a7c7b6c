/* SPDX-License-Identifier: Apache-2.0 */
/* A standalone application: records a stream from AXI DMA into one file on a drive that a PC has formatted. */
#include "record.h"

#include <design.h>
#include <spate/clock.h>
#include <spate/nvme_pcie.h>
#include <spate/partition.h>
#include <spate/port.h>
#include <spate_vitis.h>

#include <xil_printf.h>

#define DEPTH        64u
#define PIECE_BYTES  (1u << 20) /* 63 commands of 32 KiB are enough for it: every drive with MDTS 3 or more */
#define PIECES       32u
#define CLIP_BYTES   (UINT64_C(1) << 30)
#define BLOCK_BYTES  4096u                               /* the most that a drive has */
#define CACHE_BLOCKS (SPATE_EXFAT_CACHE_BLOCKS_MIN + 1u) /* one clip is open */
#define CACHE_BYTES  (CACHE_BLOCKS * BLOCK_BYTES)
#define BITMAP_BYTES (64u * 1024u)

_Static_assert(PIECES *PIECE_BYTES <= DESIGN_RING_BYTES, "the ring of design.h is too small");
_Static_assert(PIECE_BYTES >> DESIGN_DMA_LENGTH_BITS == 0, "set a wider buffer length register in AXI DMA");

static struct spate_pcie_host host;
static struct spate_nvme_pcie pcie_bus;
static struct spate_nvme controller;
static struct spate_nvme_queue queue;
static struct spate_nvme_slot queue_slots[SPATE_NVME_SLOTS(DEPTH)];
static struct spate_region ring;
static struct spate_exfat volume;
static struct spate_recorder recorder;
static struct spate_stream stream;
static struct spate_piece pieces[PIECES];
static struct s2mm dma;
static struct spate_arena queue_memory = {.start = (uint8_t *)DESIGN_QUEUE, .bytes = DESIGN_QUEUE_BYTES};
static uint8_t cache[CACHE_BYTES] __attribute__((aligned(SPATE_DMA_ALIGN)));
static struct spate_exfat_block cache_blocks[CACHE_BLOCKS];
static uint8_t bitmap[BITMAP_BYTES] __attribute__((aligned(SPATE_DMA_ALIGN)));

#define TRY(step, call)                                                                                                \
  do {                                                                                                                 \
    const enum spate_error error_ = (call);                                                                            \
    if (error_ != SPATE_OK) {                                                                                          \
      xil_printf("%s: %s\r\n", step, spate_error_help(error_));                                                        \
      return error_;                                                                                                   \
    }                                                                                                                  \
  } while (0)

static enum spate_error open_drive(void) {
  struct spate_pcie_device *device;

  TRY("memory of the queues", spate_vitis_not_cached(DESIGN_QUEUE, DESIGN_QUEUE_BYTES));
  TRY("memory of the ring", spate_vitis_not_cached(DESIGN_RING, DESIGN_RING_BYTES));
  TRY("clock", spate_clock_check());
  TRY("bridge", spate_vitis_bring_up(&host, 0));
  TRY("drive", spate_pcie_find(&host, SPATE_PCIE_CLASS_NVME, 0, &device));
  pcie_bus = (struct spate_nvme_pcie){.host = &host, .device = device};
  const struct spate_nvme_config config = {.registers = device->bar0,
                                           .registers_bytes = device->bar0_bytes,
                                           .queue_memory = &queue_memory,
                                           .bus = spate_nvme_pcie_bus(&pcie_bus)};
  TRY("controller", spate_nvme_open(&controller, &config));
  const struct spate_nvme_queue_config queue_config = {
      .depth = DEPTH, .slots = queue_slots, .slot_count = SPATE_NVME_SLOTS(DEPTH)};
  TRY("I/O queue", spate_nvme_queue_open(&controller, &queue, &queue_config));
  TRY("ring", spate_region_init(&ring, (void *)DESIGN_RING, DESIGN_RING_BYTES, &queue_memory));
  return SPATE_OK;
}

static enum spate_error mount(void) {
  struct spate_partition partition;

  TRY("partition", spate_partition_find(&queue.block, ring.start, &partition)); /* the ring is empty yet */
  const struct spate_exfat_config config = {.block = &queue.block,
                                            .first_lba = partition.first_lba,
                                            .blocks = partition.blocks,
                                            .cache = cache,
                                            .cache_bytes = sizeof cache,
                                            .cache_blocks = cache_blocks,
                                            .cache_block_count = CACHE_BLOCKS,
                                            .bitmap = bitmap,
                                            .bitmap_bytes = sizeof bitmap};
  TRY("volume", spate_exfat_mount(&volume, &config, NULL));
  return SPATE_OK;
}

static enum spate_error record(void) {
  const struct spate_recorder_config recorder_config = {0};
  const struct spate_stream_config stream_config = {.region = &ring, .pieces = pieces, .piece_count = PIECES};
  const struct s2mm_config dma_config = {.registers = DESIGN_DMA,
                                         .length_bits = DESIGN_DMA_LENGTH_BITS,
                                         .wide_addresses = DESIGN_DMA_ADDRESS_BITS > 32,
                                         .ring = &ring,
                                         .piece_bytes = PIECE_BYTES,
                                         .piece_count = PIECES,
                                         .memory = &queue_memory};

  TRY("recorder", spate_recorder_open(&recorder, &volume, &recorder_config));
  TRY("stream", spate_stream_open(&recorder, &stream, &stream_config));
  enum spate_error error = s2mm_open(&dma, &dma_config);
  if (error == SPATE_OK) error = example_record(&dma, &recorder, &stream, "CLIP.RAW", CLIP_BYTES);
  if (dma.failure != S2MM_OK) xil_printf("AXI DMA: %s\r\n", s2mm_help(dma.failure));
  xil_printf("%d MiB recorded, the ring was full %d times\r\n", (int)(dma.bytes >> 20), (int)dma.starved);
  TRY("recording", error);
  TRY("recorder", spate_recorder_close(&recorder));
  return SPATE_OK;
}

static enum spate_error run(void) {
  enum spate_error error = open_drive();
  if (error != SPATE_OK) return error;
  error = mount();
  if (error == SPATE_OK) {
    error = record();
    const enum spate_error unmounted = spate_exfat_unmount(&volume);
    if (error == SPATE_OK) error = unmounted;
  }
  const enum spate_error closed = spate_nvme_shutdown(&controller);
  return error != SPATE_OK ? error : closed;
}

int main(void) {
  spate_vitis_open();
  const enum spate_error error = run();
  xil_printf(error == SPATE_OK ? "done: the drive may be switched off\r\n" : "failed\r\n");
  return (int)error;
}
