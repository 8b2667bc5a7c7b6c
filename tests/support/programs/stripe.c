/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An array over image files, for tests that compare it with Linux.
 *
 *   stripe BLOCK_BYTES IMAGE,IMAGE,... COMMAND ...
 *     create CHUNK_BYTES SEED NAME [erase]   superblocks
 *     format SEED                            a GPT with one partition, exFAT in it
 *     info                                   "uuid HEX", "blocks N", "chunk BYTES", and for each member, in the array's
 *                                            order, "member IMAGE DATA_LBA"
 *     record FILE PATH                       FILE as a clip, with the recorder
 *     get PATH FILE | ls PATH
 *
 * The members answer in random order and with delays of their own. Exit status 0, or 1 with the error's name on
 * standard output; 2 is for a wrong call.
 */
#include "file_block.h"

#include <inttypes.h>
#include <spate/partition.h>
#include <spate/port.h>
#include <spate/recorder.h>
#include <spate/stripe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES  (640u * 1024u) /* not a multiple of the usual chunks */
#define PIECES       8u
#define RING_BYTES   (PIECES * PIECE_BYTES)
#define CACHE_BYTES  (32u * 4096u)
#define BITMAP_BYTES (256u * 1024u)
#define PARTS        48u

static struct ram_block drives[SPATE_STRIPE_MEMBERS_MAX];
static struct spate_block *members[SPATE_STRIPE_MEMBERS_MAX];
static char *paths[SPATE_STRIPE_MEMBERS_MAX];
static struct spate_stripe_part parts[PARTS];
static struct spate_stripe stripe;
static struct spate_exfat volume;
static _Alignas(4096) uint8_t scratch[SPATE_PARTITION_SCRATCH_BYTES];
static _Alignas(4096) uint8_t cache[CACHE_BYTES];
static _Alignas(4096) uint8_t bitmap[BITMAP_BYTES];
static _Alignas(4096) uint8_t ring[RING_BYTES];
static _Alignas(4096) uint8_t table[SPATE_REGION_TABLE_BYTES(RING_BYTES)];

static struct spate_stripe_config config = {
    .members = members, .parts = parts, .part_count = PARTS, .scratch = scratch};

__attribute__((noreturn)) static void wrong_call(const char *what) {
  perror(what);
  exit(2);
}

static void open_images(char *list, uint32_t block_bytes) {
  for (char *path = strtok(list, ","); path != NULL; path = strtok(NULL, ",")) {
    const uint8_t i = config.member_count++;
    if (i == SPATE_STRIPE_MEMBERS_MAX || file_block_open(&drives[i], path, block_bytes, true) != 0) wrong_call(path);
    drives[i].order = RAM_RANDOM;
    drives[i].random = i;
    drives[i].delay_polls = i % 3;
    drives[i].block.depth = (uint16_t)(3 + i);
    members[i] = &drives[i].block;
    paths[i] = path;
  }
}

static void fill_random(uint8_t *to, size_t bytes, uint64_t *seed) {
  for (size_t i = 0; i < bytes; i++)
    to[i] = (uint8_t)ram_random(seed);
}

static enum spate_error create(char **words) {
  struct spate_stripe_create options = {.chunk_bytes = (uint32_t)strtoul(words[0], NULL, 0),
                                        .name = words[2],
                                        .created_s = 1700000000,
                                        .erase_foreign = words[3] != NULL && strcmp(words[3], "erase") == 0};
  uint64_t seed = strtoull(words[1], NULL, 0);

  fill_random(options.uuid, sizeof options.uuid, &seed);
  return spate_stripe_create(&config, &options);
}

static struct spate_exfat_block blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];

static struct spate_exfat_config volume_on(const struct spate_partition *partition) {
  return (struct spate_exfat_config){.block = &stripe.block,
                                     .first_lba = partition->first_lba,
                                     .blocks = partition->blocks,
                                     .cache = cache,
                                     .cache_bytes = CACHE_BYTES,
                                     .cache_blocks = blocks,
                                     .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                     .bitmap = bitmap,
                                     .bitmap_bytes = BITMAP_BYTES};
}

static enum spate_error format(uint64_t seed) {
  struct spate_partition_ids ids;
  struct spate_partition partition;

  fill_random(ids.disk, sizeof ids.disk, &seed);
  fill_random(ids.partition, sizeof ids.partition, &seed);
  enum spate_error error = spate_partition_write(&stripe.block, scratch, &ids, 1u << 20, false, &partition);
  if (error != SPATE_OK) return error;
  const struct spate_exfat_config place = volume_on(&partition);
  const struct spate_exfat_format options = {.label = "STRIPE", .serial = (uint32_t)seed, .cluster_bytes = 1u << 20};
  return spate_exfat_format(&place, &options);
}

static enum spate_error mount(void) {
  struct spate_partition partition;

  enum spate_error error = spate_partition_find(&stripe.block, scratch, &partition);
  if (error != SPATE_OK) return error;
  const struct spate_exfat_config place = volume_on(&partition);
  return spate_exfat_mount(&volume, &place, NULL);
}

