/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the volume in order? Every directory is read, with the checksums of its entry sets; every file's clusters are
 * followed to their end, and no cluster belongs to two of them. Writes nothing, and mends nothing: fsck.exfat does.
 */
#include "../text/json.h"
#include "../text/units.h"
#include "../volume.h"
#include "command.h"
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct option options[] = {OPTIONS_COMMON};

struct check {
  struct volume *volume;
  uint32_t cluster_blocks;
  uint64_t clusters;
  uint8_t *owned; /* a bit for each cluster of the partition */
  uint64_t files, directories, fragments, bad;
  struct json *json; /* NULL: for people */
};

static void complain(struct check *check, const char *path, const char *what) {
  check->bad++;
  if (check->json == NULL) {
    (void)printf("%s: %s\n", path, what);
    return;
  }
  json_open(check->json, NULL, '{');
  json_string(check->json, "path", path);
  json_string(check->json, "finding", what);
  json_close(check->json, '}');
}

/* False: another file has one of them. */
static bool own(struct check *check, uint64_t lba, uint64_t blocks) {
  const uint64_t first = (lba - check->volume->partition.first_lba) / check->cluster_blocks;
  const uint64_t last = (lba + blocks - 1u - check->volume->partition.first_lba) / check->cluster_blocks;
  bool alone = true;

  for (uint64_t cluster = first; cluster <= last && cluster < check->clusters; cluster++) {
    const uint8_t bit = (uint8_t)(1u << (cluster & 7u));
    if ((check->owned[cluster >> 3] & bit) != 0) alone = false;
    check->owned[cluster >> 3] |= bit;
  }
  return alone;
}

static void follow(struct check *check, const char *path, const struct spate_exfat_entry *entry) {
  const uint8_t shift = check->volume->target.block->block_shift;
  struct spate_exfat_file file;
  uint64_t lba, blocks;

  enum spate_error error = spate_exfat_open(&check->volume->exfat, path, &file);
  if (error == SPATE_OK && file.valid_bytes > file.bytes) error = SPATE_E_CORRUPT;
  for (uint64_t at = 0; error == SPATE_OK && at < file.valid_bytes; at += blocks << shift) {
    error = spate_exfat_extent(&file, at, &lba, &blocks);
    if (error != SPATE_OK) break;
    if (blocks == 0) {
      complain(check, path, "its clusters end before its length");
      return;
    }
    check->fragments++;
    if (!own(check, lba, blocks)) {
      complain(check, path, "it shares a cluster with another file, or with itself");
      return;
    }
  }
  if (error != SPATE_OK) complain(check, path, spate_error_help(error));
  (void)entry;
}

static void visit(void *context, const char *path, const struct spate_exfat_entry *entry) {
  struct check *check = context;

  if (entry->directory) {
    check->directories++;
    return;
  }
  check->files++;
  follow(check, path, entry);
}

static void conclude(struct check *check, const char *name, const struct spate_exfat_info *info) {
  const bool dirty = check->volume->found.dirty;
  const unsigned reservations = check->volume->found.reservations;

  if (check->json == NULL) {
    if (reservations > 0)
      (void)printf("%s: recordings that a power cut or a kill ended: %u. spate recover puts them right\n", name,
                   reservations);
    else if (dirty)
      (void)printf("%s: the volume was not closed properly: fsck.exfat puts it right\n", name);
    (void)printf("%s: %" PRIu64 " files in %" PRIu64 " pieces, %" PRIu64 " directories, findings: %" PRIu64 "\n", name,
                 check->files, check->fragments, check->directories, check->bad);
    return;
  }
  json_close(check->json, ']');
  json_integer(check->json, "files", check->files);
  json_integer(check->json, "pieces", check->fragments);
  json_integer(check->json, "directories", check->directories);
  json_integer(check->json, "free_bytes", info->free_bytes);
  json_bool(check->json, "dirty", dirty);
  json_integer(check->json, "reservations", reservations);
  json_integer(check->json, "bad", check->bad);
  json_close(check->json, '}');
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct spate_exfat_info info;
  struct json json = {.to = stdout};
  struct check check = {.volume = &volume, .json = command_json ? &json : NULL};

  while (command_option(&command_check, count, words, options) != -1) {
  }
  check.json = command_json ? &json : NULL;
  const char *name = *command_words(&command_check, count, words, 1, "check takes one TARGET");
  volume_open(&volume, name, TARGET_READ);
  expect(spate_exfat_info(&volume.exfat, &info), name);
  check.cluster_blocks = info.cluster_bytes >> volume.target.block->block_shift;
  check.clusters = volume.partition.blocks / check.cluster_blocks + 1u;
  check.owned = calloc((size_t)(check.clusters / 8u + 1u), 1);
  if (check.owned == NULL) fail(EXIT_FAILED, "no memory for %" PRIu64 " clusters", check.clusters);
  if (check.json != NULL) {
    json_open(&json, NULL, '{');
    json_open(&json, "findings", '[');
  }
  walk(&volume.exfat, visit, &check);
  conclude(&check, name, &info);
  free(check.owned);
  volume_close(&volume);
  return check.bad > 0 ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_check = {"check", "read the whole structure of a volume, and tell what is not in order",
                                      "Usage: spate check TARGET [options]\n"
                                      "\n"
                                      "Reads every directory and follows the clusters of every file. Writes nothing "
                                      "and mends nothing: fsck.exfat mends.\n"
                                      "The data of recordings are for spate verify.\n"
                                      "\n"
                                      "Exit status: 0 in order (or to be put right by spate recover), 1 findings.\n"
                                      "\n" HELP_COMMON,
                                      run};
