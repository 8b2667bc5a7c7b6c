/* SPDX-License-Identifier: Apache-2.0 */
/* An eventfd with which one thread wakes another. */
#ifndef SPATE_COMMAND_EVENT_H
#define SPATE_COMMAND_EVENT_H

/* Ends the program if there is none. */
int event_open(void);
void event_raise(int fd);
void event_clear(int fd);

#endif
