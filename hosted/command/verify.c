/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a recording what was recorded? A recording of chunks (spate/chunk.h) proves itself: each chunk has its number and
 * a CRC of its data. Of any other recording it can be said only that every block can be read, or that it equals a file.
 * Writes nothing.
 */
#include "../text/json.h"
#include "../text/units.h"
#include "command.h"
#include "reading.h"

#include <errno.h>
#include <inttypes.h>
#include <spate/chunk.h>
#include <stdio.h>
#include <string.h>

enum { AGAINST = 1000 };

static const struct option options[] = {{"against", required_argument, NULL, AGAINST}, OPTIONS_COMMON};

struct check {
  FILE *against; /* NULL: there is none */
  const char *against_name;
  uint64_t first_difference; /* UINT64_MAX: none */
  uint32_t crc;              /* CRC-32C of all */
  uint64_t bytes;
  bool chunks; /* it begins with a chunk's header */
  struct spate_chunk_header header;
  uint64_t left;                 /* bytes of the present chunk that are still to come */
  uint32_t chunk_crc;            /* of its data so far */
  uint64_t good, wrong, strange; /* chunks; strange: no header, or not of this stream, or not the next number */
};

static void compare(struct check *check, const uint8_t *data, uint32_t bytes) {
  uint8_t other[65536];

  for (uint32_t at = 0; at < bytes && check->first_difference == UINT64_MAX;) {
    const size_t wanted = bytes - at < sizeof other ? bytes - at : sizeof other;
    const size_t got = fread(other, 1, wanted, check->against);
    if (got < wanted && ferror(check->against) != 0) fail(EXIT_FAILED, "%s: %s", check->against_name, strerror(errno));
    size_t same = 0;
    while (same < got && other[same] == data[at + same])
      same++;
    if (same < wanted) check->first_difference = check->bytes + at + same;
    at += (uint32_t)wanted;
  }
}

static void end_chunk(struct check *check) {
  if (check->chunk_crc == check->header.data_crc)
    check->good++;
  else
    check->wrong++;
}

/* Returns how many bytes at `data` are a header; 0: none is there, and the rest cannot be told apart. */
static uint32_t begin_chunk(struct check *check, const uint8_t *data, uint32_t bytes) {
  struct spate_chunk_header header;

  if (bytes < SPATE_CHUNK_HEADER_BYTES || !spate_chunk_header_get(data, &header)) return 0;
  if (header.bytes <= SPATE_CHUNK_HEADER_BYTES) return 0;
  if (check->chunks && (memcmp(header.stream, check->header.stream, sizeof header.stream) != 0 ||
                        header.number != check->header.number + 1u))
    check->strange++;
  check->chunks = true;
  check->header = header;
  check->left = header.bytes - SPATE_CHUNK_HEADER_BYTES;
  check->chunk_crc = 0;
  return SPATE_CHUNK_HEADER_BYTES;
}

static void check_chunks(struct check *check, const uint8_t *data, uint32_t bytes) {
  while (bytes > 0) {
    uint32_t now = 0;
    if (check->left > 0) {
      now = check->left < bytes ? (uint32_t)check->left : bytes;
      check->chunk_crc = spate_crc32c(check->chunk_crc, data, now);
      check->left -= now;
      if (check->left == 0) end_chunk(check);
    } else if ((now = begin_chunk(check, data, bytes)) == 0) {
      check->strange++;
      check->left = UINT64_MAX; /* what follows belongs to no chunk */
      return;
    }
    data += now;
    bytes -= now;
  }
}

static void take(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes) {
  struct check *check = context;

  if (check->against != NULL) compare(check, data, bytes);
  check->crc = spate_crc32c(check->crc, data, bytes);
  check->bytes += bytes;
  if (offset_bytes == 0 && begin_chunk(check, data, bytes) > 0) {
    data += SPATE_CHUNK_HEADER_BYTES;
    bytes -= SPATE_CHUNK_HEADER_BYTES;
  }
  if (check->chunks && check->left != UINT64_MAX) check_chunks(check, data, bytes);
}

/* A file that is longer than the recording differs at the recording's end. */
static void end_compare(struct check *check) {
  if (check->against == NULL) return;
  if (check->first_difference == UINT64_MAX && fgetc(check->against) != EOF) check->first_difference = check->bytes;
  (void)fclose(check->against);
}

static bool is_whole(const struct check *check) {
  return check->first_difference == UINT64_MAX && check->wrong == 0 && check->strange == 0 &&
         (!check->chunks || check->left == 0);
}

static void print_text(const struct check *check, const char *path) {
  char text[UNITS_TEXT_BYTES];

  (void)printf("%s: %" PRIu64 " bytes (%s), CRC-32C %08" PRIx32 "\n", path, check->bytes,
               units_text(check->bytes, text), check->crc);
  if (check->chunks)
    (void)printf("%s: %" PRIu64 " chunks are as recorded, %" PRIu64 " are not, %" PRIu64
                 " do not follow the one before%s\n",
                 path, check->good, check->wrong, check->strange, check->left > 0 ? "; the last one is cut off" : "");
  else if (check->against == NULL)
    (void)printf(
        "%s: every block can be read. It is not made of chunks, so nothing in it proves its contents; --against "
        "FILE compares it\n",
        path);
  if (check->against == NULL) return;
  if (check->first_difference == UINT64_MAX)
    (void)printf("%s: equals %s\n", path, check->against_name);
  else
    (void)printf("%s: differs from %s at byte %" PRIu64 "\n", path, check->against_name, check->first_difference);
}

static void print_json(const struct check *check, const char *path) {
  struct json json = {.to = stdout};

  json_open(&json, NULL, '{');
  json_string(&json, "path", path);
  json_integer(&json, "bytes", check->bytes);
  json_integer(&json, "crc32c", check->crc);
  json_bool(&json, "whole", is_whole(check));
  if (check->chunks) {
    json_integer(&json, "chunks_good", check->good);
    json_integer(&json, "chunks_wrong", check->wrong);
    json_integer(&json, "chunks_strange", check->strange);
  }
  if (check->first_difference != UINT64_MAX) json_integer(&json, "first_difference", check->first_difference);
  json_close(&json, '}');
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct check check = {.first_difference = UINT64_MAX};
  uint64_t size_bytes;

  while (command_option(&command_verify, count, words, options) == AGAINST)
    check.against_name = optarg;
  words = command_words(&command_verify, count, words, 2, "verify takes a TARGET and a path on it");
  if (check.against_name != NULL && (check.against = fopen(check.against_name, "rbe")) == NULL)
    fail(EXIT_FAILED, "%s: %s", check.against_name, strerror(errno));
  volume_open(&volume, words[0], TARGET_READ);
  reading_file(&volume, words[1], take, &check, &size_bytes);
  end_compare(&check);
  volume_close(&volume);
  if (command_json)
    print_json(&check, words[1]);
  else
    print_text(&check, words[1]);
  return is_whole(&check) ? EXIT_DONE : EXIT_LOST;
}

const struct command command_verify = {"verify", "prove that a recording is what was recorded",
                                       "Usage: spate verify TARGET PATH [options]\n"
                                       "\n"
                                       "Reads a recording from the drive. If it is made of chunks, each must have its "
                                       "number and the\n"
                                       "right CRC. Writes nothing. Exit status 4 if something is missing or wrong.\n"
                                       "\n"
                                       "  --against FILE         compare the recording with FILE\n" HELP_COMMON,
                                       run};
