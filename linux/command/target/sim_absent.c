/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces sim.c on 32-bit machines, because the simulated machine has 64-bit addresses, and in builds without Python.
 */
#include "../text/fail.h"
#include "target_internal.h"

__attribute__((noreturn)) static void refuse(const char *words) {
  fail(EXIT_USAGE, "sim:%s: this spate has no virtual drives. They need a 64-bit machine, and Python 3 to build spate",
       words);
}

void target_announce_sim(const char *words) { refuse(words); }

void target_open_sim(struct target *target, const char *words, enum target_access access) {
  (void)target;
  (void)access;
  refuse(words);
}
