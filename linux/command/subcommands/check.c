/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the structure of a volume. Reads every directory, with the checksums of its entry sets. Follows the clusters
 * of every file and directory to the end of its length, and compares them with each other and with the allocation
 * bitmap. Writes nothing and repairs nothing: fsck.exfat repairs.
 */
#include "../text/json.h"
#include "../text/units.h"
#include "../volume.h"
#include "command.h"
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {OPTIONS_COMMON};

/* Consecutive clusters of a file or directory, or of the bitmap or the up-case table. */
struct extent {
  uint64_t first_lba, end_lba;
  uint64_t owner; /* index into check.paths */
};

struct check {
  struct volume *volume;
  uint32_t cluster_blocks;
  char **paths; /* of the owners */
  struct extent *extents;
  size_t owners, extent_count, owners_room, extent_room;
  uint64_t files, directories, bad;
  struct json *json; /* NULL: for people */
};

static void *grown(void *list, size_t count, size_t *room, size_t one_bytes) {
  if (count < *room) return list;
  *room = *room == 0 ? 64 : *room * 2;
  void *larger = realloc(list, *room * one_bytes);
  if (larger == NULL) fail(EXIT_FAILED, "no memory for a volume of %zu files and directories", count);
  return larger;
}

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

static void add_extent(struct check *check, uint64_t lba, uint64_t blocks) {
  const uint64_t clusters = (blocks + check->cluster_blocks - 1u) / check->cluster_blocks;

  check->extents = grown(check->extents, check->extent_count, &check->extent_room, sizeof *check->extents);
  check->extents[check->extent_count++] =
      (struct extent){.first_lba = lba, .end_lba = lba + clusters * check->cluster_blocks, .owner = check->owners - 1u};
}

static int by_place(const void *a, const void *b) {
  const struct extent *one = a, *other = b;

  return (one->first_lba > other->first_lba) - (one->first_lba < other->first_lba);
}

/* Finds extents that overlap: compares each with the one that reaches farthest before it. Of two owners that share many
 * clusters in a row, one finding says it. */
static void find_shared(struct check *check) {
  const struct extent *farthest = NULL;
  uint64_t told[2] = {UINT64_MAX, UINT64_MAX};
  char text[256];

  for (size_t i = 0; i < check->extent_count; i++) {
    const struct extent *extent = &check->extents[i];
    const bool shared = farthest != NULL && extent->first_lba < farthest->end_lba;
    if (shared && (told[0] != extent->owner || told[1] != farthest->owner)) {
      (void)snprintf(text, sizeof text, "it shares a cluster with %.200s", check->paths[farthest->owner]);
      complain(check, check->paths[extent->owner], text);
      told[0] = extent->owner;
      told[1] = farthest->owner;
    }
    if (farthest == NULL || extent->end_lba > farthest->end_lba) farthest = extent;
  }
}

/* Clusters are numbered from 2. */
static uint64_t cluster_of(const struct check *check, uint64_t lba) {
  return 2u + (lba - check->volume->exfat.heap_lba) / check->cluster_blocks;
}

/* The part of the extent between these blocks is free. */
static void complain_free(struct check *check, const struct extent *extent, uint64_t first_lba, uint64_t end_lba) {
  char text[128];

  if (extent->first_lba > first_lba) first_lba = extent->first_lba;
  if (extent->end_lba < end_lba) end_lba = extent->end_lba;
  (void)snprintf(text, sizeof text,
                 "its clusters %" PRIu64 " to %" PRIu64 " are free in the bitmap, so the next file may get them",
                 cluster_of(check, first_lba), cluster_of(check, end_lba - 1u));
  complain(check, check->paths[extent->owner], text);
}

/* Looks for all free runs in the extents, in the order of their places. */
static void find_free(struct check *check) {
  uint64_t lba = 0, blocks = 0;

  for (size_t i = 0; i < check->extent_count; i++) {
    const struct extent *extent = &check->extents[i];
    for (uint64_t at = extent->first_lba; at < extent->end_lba; at = lba + blocks) {
      if (lba + blocks <= at) {
        const enum spate_error error = spate_exfat_free_run(&check->volume->exfat, at, &lba, &blocks);
        if (error != SPATE_OK) complain(check, "the bitmap", spate_error_help(error));
        if (error != SPATE_OK || blocks == 0) return; /* nothing is free from here on */
      }
      if (lba >= extent->end_lba) break;
      complain_free(check, extent, lba, lba + blocks);
    }
  }
}

/* Clusters that are allocated and belong to nothing. Only if nothing else is wrong: else it is not known whose they
 * are. */
