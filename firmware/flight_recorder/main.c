/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flight recorder: a sensor is recorded without an end, the drive keeps its last minutes, and a trigger keeps more of
 * them as one file, without a copy. Here the sensor ends after stream_mib, and one trigger comes on the way.
 *
 *   stream_mib=160   what the sensor sends: the loop goes round several times
 *   mib_per_s=64     at most, and no more than the drive takes
 *   part_mib=4       length of a part. Recordings of hours have parts of seconds
 *   keep_mib=32      the loop keeps this much: LOOP/SENSOR_00000001.RAW, …
 *   trigger_mib=64   the trigger comes after so much
 *   before_ms=250    EVENT.RAW begins so long before the trigger, or with the oldest part
 *   after_ms=250     and ends so long after it
 *   erase=1, trim=1, table=none: see drive_format()
 *
 * The stream is one of chunks: `spate verify DRIVE EVENT.RAW` proves that the file has every piece of it.
 */
#include "../common/drive.h"
#include "../common/pattern.h"
#include <print.h>
#include <spate/chunk.h>
#include <spate/loop.h>
#include <spate/port.h>
#include <string.h>

#define PIECE_BYTES (128u << 10)
#define PIECES      64u
#define PARTS       128u /* in the loop and in spans that are not files yet */
#define QUEUE_DEPTH 64u
#define LOOP_FOLDER "LOOP"
#define LOOP_PATH   LOOP_FOLDER "/SENSOR.RAW"
#define KEPT_PATH   "EVENT.RAW"

static struct drive drive;
static struct spate_exfat volume;
static struct spate_recorder recorder;
static struct spate_stream stream;
static struct spate_piece pieces[PIECES];
static struct spate_loop loop;
static struct spate_loop_part parts[PARTS];
static uint8_t identity[16];

static uint64_t sent_pieces, pieces_to_send;
static uint64_t piece_ticks, next_piece_ticks; /* the sensor's clock */
static uint64_t kept_bytes;
static bool loop_is_open; /* while it is opened, there is nothing to push to */

static unsigned long long sent_bytes(void) { return sent_pieces * PIECE_BYTES; }

static uint64_t whole_parts(const char *name, const char *fallback, uint64_t part_bytes) {
  const uint64_t bytes = number_argument(name, fallback) << 20;

  return (bytes + part_bytes - 1u) / part_bytes * part_bytes;
}

/* ---- what the recorder and the loop say ---- */

static void on_event(void *context, struct spate_stream *of, enum spate_event event, uint64_t value) {
  (void)context;
  (void)of;
  if (event == SPATE_EVENT_LOST || event == SPATE_EVENT_POWER_UNKNOWN)
    print("stream LOST %llu bytes\n", (unsigned long long)value);
  if (event == SPATE_EVENT_ERROR) print("stream %s\n", spate_error_name((enum spate_error)value));
}

static void on_loop_event(void *context, struct spate_loop *of, enum spate_loop_event event, const char *path,
                          uint64_t value) {
  const unsigned long long bytes = value;

  (void)context;
  (void)of;
  switch (event) {
  case SPATE_LOOP_KEPT:
    kept_bytes = value;
    print("kept   %s: %llu bytes\n", path, bytes);
    break;
  case SPATE_LOOP_FOLDER: print("kept   folder %s: %s\n", path, spate_error_name((enum spate_error)value)); break;
  case SPATE_LOOP_SHORT: print("loop   SHORT of room: deleted %s, %llu bytes\n", path, bytes); break;
  case SPATE_LOOP_LEFT: print("loop   left %s alone\n", path); break;
  case SPATE_LOOP_NOTHING: print("loop   NOTHING to be kept as %s\n", path); break;
  }
}

/* ---- the sensor ---- */

/* Is the next piece complete, and is there room for it in the ring? */
static bool has_piece(void) {
  if (!loop_is_open || sent_pieces == pieces_to_send) return false;
  if ((int64_t)(spate_port_ticks() - next_piece_ticks) < 0) return false;
  return (uint32_t)sent_pieces - spate_loop_released(&loop) < PIECES;
}

/* Pushes one piece. This sensor waits while the ring is full or the next part is not armed yet: nothing is lost. */
static void produce(void *context) {
  const uint64_t offset_bytes = sent_pieces % PIECES * PIECE_BYTES;
  uint8_t *piece = (uint8_t *)drive.ring.start + offset_bytes;

  (void)context;
  if (!has_piece()) return;
  pattern_fill((uint64_t *)(void *)piece, 1, sent_pieces * PIECE_BYTES, PIECE_BYTES);
  spate_chunk_seal(piece, identity, sent_pieces, PIECE_BYTES);
  enum spate_error error = spate_loop_push(&loop, offset_bytes, PIECE_BYTES);
  if (error == SPATE_E_FULL || error == SPATE_E_RESERVATION) return;
  must("pushing", error);
  sent_pieces++;
  next_piece_ticks += piece_ticks;
}