static void info(void) {
  printf("uuid ");
  for (unsigned i = 0; i < sizeof stripe.uuid; i++)
    printf("%02x", stripe.uuid[i]);
  printf("\nblocks %" PRIu64 "\nchunk %u\n", stripe.block.blocks,
         UINT32_C(1) << (stripe.chunk_shift + stripe.block.block_shift));
  for (uint8_t place = 0; place < stripe.member_count; place++)
    for (uint8_t i = 0; i < stripe.member_count; i++)
      if (stripe.members[place].block == members[i])
        printf("member %s %" PRIu64 "\n", paths[i], stripe.members[place].data_lba);
}

/* The file's bytes go through a ring, as a sensor's data would. */
static enum spate_error stream_file(struct spate_recorder *recorder, struct spate_stream *stream, FILE *file) {
  enum spate_error error = SPATE_OK;
  uint32_t pushed = 0;
  size_t waiting_bytes = 0;

  while (error == SPATE_OK) {
    uint8_t *piece = ring + (size_t)(pushed % PIECES) * PIECE_BYTES;
    if (waiting_bytes == 0 && spate_stream_room(stream) > 0) {
      waiting_bytes = fread(piece, 1, PIECE_BYTES, file);
      if (waiting_bytes == 0) return spate_recorder_finish(recorder);
    }
    if (waiting_bytes > 0) {
      error = spate_stream_push(stream, (uint64_t)(piece - ring), (uint32_t)waiting_bytes);
      if (error == SPATE_OK) {
        pushed++;
        waiting_bytes = 0;
      } else if (error != SPATE_E_FULL) {
        return error;
      }
    }
    error = spate_recorder_work(recorder);
  }
  return error;
}

static enum spate_error record(const char *from, const char *path) {
  static struct spate_recorder recorder;
  static struct spate_stream stream;
  static struct spate_piece pieces[PIECES];
  static struct spate_region region;
  struct spate_arena arena = {.start = table, .bytes = sizeof table};
  const struct spate_recorder_config options = {.checkpoint_ms = 1};
  const struct spate_stream_config stream_options = {
      .region = &region, .pieces = pieces, .piece_count = PIECES, .cpu_filled = true};
  FILE *file = fopen(from, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) wrong_call(from);
  const long bytes = ftell(file);
  if (bytes < 0 || fseek(file, 0, SEEK_SET) != 0) wrong_call(from);

  enum spate_error error = spate_region_init(&region, ring, RING_BYTES, &arena);
  if (error == SPATE_OK) error = spate_recorder_open(&recorder, &volume, &options);
  if (error == SPATE_OK) error = spate_stream_open(&recorder, &stream, &stream_options);
  if (error == SPATE_OK) error = spate_stream_arm(&stream, path, (uint64_t)bytes + PIECE_BYTES);
  if (error == SPATE_OK) error = stream_file(&recorder, &stream, file);
  if (error == SPATE_OK) error = spate_recorder_close(&recorder);
  (void)fclose(file);
  return error;
}

static enum spate_error get(const char *path, const char *to) {
  struct spate_exfat_file from;
  FILE *file = fopen(to, "wb");
  if (file == NULL) wrong_call(to);
  enum spate_error error = spate_exfat_open(&volume, path, &from);
  size_t got = 1;
  for (uint64_t at = 0; error == SPATE_OK && got > 0; at += got) {
    error = spate_exfat_read(&from, at, ring, RING_BYTES, &got);
    if (error == SPATE_OK && fwrite(ring, 1, got, file) != got) wrong_call(to);
  }
  if (fclose(file) != 0) wrong_call(to);
  return error;
}

static enum spate_error list(const char *path) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  bool more = true;

  enum spate_error error = spate_exfat_list(&volume, path, &directory);
  while (error == SPATE_OK) {
    error = spate_exfat_list_next(&directory, &entry, &more);
    if (error != SPATE_OK || !more) break;
    printf("%c %" PRIu64 " %s\n", entry.directory ? 'd' : 'f', entry.bytes, entry.name);
  }
  return error;
}

static enum spate_error use_volume(int count, char **words) {
  enum spate_error error = mount();
  if (error != SPATE_OK) return error;
  if (strcmp(words[0], "ls") == 0 && count > 1)
    error = list(words[1]);
  else if (strcmp(words[0], "record") == 0 && count > 2)
    error = record(words[1], words[2]);
  else if (strcmp(words[0], "get") == 0 && count > 2)
    error = get(words[1], words[2]);
  else
    wrong_call(words[0]);
  return error == SPATE_OK ? spate_exfat_unmount(&volume) : error;
}

static enum spate_error run(int count, char **words) {
  if (strcmp(words[0], "create") == 0 && count >= 4) return create(words + 1);
  enum spate_error error = spate_stripe_open(&stripe, &config);
  if (error != SPATE_OK) return error;
  if (strcmp(words[0], "format") == 0 && count >= 2) return format(strtoull(words[1], NULL, 0));
  if (strcmp(words[0], "info") != 0) return use_volume(count, words);
  info();
  return SPATE_OK;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  open_images(argv[2], (uint32_t)strtoul(argv[1], NULL, 0));
  const enum spate_error error = run(argc - 3, argv + 3);
  if (error != SPATE_OK) puts(spate_error_name(error));
  for (uint8_t i = 0; i < config.member_count; i++)
    ram_block_close(&drives[i]);
  return error == SPATE_OK ? 0 : 1;
}
