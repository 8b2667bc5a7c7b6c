/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The speed test: raw write and read, exFAT write and read, by block size and queue depth. EVERYTHING ON THE DRIVE IS
 * LOST.
 *
 *   total_mib=16     MiB for each figure
 *   rounds=3         takes the best of this many: an emulator shares its processor with other programs
 *   erase=1          also on a drive that is not empty
 *
 * A checkpoint is made every 2 ms, 250 times as often as by default, because such short passes would otherwise have
 * none. Between arm and stop the drive must see only data commands and checkpoints. They are counted, and a difference
 * fails the run.
 */
#include "../common/drive.h"
#include "../common/pattern.h"
#include <print.h>
#include <spate/player.h>
#include <spate/port.h>
#include <spate/recorder.h>

#define QUEUE_DEPTH   64u
#define RING_BYTES    (32u << 20)
#define PIECES_MAX    64u
#define CLIP_PATH     "SPEED.RAW"
#define SMALLEST_LOG2 12u
#define SIZES         9u /* 4 KiB … 1 MiB */

static const uint16_t depths[] = {1, 8, 32};
#define DEPTHS (sizeof(depths) / sizeof(depths[0]))

enum kind { RAW_WRITE, RAW_READ, FILE_WRITE, FILE_READ, KINDS };

static uint64_t best_kib_s[SIZES][DEPTHS][KINDS];

static struct drive drive;
static struct spate_exfat volume;
static uint64_t total_bytes;
static uint64_t checkpoints; /* made between arm and stop, in all passes */
static uint32_t running;     /* raw requests in flight */

static uint64_t rate_kib_s(uint64_t bytes, uint64_t ticks) {
  return (bytes >> 10) * spate_port_ticks_per_second() / (ticks + 1u);
}

static void raw_done(struct spate_io *io) {
  bool *idle = io->context;

  must("a raw request", io->error);
  *idle = true;
  running--;
}

/* Keeps `depth` requests in flight until `total_bytes` are done. */
static uint64_t raw_pass(enum spate_op op, uint64_t first_lba, uint32_t block_bytes, uint32_t depth) {
  static struct spate_io ios[PIECES_MAX];
  static bool idle[PIECES_MAX];
  struct spate_block *block = &drive.queue.block;
  uint32_t blocks = block_bytes >> block->block_shift;
  uint64_t sent_bytes = 0;
  uint64_t started_ticks = spate_port_ticks();

  for (uint32_t i = 0; i < depth; i++)
    idle[i] = true;
  while (sent_bytes < total_bytes || running > 0) {
    for (uint32_t i = 0; i < depth && sent_bytes < total_bytes; i++) {
      if (!idle[i]) continue;
      ios[i] = (struct spate_io){.op = (uint8_t)op,
                                 .lba = first_lba + (sent_bytes >> block->block_shift),
                                 .blocks = blocks,
                                 .region = &drive.ring,
                                 .offset_bytes = sent_bytes & (RING_BYTES - 1u),
                                 .done = raw_done,
                                 .context = &idle[i]};
      enum spate_error error = spate_block_submit(block, &ios[i]);
      if (error == SPATE_E_FULL) break;
      must("submitting", error);
      idle[i] = false;
      running++;
      sent_bytes += block_bytes;
    }
    spate_block_kick(block);
    spate_block_poll(block, depth);
  }
  return rate_kib_s(total_bytes, spate_port_ticks() - started_ticks);
}

/* How many commands a request of this size becomes. */
static uint64_t commands_per_request(uint32_t block_bytes) {
  uint32_t command_bytes = drive.queue.block.command_bytes_max;

  return block_bytes <= command_bytes ? 1u : block_bytes / command_bytes;
}

static uint64_t file_write_pass(uint32_t block_bytes, uint16_t depth) {
  static struct spate_piece pieces[PIECES_MAX];
  static struct spate_recorder recorder;
  static struct spate_stream stream;
  struct spate_recorder_config config = {.checkpoint_ms = 2, .depth = depth};
  struct spate_stream_config stream_config = {.region = &drive.ring, .pieces = pieces, .piece_count = PIECES_MAX};
  const struct spate_nvme_counters *counters = spate_nvme_counters(&drive.controller);
  uint64_t pushed_bytes = 0;

  must("opening the recorder", spate_recorder_open(&recorder, &volume, &config));
  must("opening the stream", spate_stream_open(&recorder, &stream, &stream_config));
  must("arming", spate_stream_arm(&stream, CLIP_PATH, total_bytes));
  uint64_t commands_before = counters->commands;
  uint64_t started_ticks = spate_port_ticks();
  while (stream.counters.completed_bytes < total_bytes) {
    while (pushed_bytes < total_bytes && spate_stream_room(&stream) > 0) {
      must("pushing", spate_stream_push(&stream, pushed_bytes & (RING_BYTES - 1u), block_bytes));
      pushed_bytes += block_bytes;
    }
    must("recording", spate_recorder_work(&recorder));
    must("recording", stream.error);
  }
  uint64_t ticks = spate_port_ticks() - started_ticks;

  while (stream.counters.checkpoints != recorder.counters.flushes) /* the last checkpoint is not complete */
    must("recording", spate_recorder_work(&recorder));
  uint64_t commands = counters->commands - commands_before;
  uint64_t data_commands = stream.counters.data_requests * commands_per_request(block_bytes);
  uint64_t checkpoint_commands = recorder.counters.flushes + stream.counters.checkpoints;
  if (commands != data_commands + checkpoint_commands) {
    print("\nFAILED: %llu commands between arm and stop, but %llu of data and %llu of checkpoints\n",
          (unsigned long long)commands, (unsigned long long)data_commands, (unsigned long long)checkpoint_commands);
    board_exit(1);
  }
  checkpoints += stream.counters.checkpoints;
  must("stopping", spate_recorder_finish(&recorder));
  must("closing the recorder", spate_recorder_close(&recorder));
  return rate_kib_s(total_bytes, ticks);
}

