/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording from end to end: format a drive, record two clips from a DMA ring, read one back, shut down.
 *
 *   clip_mib=128     size of the first clip in MiB; the second is half as large again, with an odd tail
 *   input=FILE       record this file of the host instead, as NAME (name=NAME)
 *   erase=1, trim=1, table=none: see drive_format()
 *
 * The ring is 32 slots of 1 MiB, or of the drive's largest request if that is smaller. On real hardware logic fills
 * them. Here the processor does, as fast as it can, and waits when the ring is full.
 */
#include "../common/drive.h"
#include "../common/pattern.h"
#include <print.h>
#include <spate/player.h>
#include <spate/port.h>
#include <spate/recorder.h>

#define SLOT_BYTES_MAX (1u << 20)
#define SLOTS          32u
#define QUEUE_DEPTH    32u
#define ODD_TAIL       12345u
#define HEAT_BYTES     16u
#define LINE_BYTES     120u

/* One clip's source: fills the next slot, and returns the number of bytes in it, 0 at the end. */
struct source {
  const char *path; /* on the volume */
  uint64_t bytes;   /* in total */
  uint64_t done_bytes;
  uint32_t clip; /* of the synthetic pattern */
  int file;      /* of the host; −1: synthetic */
};

static struct drive drive;
static struct spate_exfat volume;
static struct spate_recorder recorder;
static struct spate_stream stream;
static struct spate_piece pieces[SLOTS];
static struct spate_player player;
static struct spate_slot slots[SLOTS];
static uint32_t slot_bytes = SLOT_BYTES_MAX;

static uint64_t ms_between(uint64_t from_ticks, uint64_t to_ticks) {
  return (to_ticks - from_ticks) * 1000u / spate_port_ticks_per_second();
}

static uint32_t mib_per_second(uint64_t bytes, uint64_t ms) { return (uint32_t)(bytes * 1000u / ((ms + 1u) << 20)); }

static void fill_from_host(const struct source *source, uint8_t *to, uint32_t bytes) {
  uint32_t have_bytes = 0;

  while (have_bytes < bytes) {
    int64_t got_bytes = board_host_read(source->file, to + have_bytes, bytes - have_bytes);
    if (got_bytes <= 0) {
      print("\nFAILED at reading the input: %u bytes short at offset %llu\n", bytes - have_bytes,
            (unsigned long long)source->done_bytes);
      board_exit(1);
    }
    have_bytes += (uint32_t)got_bytes;
  }
}

/* The sensor: fills the next slot of the ring and pushes it. False: the ring is full. */
static bool produce(struct source *source, uint32_t slot) {
  uint64_t left_bytes = source->bytes - source->done_bytes;
  uint32_t bytes = left_bytes < slot_bytes ? (uint32_t)left_bytes : slot_bytes;
  uint64_t offset_bytes = (uint64_t)(slot % SLOTS) * slot_bytes;
  uint8_t *memory = drive.ring.start + offset_bytes;

  if (spate_stream_room(&stream) == 0) return false;
  if (source->file >= 0)
    fill_from_host(source, memory, bytes);
  else
    pattern_fill((uint64_t *)(void *)memory, source->clip, source->done_bytes, (bytes + 7u) & ~7u);
  must("pushing into the ring", spate_stream_push(&stream, offset_bytes, bytes));
  source->done_bytes += bytes;
  return true;
}

static const char *level_name(enum spate_level level) {
  static const char *const names[] = {[SPATE_LEVEL_CALM] = "calm",
                                      [SPATE_LEVEL_WATCH] = "watch",
                                      [SPATE_LEVEL_SLOW] = "slow down",
                                      [SPATE_LEVEL_CRITICAL] = "critical"};

  return names[level];
}

/* Overwrites the line. The terminal has 80 columns, and the cursor ends up after the last character. */
static void rewrite_line(const char *text, const char *end) { print("\r%-79.79s%s", text, end); }

struct progress {
  uint64_t started_ticks, shown_ticks, health_ticks;
  uint32_t lines;
};

/* Passes the temperature of the last health log on to the recorder, which warns of heat, and requests the next log. */
static void look_after_health(void) {
  const struct spate_nvme_identity *identity = spate_nvme_identity(&drive.controller);
  const struct spate_nvme_health *health = spate_nvme_health(&drive.controller);

  if (health->sequence > 0)
    spate_recorder_temperature(&recorder, health->temperature_c, identity->warning_temperature_c,
                               identity->critical_temperature_c);
  /* BUSY only means that the previous request is not complete. */
  enum spate_error error = spate_nvme_health_start(&drive.controller);
  if (error != SPATE_E_BUSY) must("requesting the drive's temperature", error);
}

