/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the files of a volume. Writes nothing. */
#include "../text/json.h"
#include "../text/units.h"
#include "../volume.h"
#include "command.h"
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct option options[] = {OPTIONS_COMMON};

struct listing {
  struct json json;
  uint64_t files, bytes, damaged;
};

static bool is_possible(const struct spate_exfat_time *time) {
  static const uint8_t days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

  return time->month >= 1 && time->month <= 12 && time->day >= 1 && time->day <= days[time->month - 1u] &&
         time->hour < 24 && time->minute < 60 && time->second < 60;
}

#define QUARTER_MIN 15

/* ISO 8601: local time, and its offset from UTC if the volume has it. Other systems leave times out, or write
 * impossible ones. */
static void time_text(const struct spate_exfat_time *time, char between, char *text, size_t bytes) {
  const int offset_min = abs(time->utc_quarters) * QUARTER_MIN;
  char zone[8] = "";

  if (!is_possible(time)) {
    (void)snprintf(text, bytes, "unknown");
    return;
  }
  if (time->utc_known)
    (void)snprintf(zone, sizeof zone, "%c%02d:%02d", time->utc_quarters < 0 ? '-' : '+', offset_min / 60,
                   offset_min % 60);
  (void)snprintf(text, bytes, "%04u-%02u-%02u%c%02u:%02u:%02u%s", time->year, time->month, time->day, between,
                 time->hour, time->minute, time->second, zone);
}

static void print_entry(void *context, const char *path, const struct spate_exfat_entry *entry) {
  struct listing *listing = context;
  char when[32];

  if (walk_is_record(path, entry)) return;
  time_text(&entry->modified, command_json ? 'T' : ' ', when, sizeof when);
  if (!entry->directory) {
    listing->files++;
    listing->bytes += entry->bytes;
  }
  if (!command_json) {
    if (entry->directory)
      (void)printf("%15s  %-25s  %s/\n", "-", when, path);
    else
      (void)printf("%15" PRIu64 "  %-25s  %s\n", entry->bytes, when, path);
    return;
  }
  json_open(&listing->json, NULL, '{');
  json_string(&listing->json, "path", path);
  json_string(&listing->json, "kind", entry->directory ? "directory" : "file");
  json_integer(&listing->json, "bytes", entry->bytes);
  json_integer(&listing->json, "valid_bytes", entry->valid_bytes);
  json_bool(&listing->json, "contiguous", entry->contiguous);
  if (is_possible(&entry->modified))
    json_string(&listing->json, "modified", when);
  else
    json_null(&listing->json, "modified");
  json_close(&listing->json, '}');
}

/* The rest is listed. */
static void damaged(void *context, const char *path, const char *what) {
  struct listing *listing = context;

  listing->damaged++;
  (void)fflush(stdout);
  (void)fprintf(stderr, "spate: %s: %s\n", path, what);
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct listing listing = {.json = {.to = stdout}};
  char text[UNITS_TEXT_BYTES];

  while (command_option(&command_ls, count, words, options) != -1) {
  }
  if (count - optind < 1 || count - optind > 2) command_usage(&command_ls, "ls takes a TARGET, and a PATH on it");
  volume_open(&volume, words[optind], TARGET_READ);
  if (command_json) {
    json_open(&listing.json, NULL, '{');
    json_open(&listing.json, "entries", '[');
  }
  walk_volume(&volume.exfat, count - optind > 1 ? words[optind + 1] : "",
              &(struct walk){.visit = print_entry, .damaged = damaged, .context = &listing});
  if (command_json) {
    json_close(&listing.json, ']');
    json_integer(&listing.json, "damaged", listing.damaged);
    json_close(&listing.json, '}');
  } else {
    (void)printf("%" PRIu64 " %s, %s\n", listing.files, listing.files == 1 ? "file" : "files",
                 units_text(listing.bytes, text));
  }
  volume_close(&volume);
  return listing.damaged == 0 ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_ls = {
    "ls", "list the files of a volume",
    "Usage: spate ls TARGET [PATH] [options]\n"
    "\n"
    "Lists every file and directory, or those below PATH: size in bytes, time of the last change with its\n"
    "offset from UTC, path. Writes nothing.\n"
    "Damage is reported on standard error, and the rest is listed: exit status 1.\n"
    "\n" HELP_COMMON,
    run};
