/* SPDX-License-Identifier: Apache-2.0 */
/* The Arm semihosting calls that boards use (Semihosting for AArch32 and AArch64, 2.0). The instruction that makes the
 * call differs, so each board has it in its own assembly. */
#ifndef SPATE_PORTS_SEMIHOSTING_H
#define SPATE_PORTS_SEMIHOSTING_H

#include <stddef.h>
#include <stdint.h>

/* In the board's start.S. `block` is the argument of the call: a pointer to its parameters, or the parameter itself. */
intptr_t semihosting_call(uintptr_t operation, const void *block);

/* The words after arg= in the emulator's -semihosting-config, separated by blanks; empty if there are none. */
void semihosting_command_line(char *text, size_t bytes);

/* Ends the run. Returns if there is no host. */
void semihosting_exit(int status);

#endif
