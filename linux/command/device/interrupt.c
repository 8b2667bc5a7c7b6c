/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include "../text/fail.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define NAP_NS 50000L

static volatile sig_atomic_t caught;
static bool catching;

static void note(int number) { caught = number; }

void interrupt_catch(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  const struct sigaction action = {.sa_handler = note};

  if (catching) return;
  catching = true;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (sigaction(numbers[i], &action, NULL) != 0) fail(EXIT_FAILED, "signals: %s", strerror(errno));
}

void interrupt_check(void) {
  const int number = caught;

  caught = 0; /* so that the loops of exit handlers are not interrupted again */
  if (number != 0) fail(EXIT_FAILED, "ended by a signal: %s", strsignal(number));
}

void interrupt_nap(void *context) {
  const struct timespec nap = {.tv_nsec = NAP_NS};

  (void)context;
  interrupt_check();
  (void)nanosleep(&nap, NULL); /* a signal may end it early */
}
