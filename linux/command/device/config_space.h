/* SPDX-License-Identifier: Apache-2.0 */
/* The command register in a function's configuration space (base specification 4.0, 7.5.1.1), through a file: VFIO's,
 * at an offset, or the one in sysfs. */
#ifndef SPATE_COMMAND_CONFIG_SPACE_H
#define SPATE_COMMAND_CONFIG_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* True if the function answers. */
bool config_space_answers(int fd, uint64_t offset_bytes);
/* Turns memory space and bus mastering on, without which a drive does not start (CSTS.CFS), and INTx off, because the
 * library polls. False: the function did not accept it. */
bool config_space_on(int fd, uint64_t offset_bytes);
/* Turns memory space on and bus mastering off: the registers can be reached, and the function reaches no memory. */
bool config_space_registers(int fd, uint64_t offset_bytes);
/* Turns bus mastering off, so that the function reaches no memory. False: this is not certain, for example because the
 * function does not answer. */
bool config_space_off(int fd, uint64_t offset_bytes);

#endif
