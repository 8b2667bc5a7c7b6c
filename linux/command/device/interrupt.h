/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that has taken a drive from the kernel must end through its exit handlers, which give the drive back. So
 * signal handlers only note the signal, and long loops check for it.
 */
#ifndef SPATE_COMMAND_INTERRUPT_H
#define SPATE_COMMAND_INTERRUPT_H

/* Notes SIGINT, SIGTERM and SIGHUP from now on. Code with its own handlers must install them afterwards. */
void interrupt_catch(void);
/* Ends the program by fail() if a signal was noted. A recording has its own handlers, so this never ends one. */
void interrupt_check(void);
/* For linux_port_wait(): sleeps for a moment, with the same check. */
void interrupt_nap(void *context);

#endif
