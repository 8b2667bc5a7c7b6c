/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a file of a volume to this machine. Writes nothing to the target. */
#include "../device/interrupt.h"
#include "../target/place.h"
#include "../text/units.h"
#include "command.h"
#include "copy.h"
#include "reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORCE = 1000 };

static const struct option options[] = {{"force", no_argument, NULL, FORCE}, OPTIONS_COMMON};

/* ---- to standard output ---- */

static void put_out(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes) {
  (void)context;
  (void)offset_bytes;
  while (bytes > 0) {
    const ssize_t written = write(STDOUT_FILENO, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(EXIT_FAILED, "standard output: %s", strerror(errno));
    data += written;
    bytes -= (uint32_t)written;
  }
}

/* Bytes past the valid length read as zeros (exFAT 7.6.5). A file gets a hole. */
static void put_zeros(uint64_t bytes) {
  static const uint8_t zeros[65536];

  for (uint64_t left = bytes; left > 0;) {
    const uint32_t now = left < sizeof zeros ? (uint32_t)left : (uint32_t)sizeof zeros;
    interrupt_check();
    put_out(NULL, zeros, now, 0);
    left -= now;
  }
}

static void extract_to_output(struct volume *volume, const char *path, uint64_t valid_bytes) {
  uint64_t size_bytes;

  if (reading_file(volume, path, put_out, NULL, &size_bytes) != SPATE_OK) exit(EXIT_FAILED);
  put_zeros(size_bytes - valid_bytes);
}

/* ---- to a file ---- */

static void put_copy(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes) {
  (void)offset_bytes;
  copy_write(context, data, bytes);
}

/* The file of a target: its own path, or the FILE of a virtual drive. NULL: there is none. `path`: PATH_MAX bytes. */
static const char *file_of(const char *target, char *path) {
  unsigned number;

  if (target_is_path(target)) place_of_image(target, path, &number);
  if (target_is_path(target)) return path;
  if (strncmp(target, "sim:", 4) != 0) return NULL;
  const char *colon = strchr(target + 4, ':');
  return colon == NULL ? NULL : colon + 1;
}

static bool is_of(const struct stat *status, const char *target) {
  char path[PATH_MAX];
  const char *file = file_of(target, path);
  struct stat other;

  if (file == NULL) return false;
  if (stat(file, &other) != 0) fail(EXIT_FAILED, "%s: %s", file, strerror(errno));
  return status->st_dev == other.st_dev && status->st_ino == other.st_ino;
}

/* Refuses the target itself, and a member of it. */
static void check_copy(const char *name, const struct target *target) {
  struct stat status;

  if (stat(name, &status) != 0) return;
  bool same = target->member_count == 0 && is_of(&status, target->name);
  for (unsigned i = 0; i < target->member_count; i++)
    same = same || is_of(&status, target->members[i].name);
  if (same) fail(EXIT_REFUSED, "%s is the target itself, and nothing was written", name);
}

static void extract_to_file(struct volume *volume, const char *path, uint64_t valid_bytes, const char *name,
                            bool force) {
  static struct copy copy;
  char text[UNITS_TEXT_BYTES];
  uint64_t size_bytes;

  check_copy(name, &volume->target);
  interrupt_catch();
  copy_open(&copy, name, force, valid_bytes);
  if (reading_file(volume, path, put_copy, &copy, &size_bytes) != SPATE_OK) exit(EXIT_FAILED);
  copy_close(&copy, size_bytes);
  (void)fprintf(stderr, "%s: %s\n", name, units_text(size_bytes, text));
}

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');

  return slash == NULL ? path : slash + 1;
}

/* Two PATHs would become one file. */
static void check_last_names(char **paths, int count) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++)
      if (strcmp(last_name(paths[i]), last_name(paths[j])) == 0)
        command_usage(&command_extract, "%s and %s would have the same name in the folder", paths[j], paths[i]);
}

/* The file's name in a folder of this machine. */
static void name_in_folder(const char *folder, const char *path, char *name) {
  const char *last = last_name(path);

  if (snprintf(name, PATH_MAX, "%s/%s", folder, last) >= PATH_MAX)
    fail(EXIT_FAILED, "%s/%s: %s", folder, last, strerror(ENAMETOOLONG));
}

static bool is_folder(const char *name) {
  struct stat status;

  return stat(name, &status) == 0 && S_ISDIR(status.st_mode);
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct spate_exfat_entry entry;
  char name[PATH_MAX];
  bool force = false;

  while (command_option(&command_extract, count, words, options) == FORCE)
    force = true;
  if (count - optind < 3) command_usage(&command_extract, "extract takes a TARGET, a PATH on it, and a FILE or -");
  const int first = optind + 1, last = count - 1;
  const char *to = words[last];
  const bool out = strcmp(to, "-") == 0, folder = !out && is_folder(to);
  if (last - first > 1 && !out && !folder)
    command_usage(&command_extract, "several PATHs need an existing FOLDER, or -; %s is none", to);
  if (folder) check_last_names(words + first, last - first);
  volume_open(&volume, words[optind], TARGET_READ);
  for (int i = first; i < last; i++) {
    expect(spate_exfat_stat(&volume.exfat, words[i], &entry), words[i]);
    if (entry.directory) expect(SPATE_E_IS_DIRECTORY, words[i]);
  }
  for (int i = first; i < last; i++) {
    expect(spate_exfat_stat(&volume.exfat, words[i], &entry), words[i]);
    if (folder) name_in_folder(to, words[i], name);
    if (out)
      extract_to_output(&volume, words[i], entry.valid_bytes);
    else
      extract_to_file(&volume, words[i], entry.valid_bytes, folder ? name : to, force);
  }
  volume_close(&volume);
  return EXIT_DONE;
}

const struct command command_extract = {
    "extract", "copy files of a volume to this machine",
    "Usage: spate extract TARGET PATH FILE [options]\n"
    "       spate extract TARGET PATH... FOLDER [options]\n"
    "\n"
    "Copies PATH of the volume to FILE, or each PATH into FOLDER; - is standard "
    "output. Writes nothing\n"
    "to TARGET. FILE is called spate-NUMBER.part until it is complete. Space that was "
    "reserved and never\n"
    "written reads as zeros, in a file and in a pipe.\n"
    "\n"
    "  --force                overwrite FILE if it exists\n" HELP_COMMON "\n"
    "  spate extract /dev/nvme0n1 run1.raw - | ffmpeg -f rawvideo -i - ...\n",
    run};
