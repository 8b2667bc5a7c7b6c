/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many sensors, one drive: eight streams at once, each into its own files, which roll over while they stream.
 *
 *   streams=8        1 … 8
 *   stream_mib=24    what each sensor sends
 *   file_mib=10      reservation of each file: STREAM_1.RAW, STREAM_1_0002.RAW, …
 *   report_ms=1000   prints a line for `spate monitor` of each stream so often; 0, the default: never
 *   erase=1, trim=1, table=none: see drive_format()
 *
 * If streams × stream_mib is larger than the drive, the end of the volume is announced, and data that does not fit is
 * reported as an overrun: exit status 2.
 */
#include "../common/drive.h"
#include "../common/pattern.h"
#include <print.h>
#include <spate/port.h>
#include <spate/recorder.h>

#define PIECE_BYTES (128u << 10)
#define PIECES      16u /* per stream */
#define QUEUE_DEPTH 64u

struct sensor {
  struct spate_stream stream;
  struct spate_piece pieces[PIECES];
  uint64_t ring_offset_bytes;
  uint64_t left_bytes, sent_bytes;
  uint32_t number; /* from 1 */
  uint32_t slot;
};

static struct drive drive;
static struct spate_exfat volume;
static struct spate_recorder recorder;
static struct sensor sensors[SPATE_STREAMS_MAX];
static uint32_t sensor_count;
static uint64_t overrun_bytes;

static struct sensor *sensor_of(const struct spate_stream *stream) {
  for (uint32_t i = 0; i < sensor_count; i++)
    if (&sensors[i].stream == stream) return &sensors[i];
  board_exit(1);
}

static void on_event(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  uint32_t number = sensor_of(stream)->number;
  unsigned long long bytes = value;

  (void)context;
  switch (event) {
  case SPATE_EVENT_CLIP_CLOSED: print("stream %u: closed a file of %llu bytes\n", number, bytes); break;
  case SPATE_EVENT_CLIP_DISCARDED: print("stream %u: deleted a file that was not used\n", number); break;
  case SPATE_EVENT_ROLLED_OVER:
  case SPATE_EVENT_PRESSURE: /* these sensors wait for room: their rings fill up intentionally */
  case SPATE_EVENT_HEAT: break;
  case SPATE_EVENT_VOLUME_ENDS: print("stream %u: the volume ends in %llu bytes\n", number, bytes); break;
  case SPATE_EVENT_FRAGMENTED: print("stream %u: the next file has room for %llu bytes\n", number, bytes); break;
  case SPATE_EVENT_OVERRUN:
    print("stream %u: OVERRUN by %llu bytes\n", number, bytes);
    overrun_bytes += value;
    break;
  case SPATE_EVENT_POWER_UNKNOWN: print("stream %u: %llu bytes may be lost\n", number, bytes); break;
  case SPATE_EVENT_LOST: print("stream %u: LOST %llu bytes\n", number, bytes); break;
  case SPATE_EVENT_ERROR: print("stream %u: %s\n", number, spate_error_name((enum spate_error)value)); break;
  }
}

static void open_sensor(struct sensor *sensor, uint32_t index, uint64_t stream_bytes, uint64_t file_bytes) {
  char path[] = "STREAM_0.RAW";
  struct spate_stream_config config = {.region = &drive.ring,
                                       .pieces = sensor->pieces,
                                       .piece_count = PIECES,
                                       .cpu_filled = true,
                                       .retain = index % 2u == 1u};

  sensor->number = index + 1u;
  sensor->ring_offset_bytes = (uint64_t)index * PIECES * PIECE_BYTES;
  sensor->left_bytes = stream_bytes;
  path[7] = (char)('0' + sensor->number);
  must("opening a stream", spate_stream_open(&recorder, &sensor->stream, &config));
  must("arming", spate_stream_arm(&sensor->stream, path, file_bytes));
  spate_stream_roll_over(&sensor->stream, file_bytes, NULL);
}

