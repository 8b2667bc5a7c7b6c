/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FatFs's disk layer on a virtual drive. There are two: disk.c is that of the fastest firmware published with FatFs,
 * and integration.c is that of integrations/fatfs.
 */
#ifndef SPATE_LAB_DISK_H
#define SPATE_LAB_DISK_H

#include <machine.h>

/* The name of the experiment: record or diskio. */
extern const char *const disk_experiment;

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
