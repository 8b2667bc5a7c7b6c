/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_images FOLDER writes images of volumes that a recorder had open when it stopped. Each image is a text file,
 * FOLDER/GEOMETRY-MOMENT.txt, in the format of README.md. The files, lengths and contents that an image promises are
 * those that this program recorded, not those that a mount found.
 */
#include "recorder_fixture.h"

#include "exfat_image.h"

#include <inttypes.h>

#define ROW_BYTES    32u /* in one line of an image; a directory entry has the same size */
#define RESERVED     (1u * MIB)
#define PROMISES_MAX 50u

static const uint8_t chunk_stream[16] = "images, stream B";

/* `small`: formatted as other systems do, without the file of the reservation record. */
static const struct geometry {
  const char *name;
  uint32_t block_bytes, cluster_bytes;
  uint32_t volume_mib;
  bool small;
} geometries[] = {
    {"512-1m", 512, 1u << 20, 40, false},
    {"4096-1m", 4096, 1u << 20, 40, false},
    {"512-2k", 512, 2048, 24, true},
    {"4096-4k", 4096, 4096, 24, true},
};

struct promise {
  char path[64];
  uint64_t bytes;
  char letter;     /* in each row of the contents; 0: a directory */
  uint32_t number; /* of the first piece */
};

struct volume {
  const struct geometry *geometry;
  struct fixture *fixture;
  struct promise promises[PROMISES_MAX];
  uint32_t promise_count;
  uint32_t reservations; /* slots in use when the recorder stopped */
  uint64_t salvaged_bytes;
  bool dirty_before;
};

static uint64_t reserved_bytes(const struct volume *volume) {
  return volume->geometry->small ? RESERVED : 2 * RESERVED;
}

static void promise(struct volume *volume, const char *path, uint64_t bytes, char letter, uint32_t number) {
  struct promise *made = &volume->promises[volume->promise_count++];

  *made = (struct promise){.bytes = bytes, .letter = letter, .number = number};
  (void)snprintf(made->path, sizeof made->path, "%s", path);
}

/* ---- what is recorded ---- */

/* Each row of a piece names its stream and its number. */
static void fill(uint8_t *to, char letter, uint32_t number) {
  char row[ROW_BYTES + 1];

  (void)snprintf(row, sizeof row, "stream %c, piece number %8u", letter, number);
  for (uint32_t at = 0; at < PIECE; at += ROW_BYTES)
    memcpy(to + at, row, ROW_BYTES);
}

static void push_pieces(struct volume *volume, unsigned stream, uint32_t pieces) {
  struct source *source = &volume->fixture->sources[stream];

  while (pieces > 0) {
    uint8_t *slot = source->ring + (uint64_t)(source->slot % PIECES) * PIECE;
    if (spate_stream_room(&source->stream) > 0) {
      fill(slot, (char)('A' + stream), source->slot);
      if (source->sealed) spate_chunk_seal(slot, chunk_stream, source->slot, PIECE);
      if (spate_stream_push(&source->stream, (uint64_t)(source->slot % PIECES) * PIECE, PIECE) == SPATE_OK) {
        source->slot++;
        pieces--;
      }
    }
    work(volume->fixture);
  }
  drain(volume->fixture, source);
}

/* The checkpoint period passes. The recorder flushes the drive and publishes the lengths. */
static void checkpoint(struct volume *volume) {
  clock_ns += 600000000;
  for (unsigned i = 0; i < 200; i++)
    work(volume->fixture);
}

static void arm(struct volume *volume, unsigned stream, const char *path) {
  OK(spate_stream_arm(&volume->fixture->sources[stream].stream, path, reserved_bytes(volume)));
}

/* ---- a volume and its streams: A records any data, B records chunks ---- */

static void open_streams(struct fixture *fixture, uint64_t next_bytes) {
  for (unsigned i = 0; i < 2; i++) {
    struct source *source = &fixture->sources[i];
    uint8_t *table = aligned_alloc(4096, SPATE_REGION_TABLE_BYTES(RING_BYTES));
    struct spate_arena arena = {.start = table, .bytes = SPATE_REGION_TABLE_BYTES(RING_BYTES)};
    source->ring = aligned_alloc(4096, RING_BYTES);
    source->sealed = i == 1;
    OK(spate_region_init(&source->region, source->ring, RING_BYTES, &arena));
    struct spate_stream_config config = {.region = &source->region,
                                         .pieces = source->pieces,
                                         .piece_count = PIECES,
                                         .cpu_filled = true,
                                         .chunk_bytes = source->sealed ? PIECE : 0};
    memcpy(config.chunk_stream, chunk_stream, sizeof chunk_stream);
    OK(spate_stream_open(&fixture->recorder, &source->stream, &config));
    spate_stream_roll_over(&source->stream, next_bytes, NULL);
  }
}

