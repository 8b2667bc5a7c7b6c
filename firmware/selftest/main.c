/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a board before it has a drive: console, clock, how memory is mapped, exFAT and the recorder on a drive in
 * memory, and at last the PCIe bridge.
 *
 *   clip_kib=4000    size of the first clip; the second is half as large again, with an odd tail
 *
 * Exit status 1: a check failed. A bridge that does not answer is no failure: its sentence is the last line.
 */
#include "../common/drive.h"
#include "../common/memory_disk.h"
#include "../common/pattern.h"
#include <print.h>
#include <spate/clock.h>
#include <spate/player.h>
#include <spate/port.h>
#include <spate/recorder.h>

#define DISK_BYTES   (24u << 20)
#define CACHE_BYTES  (16u * 512u)
#define BITMAP_BYTES (16u << 10)
#define SLOT_BYTES   (128u << 10)
#define SLOTS        8u
#define ODD_TAIL     12345u

struct clip {
  const char *path;
  uint64_t bytes;
  uint32_t number;
};

static struct memory_disk disk;
static struct spate_region ring;
static struct spate_exfat volume;
static struct spate_recorder recorder;
static struct spate_stream stream;
static struct spate_piece pieces[SLOTS];
static struct spate_player player;
static struct spate_slot slots[SLOTS];

/* ---- clock ---- */

static void check_clock(void) {
  const uint64_t rate = spate_port_ticks_per_second();

  must("checking the clock", spate_clock_check());
  const uint64_t before = spate_port_ticks();
  while (spate_port_ticks() == before)
    spate_port_relax();
  print("clock  %ju ticks per second\n", (uintmax_t)rate);
}

/* ---- memory ---- */

static const char *kind_name(enum board_memory_kind kind) {
  switch (kind) {
  case BOARD_MEMORY_UNMAPPED: return "not mapped";
  case BOARD_MEMORY_REGISTERS: return "registers";
  case BOARD_MEMORY_CACHED: return "cached";
  case BOARD_MEMORY_NOT_CACHED: return "not cached";
  case BOARD_MEMORY_UNKNOWN: break;
  }
  return "not known";
}

static void check_kind(const char *what, const volatile void *address, enum board_memory_kind wanted) {
  const enum board_memory_kind kind = board_memory_kind(address);

  print("memory %-15s at 0x%jx: %s\n", what, (uintmax_t)(uintptr_t)address, kind_name(kind));
  if (kind == BOARD_MEMORY_UNKNOWN || kind == wanted) return;
  print("\nFAILED at checking memory: %s is mapped as %s instead of %s. Correct the board's memory map.\n", what,
        kind_name(kind), kind_name(wanted));
  board_exit(1);
}

static void check_memory(void) {
  must("opening the ring", board_ring_open(&ring));
  check_kind("program", (const void *)(uintptr_t)app_main, BOARD_MEMORY_CACHED);
  check_kind("variables", &volume, BOARD_MEMORY_CACHED);
  check_kind("queue memory", board_queue_memory()->start, BOARD_MEMORY_NOT_CACHED);
  check_kind("ordinary memory", board_memory()->start, BOARD_MEMORY_CACHED);
  check_kind("ring", ring.start, BOARD_MEMORY_NOT_CACHED);
  check_kind("registers", (const void *)board_absent_register(), BOARD_MEMORY_REGISTERS);
  check_kind("address 0", NULL, BOARD_MEMORY_UNMAPPED);
}

/* ---- exFAT and the recorder ---- */

static void *ordinary_memory(size_t bytes) {
  void *memory = spate_arena_take(board_memory(), bytes, SPATE_PAGE_BYTES);

  if (memory == NULL) give_up("allocating memory", SPATE_E_MEMORY);
  return memory;
}

/* In ordinary memory; on a board that has too little of it, in the ring after the slots. */
static void make_disk(void) {
  uint8_t *behind_slots = ring.start + SLOTS * SLOT_BYTES;
  const uint64_t left_bytes = ring.bytes - SLOTS * SLOT_BYTES;
  const struct spate_arena *memory = board_memory();

  if (memory->bytes - memory->used_bytes >= DISK_BYTES + SPATE_PAGE_BYTES)
    memory_disk_open(&disk, ordinary_memory(DISK_BYTES), DISK_BYTES);
  else
    memory_disk_open(&disk, behind_slots, left_bytes < DISK_BYTES ? (size_t)left_bytes : DISK_BYTES);
}

