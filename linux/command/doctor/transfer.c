/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the drive with O_DIRECT, so that there is traffic on the link. */
#include "checkup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRANSFER_BYTES (UINT64_C(256) << 20)
#define STEP_BYTES     ((size_t)1 << 20)
#define ALIGN_BYTES    4096u
#define SECONDS_MAX    10

static bool not_done(struct checkup *checkup, const char *what, int error) {
  char why[CHECKUP_NAME_BYTES];

  (void)snprintf(why, sizeof why, "%s%s%s", what, error == 0 ? "" : ": ", error == 0 ? "" : strerror(error));
  checkup_found(checkup, SPATE_DOCTOR_UNDONE_TRANSFER, why, 0, 0);
  return false;
}

static void read_all(struct checkup *checkup, int fd, void *buffer) {
  const time_t end = time(NULL) + SECONDS_MAX;

  while (checkup->transferred_bytes < TRANSFER_BYTES && time(NULL) <= end) {
    const ssize_t got = pread(fd, buffer, STEP_BYTES, (off_t)checkup->transferred_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) checkup_found(checkup, SPATE_DOCTOR_TRANSFER_FAILED, strerror(errno), checkup->transferred_bytes, 0);
    if (got <= 0) return;
    checkup->transferred_bytes += (uint64_t)got;
  }
}

bool checkup_transfer(struct checkup *checkup) {
  char node[80];

  if (checkup->disk[0] == '\0') return not_done(checkup, "the kernel has no disk of this drive", 0);
  (void)snprintf(node, sizeof node, "/dev/%s", checkup->disk);
  const int fd = open(node, O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (fd < 0) return not_done(checkup, node, errno);
  void *buffer = aligned_alloc(ALIGN_BYTES, STEP_BYTES);
  if (buffer != NULL) read_all(checkup, fd, buffer);
  free(buffer);
  (void)close(fd);
  return buffer != NULL || not_done(checkup, "no memory", 0);
}
