/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime(), nanosleep() */
#include "linux_port.h"

#include <inttypes.h>
#include <spate/port.h>
#include <stdio.h>
#include <time.h>

#define NAP_NS 50000L

uint64_t spate_linux_dma_offset;
const struct linux_machine *spate_linux_machine;
static void (*wait_for_device)(void *context);
static void *wait_context;
static bool verbose;

void linux_port_wait(void (*wait)(void *context), void *context) {
  wait_for_device = wait;
  wait_context = context;
}

void linux_port_machine(const struct linux_machine *machine) { spate_linux_machine = machine; }

void linux_port_dma_offset(uint64_t offset_bytes) { spate_linux_dma_offset = offset_bytes; }

void linux_port_verbose(bool on) { verbose = on; }

uint64_t spate_linux_ticks(void) {
  struct timespec now;

  if (spate_linux_simulated()) return spate_linux_machine->ticks();
  (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists, and `now` is valid memory */
  return (uint64_t)now.tv_sec * SPATE_LINUX_TICKS_PER_SECOND + (uint64_t)now.tv_nsec;
}

void spate_linux_relax(void) {
  if (spate_linux_simulated()) {
    spate_linux_machine->relax();
    return;
  }
  if (wait_for_device != NULL) {
    wait_for_device(wait_context);
    return;
  }
  const struct timespec nap = {.tv_nsec = NAP_NS};
  (void)nanosleep(&nap, NULL); /* a signal may end it early, which does no harm */
}

void spate_linux_log(const char *text, uint64_t value) {
  if (verbose) (void)fprintf(stderr, "spate: %s %" PRIu64 "\n", text, value);
}
