/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's part of docs/use/library.md, behind its code: on the virtual drive, a recording of a few pieces and a
 * look at the file. The argument is MDTS. */
#include "bus/bridge.h"
#include "drive/drive.h"
#include "machine/memory.h"

#include <spate/pcie.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIP_PIECES 40u
#define CACHE_BYTES (sizeof blocks / sizeof blocks[0] * 512u)

static unsigned filled_pieces;

static void must(enum spate_error error, const char *what) {
  if (error == SPATE_OK) return;
  (void)printf("%s: %s\n", what, spate_error_name(error));
  exit(1);
}

static void slow_the_source_down(bool slow) { (void)slow; }

static void tell_somebody(const char *what, uint64_t value) {
  (void)printf("%s: %llu\n", what, (unsigned long long)value);
  exit(1);
}

static bool filled(uint64_t *offset_bytes, uint32_t *bytes) {
  *offset_bytes = (uint64_t)(filled_pieces % PIECES) * PIECE_BYTES;
  *bytes = PIECE_BYTES;
  return filled_pieces++ < CLIP_PIECES;
}

int main(int count, char **arguments) {
  const struct sim_drive_options options = {.bytes = UINT64_C(64) << 20};
  const struct spate_pcie_ecam_config bridge = {
      .config_base = SIM_ECAM, .last_bus = 1, .memory = {SIM_WINDOW, SIM_WINDOW, SIM_WINDOW_BYTES}};
  struct sim *sim = sim_new(&(struct sim_config){.seed = 1});
  struct sim_drive *drive = sim_drive_add(sim, sim_profile_find("ideal"), &options);
  static struct spate_pcie_host host;
  struct spate_pcie_device *device;
  struct spate_arena queue_memory = {.start = sim_memory_take(sim, 1u << 20, SIM_QUEUE), .bytes = 1u << 20};
  void *scratch = sim_memory_take(sim, 1u << 20, SIM_CACHED);
  void *cache = sim_memory_take(sim, CACHE_BYTES, SIM_CACHED);
  void *bitmap = sim_memory_take(sim, 64u << 10, SIM_CACHED);
  void *ring_memory = sim_memory_take(sim, PIECES * PIECE_BYTES, SIM_LOGIC);

  sim_use(sim);
  sim_drive_identify_controller(drive)[77] = (uint8_t)atoi(arguments[count - 1]);
  must(spate_pcie_ecam_open(&host, &bridge), "bridge");
  must(spate_pcie_enumerate(&host, 0), "enumerate");
  must(spate_pcie_find(&host, SPATE_PCIE_CLASS_NVME, 0, &device), "find");
  must(open_drive(&host, device, &queue_memory), "open_drive");
  const struct spate_exfat_config fresh = {.block = &queue.block,
                                           .blocks = queue.block.blocks,
                                           .cache = cache,
                                           .cache_bytes = CACHE_BYTES,
                                           .cache_blocks = blocks,
                                           .cache_block_count = sizeof blocks / sizeof blocks[0],
                                           .bitmap = bitmap,
                                           .bitmap_bytes = 64u << 10};
  const struct spate_exfat_format format = {.label = "PAGE", .serial = 1};
  must(spate_exfat_format(&fresh, &format), "format");
  must(mount(&queue.block, scratch, cache, CACHE_BYTES, bitmap, 64u << 10), "mount");
  must(open_stream(ring_memory, &queue_memory), "open_stream");
  must(record((uint64_t)CLIP_PIECES * PIECE_BYTES, filled), "record");
  struct spate_exfat_entry info;
  must(spate_exfat_stat(&volume, "CLIP.RAW", &info), "stat");
  must(close_all(), "close_all");
  (void)printf("%llu bytes\n", (unsigned long long)info.bytes);
  sim_free(sim);
  return 0;
}
