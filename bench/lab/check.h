/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the files contain what was recorded. The files of a stream, one after the other, are the clip: page n
 * carries stamp n. The library finds the files by name through exFAT's own structures. */
#ifndef SPATE_LAB_CHECK_H
#define SPATE_LAB_CHECK_H

#include "machine.h"
#include <spate/loop.h>

#define LAB_FILE "CLIP.RAW" /* the recorder names the next ones CLIP_0002.RAW and so on */

/* Plays every file by DMA into the ring, at the drive's speed, and checks the stamps there. Writes "read". */
void lab_check_read(struct lab_machine *machine, struct spate_exfat *volume, uint64_t bytes, struct json *json);

/* Checks every page of every file in the simulated drives' contents. Writes "walk". */
void lab_check_walk(struct lab_machine *machine, struct spate_exfat *volume, uint64_t bytes, struct json *json);

/* The same for the parts that a closed loop has left: they are the end of the stream. */
void lab_check_round(struct lab_machine *machine, const struct spate_loop *loop, uint64_t bytes, struct json *json);

#endif