static void format_volume(struct volume *volume, const struct geometry *geometry) {
  uint64_t bytes = geometry->volume_mib * MIB;
  struct fixture *fixture = calloc(1, sizeof *fixture);
  struct spate_exfat_format format = {.serial = 1, .cluster_bytes = geometry->cluster_bytes};

  if (fixture == NULL) abort();
  *volume = (struct volume){.geometry = geometry, .fixture = fixture};
  fixture->cut_power_at = -1;
  ram_block_open(&fixture->ram, bytes / geometry->block_bytes, geometry->block_bytes);
  fixture->ram.trim_fill = -1;
  fixture->config = (struct spate_exfat_config){.block = &fixture->ram.block,
                                                .blocks = fixture->ram.block.blocks,
                                                .cache = aligned_alloc(4096, CACHE_BYTES),
                                                .cache_bytes = CACHE_BYTES,
                                                .cache_blocks = fixture->blocks,
                                                .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                                .bitmap = aligned_alloc(4096, BITMAP_BYTES),
                                                .bitmap_bytes = BITMAP_BYTES};
  if (geometry->small)
    small_format(fixture->ram.memory, bytes, fixture->ram.block.block_shift,
                 (uint32_t)__builtin_ctz(geometry->cluster_bytes));
  else
    OK(spate_exfat_format(&fixture->config, &format));
}

static void open_volume(struct volume *volume, uint64_t next_bytes, bool dirty_before) {
  struct fixture *fixture = volume->fixture;
  struct spate_recorder_config recorder = {.event = on_event, .while_waiting = while_waiting, .context = fixture};

  volume->dirty_before = dirty_before;
  if (dirty_before) fixture->ram.memory[106] |= 2; /* VolumeDirty */
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &recorder));
  open_streams(fixture, next_bytes);
  OK(spate_exfat_mkdir(&fixture->volume, "DIR"));
  promise(volume, "DIR", 0, 0, 0);
}

/* A file of four pieces, which exists before the streams begin. */
static void put_old_file(struct volume *volume, const char *path) {
  struct fixture *fixture = volume->fixture;
  struct spate_exfat_clip clip;

  OK(spate_exfat_arm(&fixture->volume, &clip, path, 4 * PIECE));
  for (uint32_t i = 0; i < 4; i++)
    fill(fixture->ram.memory + (clip.first_lba << fixture->ram.block.block_shift) + (uint64_t)i * PIECE, 'O', i);
  OK(spate_exfat_close(&clip, 4 * PIECE));
}

/* The host stops during a change: only the first `writes` of its writes reach the media. */
static void stop_after(struct volume *volume, uint32_t writes) {
  ram_block_fault(&volume->fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_ZERO),
                                                            .last_lba = UINT64_MAX,
                                                            .skip = writes,
                                                            .times = RAM_ALWAYS,
                                                            .error = SPATE_E_MEDIA});
}

/* ---- the moments ---- */

/* 5 pieces of each clip are published, and 3 more are on the media. */
static void streaming(struct volume *volume) {
  arm(volume, 0, "A.RAW");
  arm(volume, 1, "DIR/B.RAW");
  for (unsigned i = 0; i < 2; i++)
    push_pieces(volume, i, 5);
  checkpoint(volume);
  for (unsigned i = 0; i < 2; i++)
    push_pieces(volume, i, 3);
  promise(volume, "A.RAW", 5 * PIECE, 'A', 0);
  promise(volume, "DIR/B.RAW", 8 * PIECE, 'B', 0);
  volume->salvaged_bytes = 3 * PIECE;
  volume->reservations = 2;
}

/* B's empty clip begins where a deleted clip of B began. The chunks of the deleted clip are still there. Their numbers
 * show that they do not belong to the empty clip. */
static void armed(struct volume *volume) {
  struct spate_stream *b = &volume->fixture->sources[1].stream;

  arm(volume, 1, "DIR/B.RAW");
  push_pieces(volume, 1, 3);
  OK(spate_stream_stop(b));
  close_clips(volume->fixture, &volume->fixture->sources[1]);
  OK(spate_exfat_delete(&volume->fixture->volume, "DIR/B.RAW"));
  arm(volume, 1, "DIR/B2.RAW");
  arm(volume, 0, "A.RAW");
  promise(volume, "A.RAW", 0, 'A', 0);
  promise(volume, "DIR/B2.RAW", 0, 'B', 0);
  volume->reservations = 2;
}