static uint64_t lost_bytes(const struct check *check, const struct spate_exfat_info *info) {
  uint64_t owned_blocks = 0;

  for (size_t i = 0; i < check->extent_count; i++)
    owned_blocks += check->extents[i].end_lba - check->extents[i].first_lba;
  const uint64_t owned_bytes = owned_blocks << check->volume->target.block->block_shift;
  const uint64_t used_bytes = info->bytes - info->free_bytes;
  return check->bad == 0 && used_bytes > owned_bytes ? used_bytes - owned_bytes : 0;
}

/* ---- files, directories, and the volume's own ---- */

static void own(struct check *check, const char *path) {
  check->paths = grown(check->paths, check->owners, &check->owners_room, sizeof *check->paths);
  check->paths[check->owners] = strdup(path);
  if (check->paths[check->owners++] == NULL) fail(EXIT_FAILED, "no memory");
}

/* What is wrong with the clusters of this file or directory; NULL: nothing. */
static const char *follow(struct check *check, const char *path, const struct spate_exfat_entry *entry) {
  const uint8_t shift = check->volume->target.block->block_shift;
  struct spate_exfat_file file;
  uint64_t lba, blocks;

  own(check, path);
  enum spate_error error = spate_exfat_open_entry(&check->volume->exfat, entry, &file);
  if (error == SPATE_OK && file.valid_bytes > file.bytes) error = SPATE_E_CORRUPT;
  file.valid_bytes = file.bytes; /* extents end at valid_bytes, but the clusters past it belong to the file as well */
  for (uint64_t at = 0; error == SPATE_OK && at < file.bytes; at += blocks << shift) {
    /* Loops, and clusters with many owners: there are not so many extents. */
    if (check->extent_count > check->volume->exfat.cluster_count) return "its clusters are not followed to the end";
    error = spate_exfat_extent(&file, at, &lba, &blocks);
    if (error != SPATE_OK) break;
    if (blocks == 0) return "its clusters end before its length";
    add_extent(check, lba, blocks);
  }
  if (error != SPATE_OK) return spate_error_help(error);
  return entry->bytes == 0 && entry->first_cluster != 0 ? "it has no bytes, but a first cluster" : NULL;
}

/* Whether the FAT leads on past the last cluster. */
static bool is_longer(const struct check *check, const struct spate_exfat_entry *entry) {
  const uint64_t cluster_bytes = (uint64_t)check->cluster_blocks << check->volume->target.block->block_shift;
  const uint64_t end = (entry->bytes + cluster_bytes - 1u) / cluster_bytes * cluster_bytes;
  struct spate_exfat_entry longer = *entry;
  struct spate_exfat_file file;
  uint64_t lba, blocks = 0;

  longer.bytes = longer.valid_bytes = end + cluster_bytes;
  return !entry->contiguous && entry->bytes > 0 &&
         spate_exfat_open_entry(&check->volume->exfat, &longer, &file) == SPATE_OK &&
         spate_exfat_extent(&file, end, &lba, &blocks) == SPATE_OK && blocks > 0;
}

static void follow_chain(struct check *check, const char *path, const struct spate_exfat_chain *chain) {
  const struct spate_exfat_entry entry = {.bytes = chain->bytes,
                                          .valid_bytes = chain->bytes,
                                          .first_cluster = chain->first_cluster,
                                          .contiguous = chain->contiguous};
  const char *wrong = follow(check, path, &entry);

  if (wrong != NULL) complain(check, path, wrong);
}

static void visit(void *context, const char *path, const struct spate_exfat_entry *entry) {
  struct check *check = context;

  if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
    complain(check, path, "no file or directory may have this name");
  check->files += entry->directory || walk_is_record(path, entry) ? 0 : 1;
  check->directories += entry->directory;
  const char *wrong = follow(check, path, entry);
  if (wrong == NULL && is_longer(check, entry)) wrong = "its chain of clusters is longer than its length";
  if (wrong != NULL) complain(check, path, wrong);
}

/* Of a directory whose clusters are wrong, follow() has said so. */
static void damaged(void *context, const char *path, const char *what) {
  if (strcmp(what, spate_error_help(SPATE_E_CORRUPT)) != 0) complain(context, path, what);
}

static void check_volume(struct check *check) {
  const struct spate_exfat *volume = &check->volume->exfat;

  const char *damage = volume_damage(check->volume);
  if (damage != NULL) complain(check, "the volume", damage);
  follow_chain(check, "the bitmap", &volume->bitmap);
  follow_chain(check, "the up-case table", &volume->upcase);
  follow_chain(check, "the root directory", &volume->root);
  walk_volume(&check->volume->exfat, "", &(struct walk){.visit = visit, .damaged = damaged, .context = check});
  if (check->extent_count > 0) qsort(check->extents, check->extent_count, sizeof *check->extents, by_place);
  find_shared(check);
  find_free(check);
}

