/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FatFs's disk layer on a virtual drive, as in the fastest known firmware built on it. Writes of the stream, recognised
 * by their address in the ring, are queued without waiting, up to a given number in flight. Everything else waits for
 * its own completion and for all that was queued before it. A read first waits until all writes have completed. /
 */
#ifndef SPATE_LAB_DISK_H
#define SPATE_LAB_DISK_H

#include <machine.h>

void disk_attach(struct lab_machine *machine);
void disk_detach(void);

/* Bytes of the stream that have completed. */
uint64_t disk_completed_bytes(void);

/* Reaps completions. If there are none, waits for the next event, but at most `most_ps`. */
void disk_work(uint64_t most_ps);

/* Waits until the piece of the ring at `offset` can be filled again. */
void disk_wait_piece(uint64_t offset);

/* Waits for everything in flight. */
void disk_drain(void);

#endif
