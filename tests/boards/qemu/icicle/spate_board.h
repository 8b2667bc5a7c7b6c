/* SPDX-License-Identifier: Apache-2.0 */
/* The library's port for test_riscv.py: see board.c. */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#define SPATE_PORT_COHERENT         1
#define SPATE_PORT_TICKS_PER_SECOND 1000000
#define SPATE_PORT_MTIME_ADDRESS    0x0200bff8
#include <spate/port/riscv64.h>
#include <spate/port/same_address.h>

#endif