static void conclude(struct check *check, const char *name, const struct spate_exfat_info *info) {
  const uint64_t lost = lost_bytes(check, info);
  const bool dirty = check->volume->found.dirty;
  const unsigned reservations = check->volume->found.reservations;
  const bool writable = check->volume->found.read_only == SPATE_EXFAT_WRITABLE;
  char text[UNITS_TEXT_BYTES];

  if (check->json == NULL) {
    if (reservations > 0)
      (void)printf("%s: %u interrupted recording%s%s\n", name, reservations, reservations == 1 ? "" : "s",
                   writable ? ". spate recover repairs them" : "");
    else if (dirty)
      (void)printf("%s: the volume was not closed properly: fsck.exfat repairs it\n", name);
    if (lost > 0 && reservations == 0)
      (void)printf("%s: %s are allocated, but belong to no file or directory\n", name, units_text(lost, text));
    (void)printf("%s: files: %" PRIu64 ", directories: %" PRIu64 ", extents: %zu, findings: %" PRIu64 "\n", name,
                 check->files, check->directories, check->extent_count, check->bad);
    return;
  }
  json_close(check->json, ']');
  json_integer(check->json, "files", check->files);
  json_integer(check->json, "extents", check->extent_count);
  json_integer(check->json, "directories", check->directories);
  json_integer(check->json, "free_bytes", info->free_bytes);
  json_integer(check->json, "lost_bytes", lost);
  json_bool(check->json, "dirty", dirty);
  json_integer(check->json, "reservations", reservations);
  json_integer(check->json, "bad", check->bad);
  json_bool(check->json, "in_use", false);
  json_close(check->json, '}');
}

/* The structure of a volume changes while something writes to it. Findings would prove nothing. */
static void say_in_use(const char *name, const char *why) {
  struct json json = {.to = stdout};

  if (!command_json) {
    (void)printf("%s: currently in use: it %s. Check it again when that has ended\n", name, why);
    return;
  }
  json_open(&json, NULL, '{');
  json_bool(&json, "in_use", true);
  json_string(&json, "in_use_because", why);
  json_close(&json, '}');
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct spate_exfat_info info = {.bytes = 0};
  struct json json = {.to = stdout};
  struct check check = {.volume = &volume};
  char why[TARGET_WHY_BYTES];

  while (command_option(&command_check, count, words, options) != -1) {
  }
  const char *name = *command_words(&command_check, count, words, 1, "check takes one TARGET");
  if (target_in_use(name, why, sizeof why)) {
    say_in_use(name, why);
    return EXIT_DONE;
  }
  check.json = command_json ? &json : NULL;
  volume_open(&volume, name, TARGET_READ);
  check.cluster_blocks = 1u << volume.exfat.cluster_blocks_shift;
  if (check.json != NULL) {
    json_open(&json, NULL, '{');
    json_open(&json, "findings", '[');
  }
  const enum spate_error error = spate_exfat_info(&volume.exfat, &info);
  if (error == SPATE_E_CORRUPT || error == SPATE_E_MEDIA)
    complain(&check, "the bitmap", spate_error_help(error));
  else
    expect(error, name);
  check_volume(&check);
  conclude(&check, name, &info);
  for (size_t i = 0; i < check.owners; i++)
    free(check.paths[i]);
  free(check.paths);
  free(check.extents);
  volume_close(&volume);
  if (check.bad == 0 || !target_in_use(name, why, sizeof why)) return check.bad > 0 ? EXIT_FAILED : EXIT_DONE;
  (void)fprintf(stderr, "%s: in use since the check began: it %s. That may have caused the findings\n", name, why);
  return EXIT_DONE;
}

const struct command command_check = {
    "check", "read the whole structure of a volume, and report damage",
    "Usage: spate check TARGET [options]\n"
    "\n"
    "Reads every directory, and follows the clusters of every file and directory. No cluster may "
    "have two\n"
    "owners, or be free in the bitmap while it has one. Writes nothing and repairs nothing: "
    "fsck.exfat repairs.\n"
    "spate verify checks the data of recordings.\n"
    "\n"
    "A volume to which the kernel or another spate may be writing is not "
    "checked:\n"
    "it would look damaged.\n"
    "\n"
    "Exit status: 0 no damage, spate recover repairs it, or in use; 1 "
    "findings.\n"
    "\n" HELP_COMMON,
    run};
