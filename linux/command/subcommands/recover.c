/* SPDX-License-Identifier: Apache-2.0 */
/* Repairs a volume after a power cut or a kill: mounting it for writing does that. */
#include "../text/json.h"
#include "../text/units.h"
#include "../volume.h"
#include "command.h"

#include <stdio.h>

static const struct option options[] = {OPTIONS_COMMON};

static void print_json(const struct spate_exfat_mounted *found) {
  struct json json = {.to = stdout};

  json_open(&json, NULL, '{');
  json_bool(&json, "dirty", found->dirty);
  json_bool(&json, "backup_boot", found->backup_boot);
  json_integer(&json, "reservations", found->reservations);
  json_integer(&json, "reclaimed_bytes", found->reclaimed_bytes);
  json_integer(&json, "salvaged_bytes", found->salvaged_bytes);
  json_close(&json, '}');
}

static void print_text(const char *name, const struct spate_exfat_mounted *found) {
  char text[UNITS_TEXT_BYTES];

  if (found->reservations == 0) {
    (void)printf("%s: nothing to recover%s\n", name,
                 found->dirty ? "; it was not closed properly by another system: check it with fsck.exfat" : "");
    return;
  }
  const char *s = found->reservations == 1 ? "" : "s";
  if (found->read_only != SPATE_EXFAT_WRITABLE) {
    (void)printf("%s: %u interrupted recording%s, not repaired, because the volume is read only\n", name,
                 found->reservations, s);
    return;
  }
  (void)printf("%s: %u interrupted recording%s recovered\n", name, found->reservations, s);
  (void)printf("%s of reserved space freed\n", units_text(found->reclaimed_bytes, text));
  (void)printf("%s of recordings salvaged beyond their last checkpoint\n", units_text(found->salvaged_bytes, text));
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct spate_exfat_mounted found;

  while (command_option(&command_recover, count, words, options) != -1) {
  }
  volume_open(&volume, *command_words(&command_recover, count, words, 1, "recover takes one TARGET"), TARGET_WRITE);
  found = volume.found;
  volume_close(&volume);
  if (command_json)
    print_json(&found);
  else
    print_text(volume.target.name, &found);
  return found.read_only == SPATE_EXFAT_WRITABLE ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_recover = {
    "recover", "repair a volume after a power cut or a kill",
    "Usage: spate recover TARGET [options]\n"
    "\n"
    "Frees the space that recordings had reserved when they were cut off, and "
    "extends\n"
    "recordings of chunks to their last valid chunk. spate record does the same before it "
    "begins.\n"
    "\n" HELP_COMMON,
    run};