static void show_progress(struct progress *progress, bool last) {
  const uint64_t second_ticks = spate_port_ticks_per_second();
  const struct spate_stream_counters *counters = &stream.counters;
  uint64_t now_ticks = spate_port_ticks();

  if (!last && now_ticks - progress->shown_ticks < second_ticks >> 2) return;
  progress->shown_ticks = now_ticks;
  if (now_ticks - progress->health_ticks >= second_ticks) {
    look_after_health();
    progress->health_ticks = now_ticks;
  }
  uint64_t ms = ms_between(progress->started_ticks, now_ticks);
  char line[LINE_BYTES];
  const struct spate_nvme_health *health = spate_nvme_health(&drive.controller);
  char heat[HEAT_BYTES] = "no heat";
  if (health->sequence > 0) print_into(heat, sizeof heat, "%d C", health->temperature_c);
  print_into(line, sizeof line, "record %6llu MiB  %5u MiB/s  ring %2u/%u  in flight %2u  %s  safe %6llu MiB",
             (unsigned long long)(counters->completed_bytes >> 20), mib_per_second(counters->completed_bytes, ms),
             SLOTS - spate_stream_room(&stream), SLOTS, recorder.in_flight, heat,
             (unsigned long long)(counters->durable_bytes >> 20));
  rewrite_line(line, "");
}

/* Overwrites the progress line; the next one follows below. */
static void on_event(void *context, struct spate_stream *from, enum spate_event event, uint64_t value) {
  static const char *const texts[] = {
      [SPATE_EVENT_CLIP_CLOSED] = "closed a clip of",
      [SPATE_EVENT_ROLLED_OVER] = "rolled over after",
      [SPATE_EVENT_VOLUME_ENDS] = "the volume ends in",
      [SPATE_EVENT_FRAGMENTED] = "the next clip has room for only",
      [SPATE_EVENT_LOST] = "LOST",
      [SPATE_EVENT_OVERRUN] = "OVERRUN by",
      [SPATE_EVENT_POWER_UNKNOWN] = "a reset of the drive may have lost",
  };

  (void)context;
  (void)from;
  if (event == SPATE_EVENT_PRESSURE) return; /* this source keeps the ring full on purpose, and waits for room */
  char line[LINE_BYTES];
  if (event == SPATE_EVENT_CLIP_DISCARDED)
    print_into(line, sizeof line, "       deleted a clip that was not used");
  else if (event == SPATE_EVENT_HEAT)
    print_into(line, sizeof line, "       the drive's heat: %s", level_name((enum spate_level)value));
  else if (event == SPATE_EVENT_ERROR)
    print_into(line, sizeof line, "       stream error: %s", spate_error_name((enum spate_error)value));
  else
    print_into(line, sizeof line, "       %s %llu bytes", texts[event], (unsigned long long)value);
  rewrite_line(line, "\n");
}

static void work(struct progress *progress) {
  must("recording", spate_recorder_work(&recorder));
  must("recording", stream.error);
  show_progress(progress, false);
}

/* Records the sources one after the other. The next clip is armed while the current one streams. */
static void record(struct source *sources, unsigned count) {
  /* Ten checkpoints a second, so that an emulated drive's short clips show some; the default is two. */
  struct spate_recorder_config config = {.checkpoint_ms = 100, .event = on_event};
  struct spate_stream_config stream_config = {
      .region = &drive.ring, .pieces = pieces, .piece_count = SLOTS, .cpu_filled = true};
  struct progress progress = {.started_ticks = spate_port_ticks()};
  uint32_t slot = 0;

  must("opening the recorder", spate_recorder_open(&recorder, &volume, &config));
  must("opening the stream", spate_stream_open(&recorder, &stream, &stream_config));
  must("arming the first clip", spate_stream_arm(&stream, sources[0].path, sources[0].bytes));
  for (unsigned i = 0; i < count; i++) {
    bool armed_next = i + 1 == count;
    while (sources[i].done_bytes < sources[i].bytes) {
      if (produce(&sources[i], slot)) slot++;
      work(&progress);
      if (!armed_next && sources[i].done_bytes > sources[i].bytes >> 1) {
        must("arming the next clip", spate_stream_arm(&stream, sources[i + 1].path, sources[i + 1].bytes));
        armed_next = true;
      }
    }
    must("ending a clip", spate_stream_cut(&stream));
  }
  while (spate_stream_active(&stream))
    work(&progress);
  show_progress(&progress, true);
  must("closing the recorder", spate_recorder_close(&recorder));
  print("\nrecord done: %llu data requests, %u checkpoints, %llu flushes, ring never more than %u of %u full\n",
        (unsigned long long)stream.counters.data_requests, stream.counters.checkpoints,
        (unsigned long long)recorder.counters.flushes, stream.counters.pieces_high_water, SLOTS);
}