static void rolled_over(struct volume *volume) {
  uint32_t pieces = (uint32_t)(reserved_bytes(volume) / PIECE);

  arm(volume, 0, "A.RAW");
  arm(volume, 1, "DIR/B.RAW");
  for (unsigned i = 0; i < 2; i++) {
    push_pieces(volume, i, pieces);
    push_pieces(volume, i, 5);
    for (unsigned turn = 0; turn < 200; turn++)
      work(volume->fixture); /* the first clip is closed */
  }
  checkpoint(volume);
  promise(volume, "A.RAW", pieces * PIECE, 'A', 0);
  promise(volume, "DIR/B.RAW", pieces * PIECE, 'B', 0);
  promise(volume, "A_0002.RAW", 5 * PIECE, 'A', pieces);
  promise(volume, "DIR/B_0002.RAW", 5 * PIECE, 'B', pieces);
  volume->reservations = 2;
}

/* The entry set is erased, and its clusters are still allocated. */
static void deleting(struct volume *volume) {
  put_old_file(volume, "OLD.RAW");
  streaming(volume);
  stop_after(volume, 2);
  GIVES(SPATE_E_MEDIA, spate_exfat_delete(&volume->fixture->volume, "OLD.RAW"));
  volume->reservations++;
}

/* The journal of the deletion is written, and nothing is deleted. */
static void not_deleted(struct volume *volume) {
  put_old_file(volume, "OLD.RAW");
  streaming(volume);
  stop_after(volume, 1);
  GIVES(SPATE_E_MEDIA, spate_exfat_delete(&volume->fixture->volume, "OLD.RAW"));
  promise(volume, "OLD.RAW", 4 * PIECE, 'O', 0);
  volume->reservations++;
}

/* The file has both names. */
static void renaming(struct volume *volume) {
  put_old_file(volume, "OLD.RAW");
  streaming(volume);
  stop_after(volume, 2);
  GIVES(SPATE_E_MEDIA, spate_exfat_rename(&volume->fixture->volume, "OLD.RAW", "DIR/NEW.RAW"));
  promise(volume, "DIR/NEW.RAW", 4 * PIECE, 'O', 0);
  volume->reservations++;
}

/* A directory was full, and a cluster was linked to its chain. Its length does not include this cluster yet. */
static void growing(struct volume *volume) {
  struct spate_exfat *exfat = &volume->fixture->volume;
  /* An entry set has three entries here, and all of them lie in one block. */
  uint32_t block_files = volume->geometry->block_bytes / ROW_BYTES / 3u;
  uint32_t files = volume->geometry->cluster_bytes / volume->geometry->block_bytes * block_files;
  uint64_t root_lba = exfat->heap_lba + ((uint64_t)(exfat->root.first_cluster - 2) << exfat->cluster_blocks_shift);

  for (uint32_t i = 0; i < files; i++) {
    char path[16];
    (void)snprintf(path, sizeof path, "DIR/%u", i);
    put_old_file(volume, path);
    promise(volume, path, 4 * PIECE, 'O', 0);
  }
  arm(volume, 0, "A.RAW");
  promise(volume, "A.RAW", 0, 'A', 0);
  ram_block_fault(&volume->fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                            .first_lba = root_lba,
                                                            .last_lba = root_lba,
                                                            .times = RAM_ALWAYS,
                                                            .error = SPATE_E_MEDIA});
  GIVES(SPATE_E_MEDIA, spate_exfat_mkdir(exfat, "DIR/ONE MORE"));
  volume->reservations = 2;
}

/* Every slot is in use: sixteen by clips, and one by a rename. */
static void full(struct volume *volume) {
  static struct spate_exfat_clip clips[SPATE_EXFAT_CLIPS_MAX];

  put_old_file(volume, "OLD.RAW");
  streaming(volume);
  for (uint32_t i = 2; i < SPATE_EXFAT_CLIPS_MAX; i++) {
    char path[16];
    (void)snprintf(path, sizeof path, "C%02u.RAW", i);
    OK(spate_exfat_arm(&volume->fixture->volume, &clips[i], path, 4 * PIECE));
    promise(volume, path, 0, 'C', 0);
  }
  stop_after(volume, 2);
  GIVES(SPATE_E_MEDIA, spate_exfat_rename(&volume->fixture->volume, "OLD.RAW", "DIR/NEW.RAW"));
  promise(volume, "DIR/NEW.RAW", 4 * PIECE, 'O', 0);
  volume->reservations = SPATE_EXFAT_CLIPS_MAX + 1;
}

