/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the instructions that processor 0 retires while a program runs: those of the program, its threads, the kernel,
 * interrupts, and everything else that is awake. An idle processor retires none.
 *
 *   count LABEL PROGRAM ARGUMENTS...      prints "count LABEL user N kernel N switches N interrupts N"
 *
 * The last two are the machine's context switches and interrupts meanwhile. They show the causes of the kernel's part.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INST_RETIRED 0x08u

enum { USER, KERNEL, EVENTS };

__attribute__((noreturn)) static void die(const char *what) {
  (void)fprintf(stderr, "count: %s: %s\n", what, strerror(errno));
  exit(125);
}

static int open_event(int kind, int group) {
  struct perf_event_attr event = {.type = PERF_TYPE_RAW,
                                  .size = sizeof event,
                                  .config = INST_RETIRED,
                                  .disabled = group < 0,
                                  .exclude_user = kind == KERNEL,
                                  .exclude_kernel = kind == USER,
                                  .exclude_hv = 1};
  const long fd = syscall(SYS_perf_event_open, &event, -1, 0, group, PERF_FLAG_FD_CLOEXEC);

  if (fd < 0) die("perf_event_open");
  return (int)fd;
}

static uint64_t value_of(int fd) {
  uint64_t value = 0;

  if (read(fd, &value, sizeof value) != (ssize_t)sizeof value) die("reading a counter");
  return value;
}

/* The first number of a line of /proc/stat: a count since the machine started. */
static uint64_t happened(const char *name) {
  FILE *stat = fopen("/proc/stat", "re");
  char line[128];
  uint64_t value = 0;

  if (stat == NULL) die("/proc/stat");
  while (fgets(line, sizeof line, stat) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) value = strtoull(line + strlen(name), NULL, 10);
  (void)fclose(stat);
  return value;
}

int main(int count, char **words) {
  int events[EVENTS], status = 0;

  if (count < 3) {
    (void)fprintf(stderr, "usage: count LABEL PROGRAM ARGUMENTS...\n");
    return 125;
  }
  events[USER] = open_event(USER, -1);
  events[KERNEL] = open_event(KERNEL, events[USER]);
  const uint64_t switches = happened("ctxt "), interrupts = happened("intr ");
  if (ioctl(events[USER], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) != 0) die("PERF_EVENT_IOC_ENABLE");
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    (void)execvp(words[2], &words[2]);
    die(words[2]);
  }
  if (waitpid(child, &status, 0) != child) die("waitpid");
  if (ioctl(events[USER], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP) != 0) die("PERF_EVENT_IOC_DISABLE");
  (void)printf("count %s user %llu kernel %llu switches %llu interrupts %llu\n", words[1],
               (unsigned long long)value_of(events[USER]), (unsigned long long)value_of(events[KERNEL]),
               (unsigned long long)(happened("ctxt ") - switches),
               (unsigned long long)(happened("intr ") - interrupts));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
