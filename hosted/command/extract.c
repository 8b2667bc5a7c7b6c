/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a file of a volume to this machine. Writes nothing to the target. */
#include "../device/interrupt.h"
#include "../target/place.h"
#include "../text/units.h"
#include "command.h"
#include "reading.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORCE = 1000 };

static const struct option options[] = {{"force", no_argument, NULL, FORCE}, OPTIONS_COMMON};

struct copy {
  const char *name;
  int fd;
};

static void write_all(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes) {
  struct copy *copy = context;

  (void)offset_bytes;
  while (bytes > 0) {
    const ssize_t written = write(copy->fd, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(EXIT_FAILED, "%s: %s", copy->name, strerror(errno));
    data += written;
    bytes -= (uint32_t)written;
  }
}

/* Bytes behind the valid length read as zeros (exFAT 7.6.5). A pipe gets the zeros; a file gets a hole. */
static void write_zeros(struct copy *copy, uint64_t bytes) {
  static const uint8_t zeros[65536];

  for (uint64_t left = bytes; left > 0;) {
    const uint32_t now = left < sizeof zeros ? (uint32_t)left : (uint32_t)sizeof zeros;
    interrupt_check();
    write_all(copy, zeros, now, 0);
    left -= now;
  }
}

/* A file that this run has made is removed if the run fails. */
static const char *unfinished;

static void remove_unfinished(void) {
  if (unfinished != NULL) (void)unlink(unfinished);
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

/* Opens the file to write, empty. Refuses the target itself, a member of it, and anything that is not a regular file.
 */
static int open_copy(const char *name, const struct target *target, bool force) {
  struct stat status;
  int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

  if (fd >= 0) {
    unfinished = name;
    if (atexit(remove_unfinished) != 0) fail(EXIT_FAILED, "atexit failed");
    return fd;
  }
  if (errno == EEXIST && !force)
    fail(EXIT_REFUSED, "%s exists already, and nothing was written. --force overwrites it", name);
  if (errno == EEXIST) fd = open(name, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) != 0) fail(EXIT_FAILED, "%s: %s", name, strerror(errno));
  if (!S_ISREG(status.st_mode)) fail(EXIT_REFUSED, "%s is not a file; - writes to standard output", name);
  bool same = target->member_count == 0 && is_of(&status, target->name);
  for (unsigned i = 0; i < target->member_count; i++)
    same = same || is_of(&status, target->members[i].name);
  if (same) fail(EXIT_REFUSED, "%s is the target itself, and nothing was written", name);
  if (ftruncate(fd, 0) != 0) fail(EXIT_FAILED, "%s: %s", name, strerror(errno));
  return fd;
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct spate_exfat_entry entry;
  struct copy copy = {.fd = STDOUT_FILENO};
  uint64_t size_bytes;
  bool force = false;
  char text[UNITS_TEXT_BYTES];

  while (command_option(&command_extract, count, words, options) == FORCE)
    force = true;
  words = command_words(&command_extract, count, words, 3, "extract takes a TARGET, a PATH on it, and a FILE or -");
  copy.name = words[2];
  volume_open(&volume, words[0], TARGET_READ);
  expect(spate_exfat_stat(&volume.exfat, words[1], &entry), words[1]);
  if (entry.directory) expect(SPATE_E_IS_DIRECTORY, words[1]);
  if (strcmp(copy.name, "-") != 0) copy.fd = open_copy(copy.name, &volume.target, force);
  reading_file(&volume, words[1], write_all, &copy, &size_bytes);
  if (copy.fd == STDOUT_FILENO) write_zeros(&copy, size_bytes - entry.valid_bytes);
  if (copy.fd != STDOUT_FILENO &&
      (ftruncate(copy.fd, (off_t)size_bytes) != 0 || fsync(copy.fd) != 0 || close(copy.fd) != 0))
    fail(EXIT_FAILED, "%s: %s", copy.name, strerror(errno));
  unfinished = NULL;
  volume_close(&volume);
  if (copy.fd != STDOUT_FILENO) (void)fprintf(stderr, "%s: %s\n", copy.name, units_text(size_bytes, text));
  return EXIT_DONE;
}

const struct command command_extract = {"extract", "copy a file of a volume to this machine",
                                        "Usage: spate extract TARGET PATH FILE [options]\n"
                                        "\n"
                                        "Copies PATH of the volume to FILE; - is standard output. Writes nothing to "
                                        "TARGET.\n"
                                        "Space that was reserved and never written reads as zeros, in a file and in a "
                                        "pipe.\n"
                                        "\n"
                                        "  --force                overwrite FILE if it exists\n" HELP_COMMON "\n"
                                        "  spate extract /dev/nvme0n1 run1.raw - | ffmpeg -f rawvideo -i - ...\n",
                                        run};
