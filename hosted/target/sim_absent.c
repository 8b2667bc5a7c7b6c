/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces sim.c on 32-bit machines: the simulated machine has 64-bit addresses. */
#include "../text/fail.h"
#include "target_internal.h"

__attribute__((noreturn)) static void refuse(const char *words) {
  fail(EXIT_USAGE, "sim:%s: virtual drives need a 64-bit machine", words);
}

void target_announce_sim(const char *words) { refuse(words); }

void target_open_sim(struct target *target, const char *words, enum target_access access) {
  (void)target;
  (void)access;
  refuse(words);
}