static void make_volume(void) {
  static struct spate_exfat_block blocks[16];
  make_disk();
  struct spate_exfat_config config = {.block = &disk.block,
                                      .blocks = disk.block.blocks,
                                      .cache = ordinary_memory(CACHE_BYTES),
                                      .cache_bytes = CACHE_BYTES,
                                      .cache_blocks = blocks,
                                      .cache_block_count = sizeof blocks / sizeof blocks[0],
                                      .bitmap = ordinary_memory(BITMAP_BYTES),
                                      .bitmap_bytes = BITMAP_BYTES,
                                      .now = board_now};
  const struct spate_exfat_format format = {.label = "SELFTEST", .serial = (uint32_t)board_random()};

  must("formatting", spate_exfat_format(&config, &format));
  must("mounting", spate_exfat_mount(&volume, &config, NULL));
}

static void push_slot(const struct clip *clip, uint64_t at_bytes, uint32_t slot) {
  const uint64_t left_bytes = clip->bytes - at_bytes;
  const uint32_t bytes = left_bytes < SLOT_BYTES ? (uint32_t)left_bytes : SLOT_BYTES;
  const uint64_t offset_bytes = (uint64_t)slot * SLOT_BYTES;

  pattern_fill((uint64_t *)(void *)(ring.start + offset_bytes), clip->number, at_bytes, (bytes + 7u) & ~7u);
  must("pushing into the ring", spate_stream_push(&stream, offset_bytes, bytes));
}

static void record(const struct clip *clip) {
  must("arming a clip", spate_stream_arm(&stream, clip->path, clip->bytes));
  uint32_t slot = 0;
  for (uint64_t at_bytes = 0; at_bytes < clip->bytes;) {
    if (spate_stream_room(&stream) > 0) {
      push_slot(clip, at_bytes, slot);
      slot = (slot + 1u) % SLOTS;
      at_bytes += SLOT_BYTES;
    }
    must("recording", spate_recorder_work(&recorder));
    must("recording", stream.error);
  }
  must("ending a clip", spate_stream_cut(&stream));
  while (spate_stream_active(&stream))
    must("recording", spate_recorder_work(&recorder));
}

/* Returns how many bytes were read back. Ends the run if one differs. */
static uint64_t compare(const struct clip *clip, uint64_t at_bytes) {
  uint64_t offset_bytes = 0;
  uint32_t bytes = 0;

  if (!spate_player_take(&player, &offset_bytes, &bytes)) return 0;
  const uint64_t *words = (const uint64_t *)(const void *)(ring.start + offset_bytes);
  const uint64_t bad = pattern_check(words, clip->number, at_bytes, bytes);
  if (bad != UINT64_MAX) {
    print("\nFAILED at comparing %s: byte %ju differs\n", clip->path, (uintmax_t)bad);
    board_exit(1);
  }
  spate_player_give_back(&player);
  return bytes;
}

static void verify(const struct clip *clip) {
  const struct spate_player_config config = {
      .region = &ring, .slot_bytes = SLOT_BYTES, .slots = slots, .slot_count = SLOTS, .cpu_consumed = true};
  struct spate_exfat_file file;
  uint64_t at_bytes = 0;

  must("opening a clip", spate_exfat_open(&volume, clip->path, &file));
  must("starting playback", spate_player_open(&player, &file, 0, &config));
  while (!spate_player_ended(&player)) {
    must("playing back", spate_player_work(&player));
    at_bytes += compare(clip, at_bytes);
  }
  if (at_bytes != clip->bytes) give_up("reading a clip: its length is wrong", SPATE_E_CORRUPT);
  print("exfat  %s: all %ju bytes as recorded\n", clip->path, (uintmax_t)at_bytes);
}

static void check_recording(void) {
  const uint64_t clip_bytes = number_argument("clip_kib", "4000") << 10;
  const struct clip clips[] = {{"A.RAW", clip_bytes, 1}, {"B.RAW", clip_bytes + clip_bytes / 2 + ODD_TAIL, 2}};
  const struct spate_recorder_config config = {0};
  const struct spate_stream_config stream_config = {
      .region = &ring, .pieces = pieces, .piece_count = SLOTS, .cpu_filled = true};

  make_volume();
  must("opening the recorder", spate_recorder_open(&recorder, &volume, &config));
  must("opening the stream", spate_stream_open(&recorder, &stream, &stream_config));
  record(&clips[0]);
  record(&clips[1]);
  must("closing the recorder", spate_recorder_close(&recorder));
  verify(&clips[0]);
  verify(&clips[1]);
  must("unmounting", spate_exfat_unmount(&volume));
}

/* ---- the bridge ---- */

static void look_at_bridge(void) {
  static struct spate_pcie_host host;
  const enum spate_error error = board_pcie_bring_up(&host);

  if (error == SPATE_OK)
    print("pcie   devices found: %u\n", host.device_count);
  else
    print("pcie   %s: %s\n", spate_error_name(error), spate_error_help(error));
}

int app_main(void) {
  print("board  %s\n", board_name());
  check_clock();
  check_memory();
  check_recording();
  look_at_bridge();
  return 0;
}