static const struct moment {
  const char *name;
  void (*reach)(struct volume *volume);
  bool rolls_over, dirty_before, small_only;
} moments[] = {
    {.name = "armed", .reach = armed},
    {.name = "streaming", .reach = streaming},
    {.name = "rolled-over", .reach = rolled_over, .rolls_over = true},
    {.name = "deleting", .reach = deleting},
    {.name = "not-deleted", .reach = not_deleted},
    {.name = "renaming", .reach = renaming},
    {.name = "growing", .reach = growing, .small_only = true},
    {.name = "full", .reach = full},
    {.name = "dirty-before", .reach = streaming, .dirty_before = true},
};

/* ---- the text ---- */

/* Writes the rows in which `memory` differs from `base` (NULL: from zeros). */
static void write_rows(FILE *to, const uint8_t *memory, const uint8_t *base, uint64_t bytes) {
  static const uint8_t zeros[ROW_BYTES];
  uint64_t count;

  for (uint64_t at = 0; at < bytes; at += count * ROW_BYTES) {
    count = 1;
    if (memcmp(memory + at, base == NULL ? zeros : base + at, ROW_BYTES) == 0) continue;
    while (at + count * ROW_BYTES < bytes && memcmp(memory + at, memory + at + count * ROW_BYTES, ROW_BYTES) == 0)
      count++;
    (void)fprintf(to, "row %" PRIx64 " %" PRIu64 " ", at, count);
    for (uint32_t i = 0; i < ROW_BYTES; i++)
      (void)fprintf(to, "%02x", memory[at + i]);
    (void)fputc('\n', to);
  }
}

static FILE *create(const char *folder, const struct geometry *geometry, const char *moment) {
  char path[512];

  (void)snprintf(path, sizeof path, "%s/%s-%s.txt", folder, geometry->name, moment);
  (void)puts(path);
  FILE *to = fopen(path, "w");
  if (to == NULL) abort();
  return to;
}

static void write_image(const struct volume *volume, const uint8_t *formatted, FILE *to) {
  (void)fprintf(to, "over %s-formatted\n", volume->geometry->name);
  (void)fprintf(to, "found %u %" PRIu64 " %u %d\n", volume->reservations, volume->salvaged_bytes,
                volume->fixture->volume.record_number, volume->dirty_before);
  for (uint32_t i = 0; i < volume->promise_count; i++) {
    const struct promise *made = &volume->promises[i];
    if (made->letter == 0)
      (void)fprintf(to, "directory %s\n", made->path);
    else
      (void)fprintf(to, "file %" PRIu64 " %c %u %s\n", made->bytes, made->letter, made->number, made->path);
  }
  write_rows(to, volume->fixture->ram.memory, formatted, volume->fixture->ram.bytes);
  if (fclose(to) != 0) abort();
}

/* Writes the volume before anything is recorded, which its other images begin with. Returns a copy of its contents. */
static uint8_t *write_formatted(const struct volume *volume, FILE *to) {
  const struct ram_block *ram = &volume->fixture->ram;
  uint8_t *formatted = malloc(ram->bytes);

  if (formatted == NULL) abort();
  memcpy(formatted, ram->memory, ram->bytes);
  (void)fprintf(to, "volume %u %" PRIu64 "\n", volume->geometry->block_bytes, ram->bytes);
  write_rows(to, formatted, NULL, ram->bytes);
  if (fclose(to) != 0) abort();
  return formatted;
}

/* The volumes stay open, as if the host had lost power. Their memory is not freed, because the program ends soon. */
static void make(const struct geometry *geometry, const char *folder) {
  static struct volume volume;

  format_volume(&volume, geometry);
  uint8_t *formatted = write_formatted(&volume, create(folder, geometry, "formatted"));
  for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
    const struct moment *moment = &moments[i];
    if (moment->small_only && !geometry->small) continue;
    clock_ns = 0;
    format_volume(&volume, geometry);
    open_volume(&volume, moment->rolls_over ? RESERVED : 0, moment->dirty_before);
    moment->reach(&volume);
    write_image(&volume, formatted, create(folder, geometry, moment->name));
  }
  free(formatted);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    (void)fputs("usage: make_images FOLDER\n", stderr);
    return 2;
  }
  for (size_t i = 0; i < sizeof geometries / sizeof geometries[0]; i++)
    make(&geometries[i], argv[1]);
  return 0;
}
