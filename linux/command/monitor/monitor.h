/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows recordings in a browser and to Prometheus: a small HTTP server that only reads. It has no thread and never
 * blocks: monitor_turn() does a bounded amount of work, so that no client can hold up a recording.
 *
 *   server.c    sockets and clients
 *   request.c   what a request asks for
 *   state.c     the newest line of each stream (spate_stream_report())
 *   metrics.c   the text for Prometheus, which the page reads too
 */
#ifndef SPATE_COMMAND_MONITOR_H
#define SPATE_COMMAND_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

struct monitor;

/*
 * ADDRESS is PORT, 127.0.0.1:PORT, localhost:PORT, [::1]:PORT or another numeric address with a port. A port alone is
 * on loopback; port 0 is any free one. Prints the page's URL on standard error. Ends the program if the address is
 * wrong (EXIT_USAGE), or if it cannot be opened (EXIT_FAILED).
 */
struct monitor *monitor_open(const char *address_text);
/* NULL is allowed. */
void monitor_close(struct monitor *monitor);

/* The newest line of a stream, of `length` bytes. A line that is no report is counted. */
void monitor_line(struct monitor *monitor, const char *line, size_t length);

/* Accepts, reads and sends what is possible without waiting, every 20 ms at most. NULL is allowed. */
void monitor_turn(struct monitor *monitor);

#endif
