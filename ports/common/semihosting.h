/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Arm semihosting calls a board uses (Semihosting for AArch32 and AArch64, 2.0). The board's own assembly supplies
 * the one instruction that differs.
 */
#ifndef SPATE_PORTS_SEMIHOSTING_H
#define SPATE_PORTS_SEMIHOSTING_H

#include <stddef.h>
#include <stdint.h>

/* In the board's start.S. `block` is the call's argument: a pointer to its parameters, or the parameter itself. */
intptr_t semihosting_call(uintptr_t operation, const void *block);

/* The words after arg= of the emulator's -semihosting-config, separated by blanks, as a string; empty if none. */
void semihosting_command_line(char *text, size_t bytes);

__attribute__((noreturn)) void semihosting_exit(int status);

#endif
