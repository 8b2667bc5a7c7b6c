/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FatFs's disk on a virtual drive, as the fastest firmware built on it has it: writes of the stream, known by their
 * address in the ring, are queued and not waited for, up to a given number in flight; everything else waits for itself
 * and for all that was queued before it, and a read lets the writes drain first.
 */
#ifndef SPATE_LAB_DISK_H
#define SPATE_LAB_DISK_H

#include <machine.h>

void disk_attach(struct lab_machine *machine);
void disk_detach(void);

/* Bytes of the stream that have completed. */
uint64_t disk_completed_bytes(void);

/* Reap what has completed, or wait for the next event that may bring something, but at most `most_ps`. */
void disk_work(uint64_t most_ps);

/* Wait until the piece of the ring at `offset` can be filled again. */
void disk_wait_piece(uint64_t offset);

/* Wait for all that is in flight. */
void disk_drain(void);

#endif