static uint64_t check_slot(const struct source *source, const uint64_t *memory, uint64_t at_bytes, uint32_t bytes) {
  static uint8_t *expected;

  if (source->file < 0) return pattern_check(memory, source->clip, at_bytes, bytes);
  if (expected == NULL) expected = spate_arena_take(board_memory(), slot_bytes, SPATE_PAGE_BYTES);
  if (expected == NULL) give_up("allocating memory for the comparison", SPATE_E_MEMORY);
  fill_from_host(source, expected, bytes);
  for (uint32_t i = 0; i < bytes; i++)
    if (((const uint8_t *)memory)[i] != expected[i]) return at_bytes + i;
  return UINT64_MAX;
}

static void verify(struct source *source) {
  struct spate_player_config config = {.region = &drive.ring,
                                       .slot_bytes = slot_bytes,
                                       .slots = slots,
                                       .slot_count = SLOTS,
                                       .depth = QUEUE_DEPTH / 2u,
                                       .cpu_consumed = true};
  struct spate_exfat_file file;
  uint64_t offset_bytes = 0;
  uint64_t at_bytes = 0;
  uint32_t bytes = 0;

  must("opening the clip", spate_exfat_open(&volume, source->path, &file));
  must("starting playback", spate_player_open(&player, &file, 0, &config));
  uint64_t started_ticks = spate_port_ticks();
  while (!spate_player_ended(&player)) {
    must("playing back", spate_player_work(&player));
    while (spate_player_take(&player, &offset_bytes, &bytes)) {
      uint64_t bad =
          check_slot(source, (const uint64_t *)(const void *)(drive.ring.start + offset_bytes), at_bytes, bytes);
      if (bad != UINT64_MAX) {
        print("\nFAILED at verifying %s: byte %llu differs\n", source->path, (unsigned long long)bad);
        board_exit(1);
      }
      at_bytes += bytes;
      spate_player_give_back(&player);
    }
  }
  if (at_bytes != source->bytes) {
    print("\nFAILED at verifying %s: %llu bytes instead of %llu\n", source->path, (unsigned long long)at_bytes,
          (unsigned long long)source->bytes);
    board_exit(1);
  }
  print("verify %s: all %llu bytes as recorded, %u MiB/s\n", source->path, (unsigned long long)at_bytes,
        mib_per_second(at_bytes, ms_between(started_ticks, spate_port_ticks())));
}

static unsigned choose_sources(struct source sources[2]) {
  const char *input = board_argument("input", "");
  uint64_t clip_bytes = number_argument("clip_mib", "128") << 20;

  if (input[0] == '\0') {
    sources[0] = (struct source){.path = "CLIPS/CLIP_A.RAW", .bytes = clip_bytes, .clip = 1, .file = -1};
    sources[1] = (struct source){
        .path = "CLIPS/CLIP_B.RAW", .bytes = clip_bytes + clip_bytes / 2u + ODD_TAIL, .clip = 2, .file = -1};
    return 2;
  }
  int file = board_host_open(input);
  int64_t bytes = file < 0 ? -1 : board_host_size(file);
  if (bytes <= 0) {
    print("\nFAILED at opening the input %s: not there, or empty\n", input);
    board_exit(1);
  }
  sources[0] = (struct source){.path = board_argument("name", "INPUT.BIN"), .bytes = (uint64_t)bytes, .file = file};
  return 1;
}

int app_main(void) {
  struct source sources[2];
  struct spate_partition partition;
  struct spate_exfat_info info;
  struct size_text free_text, cluster_text;
  unsigned count = choose_sources(sources);

  drive_open(&drive, QUEUE_DEPTH);
  while (slot_bytes >> drive.queue.block.block_shift > drive.queue.block.request_blocks_max)
    slot_bytes >>= 1;
  drive_format(&drive, "SPATE", &partition);
  struct spate_exfat_config config = drive_volume(&drive, &partition);
  must("mounting", spate_exfat_mount(&volume, &config, NULL));
  must("reading the volume", spate_exfat_info(&volume, &info));
  print("mount  %s free in clusters of %s\n", size_text(&free_text, info.free_bytes),
        size_text(&cluster_text, info.cluster_bytes));
  if (sources[0].file < 0) must("making a directory", spate_exfat_mkdir(&volume, "CLIPS"));

  record(sources, count);
  if (sources[0].file >= 0) { /* the second pass reads the host's file again */
    board_host_close(sources[0].file);
    sources[0].file = board_host_open(board_argument("input", ""));
  }
  verify(&sources[count - 1]);
  must("unmounting", spate_exfat_unmount(&volume));
  drive_print_counters(&drive);
  must("shutting the drive down", spate_nvme_shutdown(&drive.controller));
  print("done   the volume is clean, the drive shut down\n");
  return 0;
}