static void start_sensor(void) {
  const uint64_t rate_bytes = number_argument("mib_per_s", "64") << 20;

  if (rate_bytes == 0) give_up("choosing mib_per_s", SPATE_E_INVALID);
  pieces_to_send = (number_argument("stream_mib", "160") << 20) / PIECE_BYTES;
  piece_ticks = spate_port_ticks_per_second() * PIECE_BYTES / rate_bytes;
  next_piece_ticks = spate_port_ticks();
  loop_is_open = true;
}

/* ---- recording ---- */

static void open_loop(void) {
  const uint64_t cluster_bytes = volume.cluster_mask + UINT64_C(1);
  const uint64_t part_bytes = whole_parts("part_mib", "4", cluster_bytes);
  const struct spate_recorder_config recorder_config = {
      .checkpoint_ms = 100, .event = on_event, .while_waiting = produce};
  struct spate_stream_config stream_config = {
      .region = &drive.ring, .pieces = pieces, .piece_count = PIECES, .cpu_filled = true, .chunk_bytes = PIECE_BYTES};
  const uint32_t block_bytes = spate_block_bytes(&drive.queue.block);
  struct spate_loop_config config = {.stream = &stream,
                                     .path = LOOP_PATH,
                                     .part_bytes = part_bytes,
                                     .parts = parts,
                                     .part_count = PARTS,
                                     .memory = spate_arena_take(board_memory(), block_bytes, SPATE_DMA_ALIGN),
                                     .event = on_loop_event};

  if (config.memory == NULL) give_up("allocating memory for the list of parts", SPATE_E_MEMORY);
  if (part_bytes == 0) give_up("choosing part_mib", SPATE_E_INVALID);
  config.keep_bytes = whole_parts("keep_mib", "32", part_bytes);
  for (unsigned i = 0; i < sizeof(identity); i++)
    identity[i] = (uint8_t)(board_random() >> 17);
  memcpy(stream_config.chunk_stream, identity, sizeof(identity));
  must("making the folder", spate_exfat_mkdir(&volume, LOOP_FOLDER));
  must("opening the recorder", spate_recorder_open(&recorder, &volume, &recorder_config));
  must("opening the stream", spate_stream_open(&recorder, &stream, &stream_config));
  must("opening the loop", spate_loop_open(&loop, &config));
}

static void turn(void) {
  produce(NULL);
  must("recording", spate_recorder_work(&recorder));
  must("going round", spate_loop_work(&loop));
}

static void record(void) {
  const uint64_t trigger_pieces = (number_argument("trigger_mib", "64") << 20) / PIECE_BYTES;
  const uint64_t before_ms = number_argument("before_ms", "250");
  const uint64_t after_ms = number_argument("after_ms", "250");

  while (sent_pieces < pieces_to_send && sent_pieces < trigger_pieces)
    turn();
  print("record trigger after %llu bytes\n", sent_bytes());
  must("triggering", spate_loop_trigger(&loop, KEPT_PATH, before_ms, after_ms, NULL));
  while (sent_pieces < pieces_to_send)
    turn();
  must("finishing", spate_recorder_finish(&recorder));
  must("closing the loop", spate_loop_close(&loop));
  must("closing the recorder", spate_recorder_close(&recorder));
}

/* ---- what is on the volume ---- */

static unsigned count_parts(void) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  unsigned count = 0;
  bool more = true;

  must("listing the parts", spate_exfat_list(&volume, LOOP_FOLDER, &directory));
  while (more) {
    must("listing the parts", spate_exfat_list_next(&directory, &entry, &more));
    if (more && entry.name[0] != '.') count++; /* the list begins with a point */
  }
  return count;
}

int app_main(void) {
  struct spate_partition partition;

  drive_open(&drive, QUEUE_DEPTH);
  drive_format(&drive, "FLIGHT", &partition);
  if (drive.ring.bytes < PIECES * PIECE_BYTES) give_up("choosing the size of the ring", SPATE_E_INVALID);
  const struct spate_exfat_config config = drive_volume(&drive, &partition);
  must("mounting", spate_exfat_mount(&volume, &config, NULL));
  open_loop();
  start_sensor();
  record();
  print("done   sent %llu bytes: %u parts made, %u deleted, %u on the volume, %llu bytes kept\n", sent_bytes(),
        (unsigned)loop.counters.parts, (unsigned)loop.counters.deleted, count_parts(), (unsigned long long)kept_bytes);
  must("unmounting", spate_exfat_unmount(&volume));
  must("shutting the drive down", spate_nvme_shutdown(&drive.controller));
  return kept_bytes > 0 ? 0 : 1;
}
