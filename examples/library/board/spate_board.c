/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the port in spate_board.h. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime() */
#include "spate_board.h"

#include <time.h>

uint64_t spate_port_ticks(void) {
  struct timespec now = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * BOARD_TICKS_PER_SECOND + (uint64_t)now.tv_nsec;
}
