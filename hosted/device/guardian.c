/* SPDX-License-Identifier: Apache-2.0 */
#include "guardian.h"

#include "../text/fail.h"
#include "config_space.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Standard files and all others are the program's: a pipe that it had would stay open with this process. */
static void keep_only(const int *kept, size_t count) {
  int from = 0;

  for (size_t i = 0; i < count; i++) { /* ascending */
    if (kept[i] > from) (void)syscall(SYS_close_range, from, kept[i] - 1, 0);
    from = kept[i] + 1;
  }
  (void)syscall(SYS_close_range, from, ~0U, 0);
}

static void sort(int *fds, size_t count) {
  for (size_t i = 1; i < count; i++)
    for (size_t k = i; k > 0 && fds[k] < fds[k - 1]; k--) {
      const int fd = fds[k];
      fds[k] = fds[k - 1];
      fds[k - 1] = fd;
    }
}

/* Signals of the terminal, and of whoever ends the program, are not for it. */
__attribute__((noreturn)) static void guard(int end, int config_fd, int memory_fd) {
  int kept[] = {end, config_fd, memory_fd};
  sigset_t all;
  char byte;

  (void)setsid();
  (void)sigfillset(&all);
  (void)sigprocmask(SIG_SETMASK, &all, NULL);
  sort(kept, sizeof kept / sizeof kept[0]);
  keep_only(kept, sizeof kept / sizeof kept[0]);
  while (read(end, &byte, 1) < 0 && errno == EINTR) {
  }
  (void)config_space_off(config_fd, 0);
  _exit(0);
}

void guardian_start(struct guardian *guardian, int config_fd, int memory_fd) {
  int ends[2];

  if (pipe2(ends, O_CLOEXEC) != 0) fail(EXIT_FAILED, "pipe: %s", strerror(errno));
  /* Twice, so that its end leaves no trace in the program. */
  const pid_t middle = fork();
  if (middle < 0) fail(EXIT_FAILED, "fork: %s", strerror(errno));
  if (middle == 0) {
    const pid_t last = fork();
    if (last == 0) guard(ends[0], config_fd, memory_fd);
    _exit(last < 0 ? 1 : 0);
  }
  int status = 0;
  while (waitpid(middle, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) fail(EXIT_FAILED, "fork: a second process cannot be made");
  (void)close(ends[0]);
  guardian->alive = ends[1];
}

void guardian_end(struct guardian *guardian) {
  if (guardian->alive >= 0) (void)close(guardian->alive);
  guardian->alive = -1;
}