/* Pushes one piece, if there is room. When the volume is full, the sensor drops the rest. */
static void produce(struct sensor *sensor) {
  uint64_t offset_bytes = sensor->ring_offset_bytes + (uint64_t)(sensor->slot % PIECES) * PIECE_BYTES;

  if (sensor->left_bytes == 0 || spate_stream_room(&sensor->stream) == 0) return;
  pattern_fill((uint64_t *)(void *)(drive.ring.start + offset_bytes), sensor->number, sensor->sent_bytes, PIECE_BYTES);
  enum spate_error error = spate_stream_push(&sensor->stream, offset_bytes, PIECE_BYTES);
  const bool ended = error == SPATE_E_NO_SPACE || error == SPATE_E_RESERVATION || error == SPATE_E_NAMES;
  if (ended) {
    spate_stream_overrun(&sensor->stream, sensor->left_bytes);
    sensor->left_bytes = 0;
  }
  if (error == SPATE_E_FULL || ended) return;
  must("pushing", error);
  sensor->slot++;
  sensor->sent_bytes += PIECE_BYTES;
  sensor->left_bytes -= PIECE_BYTES;
}

/* Sensors continue while the library waits for metadata. */
static void produce_all(void *context) {
  (void)context;
  for (uint32_t i = 0; i < sensor_count; i++)
    produce(&sensors[i]);
}

/* What firmware does that is watched: spate monitor reads these lines from the UART. */
static void report(uint64_t period_ticks) {
  static uint64_t reported_ticks;
  char line[SPATE_REPORT_BYTES_MAX];
  const uint64_t now_ticks = spate_port_ticks();

  if (period_ticks == 0 || now_ticks - reported_ticks < period_ticks) return;
  reported_ticks = now_ticks;
  for (uint32_t i = 0; i < sensor_count; i++)
    if (spate_stream_report(&sensors[i].stream, line, sizeof line) > 0) print("%s", line);
}

static bool all_sent(void) {
  for (uint32_t i = 0; i < sensor_count; i++)
    if (sensors[i].left_bytes > 0) return false;
  return true;
}

static void print_totals(void) {
  uint64_t requests = 0;
  uint64_t checkpoints = 0;

  for (uint32_t i = 0; i < sensor_count; i++) {
    requests += sensors[i].stream.counters.data_requests;
    checkpoints += sensors[i].stream.counters.checkpoints;
    print("stream %u: sent %llu bytes, durable %llu\n", sensors[i].number, (unsigned long long)sensors[i].sent_bytes,
          (unsigned long long)sensors[i].stream.counters.durable_bytes);
  }
  print("total: %llu data requests, %llu checkpoints, %llu flushes\n", (unsigned long long)requests,
        (unsigned long long)checkpoints, (unsigned long long)recorder.counters.flushes);
}

int app_main(void) {
  struct spate_partition partition;
  struct spate_recorder_config config = {.checkpoint_ms = 100, .event = on_event, .while_waiting = produce_all};
  uint64_t count = number_argument("streams", "8");
  uint64_t stream_bytes = number_argument("stream_mib", "24") << 20;
  uint64_t file_bytes = number_argument("file_mib", "10") << 20;
  uint64_t report_ms = number_argument("report_ms", "0");

  if (count == 0 || count > SPATE_STREAMS_MAX || stream_bytes == 0 || file_bytes == 0)
    give_up("choosing streams, stream_mib and file_mib", SPATE_E_INVALID);
  drive_open(&drive, QUEUE_DEPTH);
  drive_format(&drive, "STREAMS", &partition);
  struct spate_exfat_config volume_config = drive_volume(&drive, &partition);
  must("mounting", spate_exfat_mount(&volume, &volume_config, NULL));
  must("opening the recorder", spate_recorder_open(&recorder, &volume, &config));
  /* A sensor streams as soon as it is armed, while others are still being armed. */
  while (sensor_count < count) {
    open_sensor(&sensors[sensor_count], sensor_count, stream_bytes, file_bytes);
    sensor_count++;
  }
  while (!all_sent()) {
    produce_all(NULL);
    must("recording", spate_recorder_work(&recorder));
    report(spate_port_ticks_per_second() * report_ms / 1000u);
  }
  must("finishing", spate_recorder_finish(&recorder));
  report(report_ms > 0 ? 1 : 0);
  must("closing the recorder", spate_recorder_close(&recorder));
  print_totals();
  must("unmounting", spate_exfat_unmount(&volume));
  must("shutting the drive down", spate_nvme_shutdown(&drive.controller));
  return overrun_bytes > 0 ? 2 : 0;
}
