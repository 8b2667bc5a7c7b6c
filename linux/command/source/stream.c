/* SPDX-License-Identifier: Apache-2.0 */
/* A pipe, a FIFO or a device. The thread does not read while the ring is full, so nothing is lost. */
#include "filling.h"

#include "../text/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static bool is(const char *name) {
  (void)name;
  return true;
}

/* The largest pipe that every user may have (/proc/sys/fs/pipe-max-size). In a pipe of 64 KiB, which is usual, each
 * side waits for the other sixteen times as often. */
#define PIPE_BYTES (1 << 20)

/* A terminal, a device, or a user who has many pipes: the size stays as it is. */
static void enlarge(int fd) { (void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); }

static void open_stream(struct source *source) {
  if (strcmp(source->name, "-") == 0) {
    source->fd = STDIN_FILENO;
    if (isatty(source->fd))
      fail(EXIT_USAGE, "standard input is a terminal: use producer | spate record ..., or name a source with --from");
  } else {
    /* O_NONBLOCK: without a writer, opening a FIFO would block, and its writer may wait until another FIFO is opened.
     */
    source->fd = open(source->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (source->fd < 0 || fcntl(source->fd, F_SETFL, 0) != 0)
      fail(EXIT_FAILED, "%s: %s", source->name, strerror(errno));
  }
  enlarge(source->fd);
}

/* True: data can be read, or the input has ended. */
static bool wait_for_input(const struct source *source) {
  struct pollfd input = {.fd = source->fd, .events = POLLIN};

  return poll(&input, 1, 100) != 0;
}

/* Returns the bytes that were read, 0 at the end, −1 on an error. */
static ssize_t read_some(struct filling *filling) {
  const uint64_t room = filling->source->config.slot_bytes - filling->bytes;
  const size_t wanted = (size_t)(filling->left < room ? filling->left : room);
  ssize_t got;

  do
    got = read(filling->source->fd, filling->slot + filling->bytes, wanted);
  while (got < 0 && errno == EINTR);
  return got;
}

static int fill(struct filling *filling) {
  const struct source *source = filling->source;

  while (filling->left > 0 && !atomic_load(&source->stop)) {
    if (!filling_hand_over(filling)) return 0;
    if (!wait_for_input(source)) continue;
    const ssize_t got = read_some(filling);
    if (got < 0) return errno;
    if (got == 0 || !filling_add(filling, (uint32_t)got)) return 0;
  }
  return 0;
}

static void *run(void *opaque) {
  struct source *source = opaque;
  struct filling filling;

  if (filling_begin(&filling, source)) source->error = fill(&filling);
  filling_end(&filling);
  atomic_store(&source->ended, true);
  return NULL;
}

const struct source_kind source_stream = {.is = is, .open = open_stream, .run = run, .cuts = true};
