/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies a recording. In a recording of chunks (spate/chunk.h) each chunk has a number and a CRC of its data, and
 * both are checked. Any other recording can only be read to its end, or compared with a file. Writes nothing.
 */
#include "../text/json.h"
#include "../text/units.h"
#include "chunk_check.h"
#include "command.h"
#include "reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { AGAINST = 1000, PARTS };

static const struct option options[] = {
    {"against", required_argument, NULL, AGAINST}, {"parts", no_argument, NULL, PARTS}, OPTIONS_COMMON};

struct check {
  FILE *against; /* NULL: --against was not given */
  const char *against_name;
  uint64_t first_difference; /* UINT64_MAX: none */
  uint32_t crc;              /* CRC-32C of all */
  uint64_t bytes;
  struct chunk_check chunks;
};

static void compare(struct check *check, uint64_t offset_bytes, const uint8_t *data, uint32_t bytes) {
  uint8_t other[65536];

  for (uint32_t at = 0; at < bytes && check->first_difference == UINT64_MAX;) {
    const size_t wanted = bytes - at < sizeof other ? bytes - at : sizeof other;
    const size_t got = fread(other, 1, wanted, check->against);
    if (got < wanted && ferror(check->against) != 0) fail(EXIT_FAILED, "%s: %s", check->against_name, strerror(errno));
    size_t same = 0;
    while (same < got && other[same] == data[at + same])
      same++;
    if (same < wanted) check->first_difference = offset_bytes + at + same;
    at += (uint32_t)wanted;
  }
}

static void take(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes) {
  struct check *check = context;

  if (check->against != NULL) compare(check, offset_bytes, data, bytes);
  check->crc = spate_crc32c(check->crc, data, bytes);
  check->bytes += bytes;
  chunk_check_feed(&check->chunks, data, bytes);
}

/* Space that was reserved and never written is compared as zeros, which spate extract writes for it. */
static void compare_rest(struct check *check, uint64_t bytes) {
  static const uint8_t zeros[65536];

  if (check->against == NULL) return;
  for (uint64_t at = 0; at < bytes && check->first_difference == UINT64_MAX; at += sizeof zeros)
    compare(check, check->bytes + at, zeros, bytes - at < sizeof zeros ? (uint32_t)(bytes - at) : sizeof zeros);
}

/* A file that is longer than the recording differs at the recording's end. */
static void end_compare(struct check *check, uint64_t size_bytes) {
  if (check->against == NULL) return;
  if (check->first_difference == UINT64_MAX && fgetc(check->against) != EOF) check->first_difference = size_bytes;
}

static bool is_whole(const struct check *check) {
  return check->first_difference == UINT64_MAX && chunk_check_is_whole(&check->chunks);
}

/* Prints a line for each kind of loss that was found. */
static void print_chunks(const struct chunk_check *chunks, const char *path) {
  const struct {
    uint64_t count;
    const char *what;
  } losses[] = {
      {chunks->wrong, "chunks have damaged data: their CRC is wrong"},
      {chunks->damaged_headers, "chunks have a damaged header, so their data cannot be checked"},
      {chunks->missing, "sequence numbers are missing: these chunks are not in the file"},
      {chunks->lost, "pieces were lost before they were recorded, by the source's own count"},
      {chunks->strange, "chunks are out of order, or of another recording"},
      {chunks->cut ? 1 : 0, "chunk is cut off at the end of the file"},
  };

  (void)printf("%s: %" PRIu64 " chunk%s intact\n", path, chunks->good, chunks->good == 1 ? "" : "s");
  for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
    if (losses[i].count > 0) (void)printf("%s: %" PRIu64 " %s\n", path, losses[i].count, losses[i].what);
}

static void print_text(const struct check *check, const char *path) {
  char text[UNITS_TEXT_BYTES];

  (void)printf("%s: %" PRIu64 " bytes (%s), CRC-32C %08" PRIx32 "\n", path, check->bytes,
               units_text(check->bytes, text), check->crc);
  if (check->chunks.found)
    print_chunks(&check->chunks, path);
  else if (check->against == NULL)
    (void)printf(
        "%s: every block can be read. It is not made of chunks, so its contents cannot be checked; --against FILE "
        "compares it\n",
        path);
  if (check->against == NULL) return;
  if (check->first_difference == UINT64_MAX)
    (void)printf("%s: matches %s\n", path, check->against_name);
  else
    (void)printf("%s: differs from %s at byte %" PRIu64 "\n", path, check->against_name, check->first_difference);
}

