/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_TESTS_BSP_H
#define SPATE_TESTS_BSP_H

#include <stdint.h>

#define BSP_UNEXPECTED 100 /* exit status: and the number of an exception that nobody handles */

/* What was mapped since the log was cleared. */
struct bsp_log {
  uint64_t first, last, bytes, attributes;
  uint32_t maps, flushes; /* flushes after the last map */
  uint32_t mpu_is_full;
};
extern struct bsp_log bsp_log;

__attribute__((noreturn)) void bsp_exit(int status);

#endif
