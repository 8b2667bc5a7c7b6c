/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what was recorded in the files? The files of a stream, one behind the other, are the clip: page n of them carries
 * the stamp n. The files are found by their names and by exFAT's own structures, through the library.
 */
#ifndef SPATE_LAB_CHECK_H
#define SPATE_LAB_CHECK_H

#include "machine.h"
#include <spate/exfat.h>

#define LAB_FILE "CLIP.RAW" /* then CLIP_0002.RAW, as the recorder names them */

/* Every file through the player, by DMA into the ring, at the drive's speed; stamps looked at there. Writes "read". */
void lab_check_read(struct lab_machine *machine, struct spate_exfat *volume, uint64_t bytes, struct json *json);

/* Every page of every file, in what the drives hold. Writes "walk". */
void lab_check_walk(struct lab_machine *machine, struct spate_exfat *volume, uint64_t bytes, struct json *json);

#endif
