/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include "../text/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC      "spate calibrate, state 1"
#define LINE_BYTES 256u

/* ---- the file ---- */

static void sync_folder(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');

  (void)snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
                 slash == NULL ? "." : path);
  const int opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  (void)fsync(opened);
  (void)close(opened);
}

static bool write_all(int file, const char *text, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t written = write(file, text + done, bytes - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += (size_t)written;
  }
  return fsync(file) == 0;
}

void calibrate_replace_file(const char *path, const char *text, size_t bytes) {
  char beside[PATH_MAX];

  if ((size_t)snprintf(beside, sizeof beside, "%s.new", path) >= sizeof beside)
    fail(EXIT_FAILED, "%s: the name is too long", path);
  const int file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail(EXIT_FAILED, "%s: %s", beside, strerror(errno));
  const bool whole = write_all(file, text, bytes);
  const int error = errno;
  (void)close(file);
  if (whole && rename(beside, path) == 0) {
    sync_folder(path);
    return;
  }
  const int reason = whole ? errno : error;
  (void)unlink(beside);
  fail(EXIT_FAILED, "%s: the results cannot be saved: %s", path, strerror(reason));
}

/* ---- its contents ---- */

void calibrate_state_save(const char *path, const struct calibrate_drive *drive,
                          const struct calibrate_results *results) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);

  if (to == NULL) fail(EXIT_FAILED, "no memory");
  (void)fprintf(to, "%s\nmodel %s\nserial %s\ncapacity_bytes %" PRIu64 "\n", MAGIC, drive->model, drive->serial,
                drive->capacity_bytes);
  for (unsigned i = 0; i < CALIBRATE_STEPS; i++)
    if (results->done[i]) (void)fprintf(to, "done %s\n", calibrate_step_name(i));
  for (unsigned i = 0; calibrate_field(i) != NULL; i++) {
    const double value = calibrate_get(results, calibrate_field(i));
    if (isfinite(value)) (void)fprintf(to, "%s %.17g\n", calibrate_field(i)->name, value);
  }
  if (fclose(to) != 0) fail(EXIT_FAILED, "no memory");
  calibrate_replace_file(path, text, bytes);
  free(text);
}

static bool set_step(struct calibrate_results *results, const char *name) {
  for (unsigned i = 0; i < CALIBRATE_STEPS; i++)
    if (strcmp(calibrate_step_name(i), name) == 0) return results->done[i] = true;
  return false;
}

static bool set_number(struct calibrate_results *results, const char *key, const char *text) {
  char *end;
  const double value = strtod(text, &end);

  for (unsigned i = 0; calibrate_field(i) != NULL; i++) {
    if (strcmp(calibrate_field(i)->name, key) != 0) continue;
    calibrate_set(results, calibrate_field(i), value);
    return end != text && *end == '\0' && isfinite(value);
  }
  return false;
}

/* The file begins with the lines that describe the drive, in this order. All other lines may come in any order. */
static void check_drive(const char *path, FILE *from, const struct calibrate_drive *drive) {
  char expected[3][LINE_BYTES], line[LINE_BYTES] = "";

  (void)snprintf(expected[0], LINE_BYTES, "model %s\n", drive->model);
  (void)snprintf(expected[1], LINE_BYTES, "serial %s\n", drive->serial);
  (void)snprintf(expected[2], LINE_BYTES, "capacity_bytes %" PRIu64 "\n", drive->capacity_bytes);
  if (fgets(line, sizeof line, from) == NULL || strcmp(line, MAGIC "\n") != 0)
    fail(EXIT_REFUSED, "%s is not a state file of spate calibrate: name another profile, or remove it", path);
  for (unsigned i = 0; i < 3; i++) {
    const bool read = fgets(line, sizeof line, from) != NULL;
    if (read && strcmp(line, expected[i]) == 0) continue;
    line[read ? strcspn(line, "\n") : 0] = '\0';
    fail(EXIT_REFUSED,
         "%s belongs to another drive (%s); this one is %s, serial %s: nothing was written. Name another profile, or "
         "remove the file to start over",
         path, line, drive->model, drive->serial);
  }
}

bool calibrate_state_load(const char *path, const struct calibrate_drive *drive, struct calibrate_results *results) {
  char line[LINE_BYTES];
  FILE *from = fopen(path, "re");

  if (from == NULL && errno == ENOENT) return false;
  if (from == NULL) fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
  check_drive(path, from, drive);
  while (fgets(line, sizeof line, from) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *blank = strchr(line, ' ');
    if (blank != NULL) *blank++ = '\0';
    if (blank == NULL || !(strcmp(line, "done") == 0 ? set_step(results, blank) : set_number(results, line, blank)))
      fail(EXIT_REFUSED, "%s is damaged at \"%s\": remove it to start over", path, line);
  }
  (void)fclose(from);
  return true;
}
