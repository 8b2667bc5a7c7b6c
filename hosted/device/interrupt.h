/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that has taken a drive from the kernel ends by its exit handlers, which give the drive back. So a signal
 * that would end it at once is only noted, and found in the loops that take time.
 */
#ifndef SPATE_HOSTED_INTERRUPT_H
#define SPATE_HOSTED_INTERRUPT_H

/* Note SIGINT, SIGTERM and SIGHUP from now on. Whoever handles them otherwise does so afterwards. */
void interrupt_catch(void);
/* Ends the program, by fail(), if one came. Never where it would leave a recording open: that has handlers of its own.
 */
void interrupt_check(void);
/* linux_port_wait(): a nap, and the same check. */
void interrupt_nap(void *context);

#endif
