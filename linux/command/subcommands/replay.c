/* SPDX-License-Identifier: Apache-2.0 */
/* Plays a recording at a given rate, for a reader that treats it like the sensor's stream. */
#include "../text/units.h"
#include "command.h"
#include "reading.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RATE_MAX    1e12
#define NS_PER_S    1000000000
#define BURST_BYTES UINT32_C(65536) /* written at once: the rate is even down to this size */

enum { RATE = 1000, TO, LOOP };

static const struct option options[] = {{"rate", required_argument, NULL, RATE},
                                        {"to", required_argument, NULL, TO},
                                        {"loop", no_argument, NULL, LOOP},
                                        OPTIONS_COMMON};

struct replay {
  const char *to;
  int fd;
  double rate; /* bytes per second; 0: as fast as the reader accepts them */
  struct timespec begun;
  uint64_t bytes;
};

/* Waits until the next byte is due. After a slow read by the reader, at most BURST_BYTES are written faster than the
 * rate. */
static void pace(struct replay *replay) {
  const double due_s = (double)replay->bytes / replay->rate;
  struct timespec now, due = replay->begun;

  due.tv_sec += (time_t)due_s;
  due.tv_nsec += (long)((due_s - (double)(time_t)due_s) * NS_PER_S);
  if (due.tv_nsec >= NS_PER_S) {
    due.tv_sec++;
    due.tv_nsec -= NS_PER_S;
  }
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  const double late_s = (double)(now.tv_sec - due.tv_sec) + (double)(now.tv_nsec - due.tv_nsec) / NS_PER_S;
  if (late_s <= 0) {
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {
    }
  } else if (late_s > BURST_BYTES / replay->rate) {
    replay->begun = now;
    replay->bytes = 0;
  }
}

static void write_burst(const struct replay *replay, const uint8_t *data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(replay->fd, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(EXIT_FAILED, "%s: %s", replay->to, strerror(errno));
    data += written;
    bytes -= (size_t)written;
  }
}

static void take(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes) {
  struct replay *replay = context;

  (void)offset_bytes;
  for (uint32_t at = 0; at < bytes;) {
    const uint32_t now = bytes - at < BURST_BYTES ? bytes - at : BURST_BYTES;
    if (replay->rate > 0) pace(replay);
    write_burst(replay, data + at, now);
    replay->bytes += now;
    at += now;
  }
}

/* Refuses files and block devices: under some name they may be the volume itself. */
static void open_output(struct replay *replay) {
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  struct stat status;

  if (sigaction(SIGPIPE, &ignore, NULL) != 0) fail(EXIT_FAILED, "signals: %s", strerror(errno));
  replay->fd = STDOUT_FILENO;
  if (strcmp(replay->to, "-") == 0) {
    if (isatty(STDOUT_FILENO))
      fail(EXIT_USAGE, "standard output is a terminal: send the recording to a pipe, or name a FIFO with --to");
    return;
  }
  replay->fd = open(replay->to, O_WRONLY | O_CLOEXEC);
  if (replay->fd < 0 || fstat(replay->fd, &status) != 0) fail(EXIT_FAILED, "%s: %s", replay->to, strerror(errno));
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode))
    fail(EXIT_REFUSED,
         "%s is neither a FIFO nor a character device, and nothing was written. spate extract copies to a file",
         replay->to);
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct replay replay = {.to = "-"};
  bool loop = false;
  uint64_t bytes;

  for (int got; (got = command_option(&command_replay, count, words, options)) != -1;) {
    switch (got) {
    case RATE:
      if (!units_rate(optarg, &replay.rate) || replay.rate < 1 || replay.rate > RATE_MAX)
        command_usage(&command_replay, "--rate \"%s\" is not a rate; examples are 500MB/s and 1.2GiB/s", optarg);
      break;
    case TO: replay.to = optarg; break;
    default: loop = true;
    }
  }
  char **named = command_words(&command_replay, count, words, 2, "replay takes a TARGET and the PATH of a file on it");
  volume_open(&volume, named[0], TARGET_READ);
  open_output(&replay);
  (void)clock_gettime(CLOCK_MONOTONIC, &replay.begun);
  do
    if (reading_file(&volume, named[1], take, &replay, &bytes) != SPATE_OK) exit(EXIT_FAILED);
  while (loop && bytes > 0);
  volume_close(&volume);
  return EXIT_DONE;
}

const struct command command_replay = {
    "replay", "play a recording at a given rate, into a pipe, a FIFO or a character device",
    "Usage: spate replay TARGET PATH [options]\n"
    "\n"
    "Writes a recording to standard output as a sensor would send it: evenly, at the given rate. If the reader is\n"
    "slower, the delay stays: replay does not catch up.\n"
    "\n"
    "  --rate RATE            500MB/s (default: as fast as the reader accepts it)\n"
    "  --to FILE              write to this FIFO or character device, which must exist, instead of standard output.\n"
    "                         Files and drives are refused: spate extract copies to a file\n"
    "  --loop                 repeat from the beginning until it is stopped\n" HELP_COMMON "\n"
    "  spate replay /dev/nvme0n1 flight/camera.raw --rate 600MB/s | decoder\n",
    run};