static void write_json(struct json *json, const struct check *check, const char *path, enum spate_error error) {
  char crc[9];

  (void)snprintf(crc, sizeof crc, "%08" PRIx32, check->crc);
  json_open(json, NULL, '{');
  json_string(json, "path", path);
  json_string(json, "error", spate_error_name(error));
  json_integer(json, "bytes", check->bytes);
  json_string(json, "crc32c", crc);
  json_bool(json, "whole", error == SPATE_OK && is_whole(check));
  if (check->chunks.found) {
    json_integer(json, "chunks_good", check->chunks.good);
    json_integer(json, "chunks_wrong", check->chunks.wrong);
    json_integer(json, "chunks_damaged_headers", check->chunks.damaged_headers);
    json_integer(json, "chunks_missing", check->chunks.missing);
    json_integer(json, "chunks_lost_by_source", check->chunks.lost);
    json_integer(json, "chunks_strange", check->chunks.strange);
    json_integer(json, "chunks_cut", check->chunks.cut ? 1 : 0);
  }
  if (check->first_difference != UINT64_MAX) json_integer(json, "first_difference", check->first_difference);
  json_close(json, '}');
}

/* Verifies one file, and prints what was found. */
static enum exit_status verify(struct volume *volume, struct check *check, const char *path, struct json *json) {
  uint64_t size_bytes;
  const enum spate_error error = reading_file(volume, path, take, check, &size_bytes);

  chunk_check_end(&check->chunks);
  if (error == SPATE_OK) compare_rest(check, size_bytes - check->bytes);
  if (error == SPATE_OK) end_compare(check, size_bytes);
  if (command_json)
    write_json(json, check, path, error);
  else if (error == SPATE_OK)
    print_text(check, path);
  if (error != SPATE_OK) return EXIT_FAILED;
  return is_whole(check) ? EXIT_DONE : EXIT_LOST;
}

/* Verifies files that are one recording, in this order, as if they were one file. */
static enum exit_status verify_parts(struct volume *volume, char **paths, int count, struct json *json) {
  struct check check = {.first_difference = UINT64_MAX};
  enum spate_error first_error = SPATE_OK;
  char name[64];

  (void)snprintf(name, sizeof name, "%d parts", count);
  for (int i = 0; i < count; i++) {
    uint64_t size_bytes;
    const enum spate_error error = reading_file(volume, paths[i], take, &check, &size_bytes);
    if (first_error == SPATE_OK) first_error = error;
  }
  chunk_check_end(&check.chunks);
  if (command_json)
    write_json(json, &check, name, first_error);
  else if (first_error == SPATE_OK)
    print_text(&check, name);
  if (first_error != SPATE_OK) return EXIT_FAILED;
  return is_whole(&check) ? EXIT_DONE : EXIT_LOST;
}

/* A file that cannot be read weighs less than one that is not what was recorded. */
static enum exit_status worse(enum exit_status a, enum exit_status b) { return a > b ? a : b; }

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct check check = {.first_difference = UINT64_MAX};
  struct json json = {.to = stdout};
  enum exit_status status = EXIT_DONE;

  bool parts = false;

  for (int option; (option = command_option(&command_verify, count, words, options)) != -1;) {
    if (option == PARTS)
      parts = true;
    else
      check.against_name = optarg;
  }
  if (count - optind < 2) command_usage(&command_verify, "verify takes a TARGET, and the PATHs of files on it");
  const bool several = count - optind > 2 && !parts;
  if (parts && check.against_name != NULL) command_usage(&command_verify, "--against compares one file, not parts");
  if (several && check.against_name != NULL)
    command_usage(&command_verify, "--against compares one file; %d are named", count - optind - 1);
  FILE *against = check.against_name == NULL ? NULL : fopen(check.against_name, "rbe");
  check.against = against;
  if (check.against_name != NULL && against == NULL) fail(EXIT_FAILED, "%s: %s", check.against_name, strerror(errno));
  volume_open(&volume, words[optind], TARGET_READ);
  if (command_json && several) json_open(&json, NULL, '{');
  if (command_json && several) json_open(&json, "files", '[');
  if (parts) status = verify_parts(&volume, words + optind + 1, count - optind - 1, &json);
  for (int i = optind + 1; !parts && i < count; i++) {
    status = worse(status, verify(&volume, &check, words[i], &json));
    check = (struct check){.first_difference = UINT64_MAX};
  }
  if (command_json && several) json_close(&json, ']');
  if (command_json && several) json_close(&json, '}');
  if (against != NULL) (void)fclose(against);
  volume_close(&volume);
  return status;
}

const struct command command_verify = {"verify", "prove that recordings are what was recorded",
                                       "Usage: spate verify TARGET PATH... [options]\n"
                                       "\n"
                                       "Reads recordings from the drive. If one is made of chunks, each must have a "
                                       "valid header, the\n"
                                       "next sequence number and the right CRC. The headers also say how many pieces "
                                       "the source lost\n"
                                       "before they were recorded. Writes nothing. Exit status 4 if something is "
                                       "missing or wrong;\n"
                                       "each kind of loss is counted separately. A file that cannot be read is "
                                       "named, and the next one\n"
                                       "follows: exit status 1. JSON for several PATHs is a list, files.\n"
                                       "\n"
                                       "  --against FILE         compare the recording with FILE\n"
                                       "  --parts                the PATHs are parts of one recording, in this order: "
                                       "no number may be missing\n"
                                       "                         between them\n" HELP_COMMON,
                                       run};
