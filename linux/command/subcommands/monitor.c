/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the recording of a board: reads the lines of spate_stream_report() and serves the page. */
#include "../monitor/monitor.h"
#include "../source/udp_socket.h"
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS    20
#define LINE_BYTES 4096u
#define READS_MAX  64u /* in a turn: a source that sends all the time must not keep the page waiting */

enum { AT = 1000 };

static const struct option options[] = {{"at", required_argument, NULL, AT}, OPTIONS_COMMON};

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
  (void)number;
  interrupted = 1;
}

static void catch_signals(void) {
  const struct sigaction end = {.sa_handler = on_signal};

  if (sigaction(SIGINT, &end, NULL) != 0 || sigaction(SIGTERM, &end, NULL) != 0 || sigaction(SIGHUP, &end, NULL) != 0)
    fail(EXIT_FAILED, "signals: %s", strerror(errno));
}

struct input {
  int fd; /* −1: it has ended */
  bool datagrams;
  char line[LINE_BYTES];
  size_t used;
  bool too_long; /* the rest of the line is not kept */
};

static void open_input(struct input *input, const char *name) {
  struct stat about;
  int error = 0;

  input->datagrams = udp_socket_is(name);
  if (input->datagrams) {
    error = udp_socket_open(name, &input->fd);
  } else if (strcmp(name, "-") == 0) {
    input->fd = STDIN_FILENO;
  } else {
    /* A FIFO opened for writing too does not end with its first writer. */
    const bool fifo = stat(name, &about) == 0 && S_ISFIFO(about.st_mode);
    input->fd = open(name, (fifo ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (input->fd < 0) error = errno;
  }
  if (error != 0) fail(EXIT_FAILED, "%s: %s", name, strerror(error));
}

/* Passes on the whole lines of what came. */
static void take(struct input *input, struct monitor *monitor, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (bytes[i] != '\n') {
      if (input->used < LINE_BYTES)
        input->line[input->used++] = bytes[i];
      else
        input->too_long = true;
      continue;
    }
    if (input->used > 0) monitor_line(monitor, input->line, input->too_long ? LINE_BYTES : input->used);
    input->used = 0;
    input->too_long = false;
  }
}

/* False: there is no more now. */
static bool read_some(struct input *input, struct monitor *monitor) {
  char bytes[65536];
  const ssize_t got = read(input->fd, bytes, input->datagrams ? sizeof bytes : 4096);

  if (got > 0 || (got == 0 && input->datagrams)) {
    take(input, monitor, bytes, (size_t)got);
    if (input->datagrams) take(input, monitor, "\n", 1); /* a line does not continue in the next datagram */
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  fail_tell("the input has ended%s%s", got < 0 ? ": " : "", got < 0 ? strerror(errno) : "");
  take(input, monitor, "\n", 1);
  input->fd = -1; /* the page shows what came last, and that it is old */
  return false;
}

static void turn(struct input *input, struct monitor *monitor) {
  struct pollfd ready = {.fd = input->fd, .events = POLLIN};

  if (poll(&ready, 1, WAIT_MS) > 0) {
    for (unsigned i = 0; i < READS_MAX && input->fd >= 0; i++) {
      if (!read_some(input, monitor)) break;
      if (poll(&ready, 1, 0) <= 0) break; /* standard input may block */
    }
  }
  monitor_turn(monitor);
}

static enum exit_status run(int count, char **words) {
  static struct input input;
  const char *address = NULL;

  for (int option; (option = command_option(&command_monitor, count, words, options)) != -1;)
    if (option == AT) address = optarg;
  const char *name = *command_words(&command_monitor, count, words, 1, "monitor takes one SOURCE");
  if (address == NULL) command_usage(&command_monitor, "name an address with --at, for example --at 9000");
  struct monitor *monitor = monitor_open(address);
  open_input(&input, name);
  catch_signals();
  while (!interrupted)
    turn(&input, monitor);
  monitor_close(monitor);
  return EXIT_DONE;
}

const struct command command_monitor = {
    "monitor", "show the recording of a board in a browser",
    "Usage: spate monitor SOURCE --at ADDRESS [options]\n"
    "\n"
    "Reads the lines that firmware writes with spate_stream_report(), and shows them at http://ADDRESS/ and, under\n"
    "/metrics, to Prometheus. Ctrl-C ends it. Other lines are skipped and counted. The settings of a\n"
    "serial device are those of stty.\n"
    "\n"
    "SOURCE is a serial device, a FIFO, a file, - (standard input) or udp:[ADDRESS:]PORT.\n"
    "\n"
    "  --at ADDRESS           PORT, 127.0.0.1:PORT, [::1]:PORT; other computers reach it only at another "
    "address\n" HELP_COMMON "\n"
    "  spate monitor /dev/ttyUSB0 --at 9000\n"
    "  spate monitor udp:5000 --at 127.0.0.1:9000\n"
    "\n"
    "Exit status: 0 ended by Ctrl-C, 1 failed, 2 usage.\n",
    run};
