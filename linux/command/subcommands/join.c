/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the parts of a folder to one file, without a copy. */
#include "../text/failure.h"
#include "../text/json.h"
#include "../text/progress.h"
#include "../text/units.h"
#include "../volume.h"
#include "command.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = {OPTIONS_COMMON};

/* Why a file cannot be a part, wherever it stands; NULL: its entry does not tell. */
static const char *fault_of(const struct spate_exfat_entry *entry) {
  if (entry->directory) return "is a folder";
  if (entry->bytes == 0) return "is empty: delete it first";
  if (entry->valid_bytes < entry->bytes) return "is longer than what was written to it";
  if (!entry->contiguous) return "is fragmented: copy it, and join the copies";
  return NULL;
}

/* Names the first part that cannot be joined. False: the entries do not tell. */
static bool tell_part(struct volume *volume, const char *folder) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  struct spate_exfat_entry before = {.bytes = 0};
  struct spate_exfat_info info;
  uint64_t parts = 0;
  bool more = true;

  if (spate_exfat_info(&volume->exfat, &info) != SPATE_OK) return false;
  if (spate_exfat_list(&volume->exfat, folder, &directory) != SPATE_OK) return false;
  for (; spate_exfat_list_next(&directory, &entry, &more) == SPATE_OK && more; parts++) {
    const char *fault = fault_of(&entry);
    if (before.bytes % info.cluster_bytes != 0) {
      fail_tell("%s: %s ends within a cluster: only the last part may. Its length is not a multiple of %u bytes",
                folder, before.name, info.cluster_bytes);
      return true;
    }
    if (fault != NULL) {
      fail_tell("%s: %s %s", folder, entry.name, fault);
      return true;
    }
    before = entry;
  }
  if (parts == 0) fail_tell("%s: the folder is empty", folder);
  return parts == 0;
}

/* Says why the join was refused. Nothing was changed. */
static enum exit_status refused(struct volume *volume, const char *folder, enum spate_error error) {
  switch (error) {
  case SPATE_E_INVALID:
  case SPATE_E_UNSUPPORTED:
    if (folder[strspn(folder, "/")] == '\0')
      fail_tell("%s: the root directory cannot become a file", folder);
    else if (!tell_part(volume, folder))
      fail_tell("%s: the files are not in the order in which they were created, or the folder has entries that are not "
                "files. Copy the files one after the other instead",
                folder);
    return EXIT_REFUSED;
  case SPATE_E_NOT_DIRECTORY: fail_tell("%s: this is a file, and not a folder with parts", folder); return EXIT_REFUSED;
  case SPATE_E_PROTECTED:
    fail_tell("%s: the folder is protected. spate protect --off removes that", folder);
    return EXIT_REFUSED;
  default:
    fail_tell("%s: %s. %s", folder, spate_error_name(failure_of(error)), failure_help(error));
    return EXIT_FAILED;
  }
}

static enum spate_error work(struct spate_exfat_join *join) {
  struct progress progress;
  enum spate_error error = SPATE_OK;

  progress_begin(&progress, "join", join->bytes);
  for (bool more = true; error == SPATE_OK && more;) {
    error = spate_exfat_join_work(join, &more);
    progress_show(&progress, join->linked_bytes, NULL);
  }
  progress_end(&progress);
  return error;
}

static void print_joined(const char *folder, const struct spate_exfat_join *join) {
  struct json json = {.to = stdout};
  char text[UNITS_TEXT_BYTES];

  if (!command_json) {
    (void)printf("%s: %u %s, %s\n", folder, join->parts, join->parts == 1 ? "part" : "parts",
                 units_text(join->bytes, text));
    return;
  }
  json_open(&json, NULL, '{');
  json_string(&json, "path", folder);
  json_integer(&json, "parts", join->parts);
  json_integer(&json, "bytes", join->bytes);
  json_close(&json, '}');
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct spate_exfat_join join;
  enum exit_status status = EXIT_DONE;

  while (command_option(&command_join, count, words, options) != -1) {
  }
  words = command_words(&command_join, count, words, 2, "join takes a TARGET and a FOLDER on it");
  volume_open(&volume, words[0], TARGET_WRITE);
  enum spate_error error = spate_exfat_join_begin(&volume.exfat, &join, words[1]);
  if (error != SPATE_OK) {
    status = refused(&volume, words[1], error);
    volume_close(&volume);
    return status;
  }
  expect(work(&join), words[1]);
  volume_close(&volume);
  print_joined(words[1], &join);
  return status;
}

const struct command command_join = {
    "join", "make one file of the parts in a folder, without a copy",
    "Usage: spate join TARGET FOLDER [options]\n"
    "\n"
    "The files of FOLDER become one file with its name, in the order of their entries in it. No data are\n"
    "copied, so the time does not depend on the size. After a power cut there is the folder with all its parts, or\n"
    "the whole file. The parts must be contiguous files that were created in this order, as spate records\n"
    "them, and every part except the last must end at the end of a cluster (spate info shows its size).\n"
    "If this is not possible, the reason is on standard error, and nothing is changed: exit status 3.\n"
    "If the parts are several recordings of chunks, spate verify counts the chunks of all but the first as strange.\n"
    "\n" HELP_COMMON "\n"
    "  spate join rec.img flight12\n",
    run};
