/* SPDX-License-Identifier: Apache-2.0 */
#include "bus_error.h"

#include "../text/fail.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static struct watched {
  uint8_t *mapping; /* NULL: not in use */
  size_t bytes;
  volatile sig_atomic_t replaced;
} watched[BUS_ERROR_MAPPINGS_MAX];

/* Calls mmap and memset in a signal handler. That is safe: the first is a system call, the second uses no shared state.
 */
static void replace(int number, siginfo_t *info, void *context) {
  uint8_t *at = info->si_addr;

  (void)context;
  for (size_t i = 0; i < BUS_ERROR_MAPPINGS_MAX; i++) {
    struct watched *one = &watched[i];
    if (one->mapping == NULL || at < one->mapping || at >= one->mapping + one->bytes) continue;
    const int error = errno;
    void *ones = mmap(one->mapping, one->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = error;
    if (ones == MAP_FAILED) break;
    memset(ones, 0xff, one->bytes);
    one->replaced = 1;
    return;
  }
  /* Not a watched mapping: the access is repeated with the default action, which ends the program. */
  (void)signal(number, SIG_DFL);
}

static struct watched *find(const void *mapping) {
  for (size_t i = 0; i < BUS_ERROR_MAPPINGS_MAX; i++)
    if (watched[i].mapping == mapping) return &watched[i];
  return NULL;
}

void bus_error_watch(void *mapping, size_t bytes) {
  const struct sigaction action = {.sa_sigaction = replace, .sa_flags = SA_SIGINFO};
  struct watched *one = find(mapping);

  if (one == NULL) one = find(NULL);
  if (one == NULL) fail(EXIT_FAILED, "at most %u drives and rings at once", BUS_ERROR_MAPPINGS_MAX);
  if (sigaction(SIGBUS, &action, NULL) != 0) fail(EXIT_FAILED, "signals: %s", strerror(errno));
  *one = (struct watched){.mapping = mapping, .bytes = bytes};
}

void bus_error_forget(void *mapping) {
  struct watched *one = find(mapping);

  if (one != NULL) *one = (struct watched){.mapping = NULL};
}

bool bus_error_replaced(const void *mapping) {
  const struct watched *one = find(mapping);

  return one != NULL && one->replaced != 0;
}
