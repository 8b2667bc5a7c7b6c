/* SPDX-License-Identifier: Apache-2.0 */
#include "guardian.h"

#include "../text/fail.h"
#include "config_space.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two pipes. `alive` closes when the program ends, `gone` when the guardian ends. */
struct pipes {
  int alive[2], gone[2];
};

/* Closes all other files of the program: a pipe that stays open here would never end for its reader. */
static void keep_only(const struct guarded *guarded, const struct pipes *pipes) {
  const int kept[] = {pipes->alive[0], pipes->gone[1], guarded->config_fd, guarded->reset_fd, guarded->memory_fd};
  const long most = sysconf(_SC_OPEN_MAX);

  for (int fd = 0; fd < most; fd++) {
    bool keep = false;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
      keep |= kept[i] == fd;
    if (!keep) (void)close(fd);
  }
}

/* A byte means that there is nothing to do. An end of file without a byte means that the program has died. */
static bool program_died(int alive) {
  char byte;
  ssize_t got;

  do
    got = read(alive, &byte, 1);
  while (got < 0 && errno == EINTR);
  return got <= 0;
}

/* The guardian has its own session and blocks all signals: those that end the program must not end it. */
__attribute__((noreturn)) static void guard(const struct guarded *guarded, const struct pipes *pipes) {
  sigset_t all;

  (void)setsid();
  (void)sigfillset(&all);
  (void)sigprocmask(SIG_SETMASK, &all, NULL);
  keep_only(guarded, pipes);
  if (program_died(pipes->alive[0])) {
    (void)config_space_off(guarded->config_fd, 0);
    /* Without the reset, the drive would continue its requests when its next driver turns bus mastering on. */
    if (guarded->reset_fd >= 0) {
      const ssize_t written = write(guarded->reset_fd, "1", 1);
      (void)written; /* nobody could report an error */
    }
  }
  _exit(0);
}

static void wait_for(pid_t child, int *status) {
  while (waitpid(child, status, 0) < 0 && errno == EINTR) {
  }
}

void guardian_start(struct guardian *guardian, const struct guarded *guarded) {
  struct pipes pipes;
  int status = 0;

  if (pipe2(pipes.alive, O_CLOEXEC) != 0 || pipe2(pipes.gone, O_CLOEXEC) != 0)
    fail(EXIT_FAILED, "pipe: %s", strerror(errno));
  /* Forks twice, so that the guardian is not a child of the program, which need not wait for it. */
  const pid_t middle = fork();
  if (middle < 0) fail(EXIT_FAILED, "fork: %s", strerror(errno));
  if (middle == 0) {
    const pid_t last = fork();
    if (last == 0) guard(guarded, &pipes);
    _exit(last < 0 ? 1 : 0);
  }
  wait_for(middle, &status);
  if (status != 0) fail(EXIT_FAILED, "fork: the guardian process cannot be started");
  (void)close(pipes.alive[0]);
  (void)close(pipes.gone[1]);
  *guardian = (struct guardian){.alive = pipes.alive[1], .gone = pipes.gone[0]};
}

void guardian_end(struct guardian *guardian) {
  char byte;

  if (guardian->alive < 0) return;
  const ssize_t written = write(guardian->alive, "", 1);
  (void)written; /* fails only if the guardian was killed, and then there is nothing to end */
  (void)close(guardian->alive);
  while (read(guardian->gone, &byte, 1) < 0 && errno == EINTR) {
  }
  (void)close(guardian->gone);
  guardian->alive = guardian->gone = -1;
}
