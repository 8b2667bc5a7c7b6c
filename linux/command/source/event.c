/* SPDX-License-Identifier: Apache-2.0 */
#include "event.h"

#include "../text/fail.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int event_open(void) {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  if (fd < 0) fail(EXIT_FAILED, "eventfd: %s", strerror(errno));
  return fd;
}

/* A write to an eventfd fails only if it holds 2^64 − 2, and then its reader is already woken. */
void event_raise(int fd) {
  const uint64_t one = 1;
  const ssize_t written = write(fd, &one, sizeof one);
  (void)written;
}

void event_clear(int fd) {
  uint64_t count;
  const ssize_t got = read(fd, &count, sizeof count); /* EAGAIN: it was clear already */
  (void)got;
}