static uint64_t file_read_pass(uint32_t block_bytes, uint16_t depth) {
  static struct spate_slot slots[PIECES_MAX];
  struct spate_player_config config = {
      .region = &drive.ring, .slot_bytes = block_bytes, .slots = slots, .slot_count = depth, .depth = depth};
  struct spate_player player;
  struct spate_exfat_file file;
  uint64_t offset_bytes = 0;
  uint32_t bytes = 0;

  must("opening the file", spate_exfat_open(&volume, CLIP_PATH, &file));
  must("starting playback", spate_player_open(&player, &file, 0, &config));
  uint64_t started_ticks = spate_port_ticks();
  while (!spate_player_ended(&player)) {
    must("playing back", spate_player_work(&player));
    while (spate_player_take(&player, &offset_bytes, &bytes))
      spate_player_give_back(&player);
  }
  return rate_kib_s(total_bytes, spate_port_ticks() - started_ticks);
}

static void print_rate(uint64_t kib_s) {
  uint64_t tenths_mb_s = kib_s * 1024u / 100000u;

  print(" %8llu.%llu", (unsigned long long)(tenths_mb_s / 10u), (unsigned long long)(tenths_mb_s % 10u));
}

static void print_table(void) {
  print("\n  block  depth   raw write    raw read  file write   file read   file/raw write\n");
  print("    KiB             MB/s        MB/s        MB/s        MB/s\n");
  for (uint32_t size = 0; size < SIZES; size++) {
    for (uint32_t depth = 0; depth < DEPTHS; depth++) {
      const uint64_t *rates = best_kib_s[size][depth];
      uint64_t percent = rates[FILE_WRITE] * 100u / (rates[RAW_WRITE] + 1u);

      print("  %5u  %5u ", 1u << (SMALLEST_LOG2 + size - 10u), depths[depth]);
      for (unsigned kind = 0; kind < KINDS; kind++) {
        print_rate(rates[kind]);
        print(" ");
      }
      print("  %10llu %%\n", (unsigned long long)percent);
    }
  }
}

/* All four passes in turn, so that a disturbance affects all of them. */
static void measure(uint32_t size, uint32_t depth, uint64_t raw_lba) {
  uint32_t block_bytes = 1u << (SMALLEST_LOG2 + size);
  uint64_t rates_kib_s[KINDS];

  rates_kib_s[RAW_WRITE] = raw_pass(SPATE_WRITE, raw_lba, block_bytes, depths[depth]);
  rates_kib_s[FILE_WRITE] = file_write_pass(block_bytes, depths[depth]);
  rates_kib_s[RAW_READ] = raw_pass(SPATE_READ, raw_lba, block_bytes, depths[depth]);
  rates_kib_s[FILE_READ] = file_read_pass(block_bytes, depths[depth]);
  must("deleting the file", spate_exfat_delete(&volume, CLIP_PATH));
  for (unsigned kind = 0; kind < KINDS; kind++)
    if (rates_kib_s[kind] > best_kib_s[size][depth][kind]) best_kib_s[size][depth][kind] = rates_kib_s[kind];
}

int app_main(void) {
  struct spate_partition partition;
  uint64_t rounds = number_argument("rounds", "3");

  total_bytes = number_argument("total_mib", "16") << 20;
  drive_open(&drive, QUEUE_DEPTH);
  drive_format(&drive, "SPEED", &partition);
  struct spate_exfat_config config = drive_volume(&drive, &partition);
  if (total_bytes == 0 || total_bytes * 4u > partition.blocks << drive.queue.block.block_shift)
    give_up("choosing total_mib", SPATE_E_TOO_SMALL);
  pattern_fill((uint64_t *)(void *)drive.ring.start, 0, 0, RING_BYTES);

  /* Raw requests go to the second half of the partition; files start in the first. */
  uint64_t raw_lba = partition.first_lba + partition.blocks / 2u;
  raw_lba -= raw_lba & 2047u;
  must("mounting", spate_exfat_mount(&volume, &config, NULL));
  measure(SIZES - 1u, DEPTHS - 1u, raw_lba); /* the first access to memory and media is not measured */
  for (uint32_t round = 0; round < rounds; round++) {
    for (uint32_t size = 0; size < SIZES; size++)
      for (uint32_t depth = 0; depth < DEPTHS; depth++)
        measure(size, depth, raw_lba);
    print("\rspeed  round %u of %u", round + 1u, (uint32_t)rounds);
  }
  must("unmounting", spate_exfat_unmount(&volume));
  print_table();
  drive_print_counters(&drive);
  must("shutting the drive down", spate_nvme_shutdown(&drive.controller));
  if (checkpoints == 0) {
    print("FAILED: no pass lasted long enough for a checkpoint: choose a larger total_mib\n");
    return 1;
  }
  print("done   commands between arm and stop: data and %llu checkpoints, nothing else\n",
        (unsigned long long)checkpoints);
  return 0;
}
