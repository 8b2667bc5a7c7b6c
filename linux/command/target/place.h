/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a drive in a target's name: after the address, /n2 is a namespace and /n1p3 a partition of one. After
 * an image file, /p3 is a partition. */
#ifndef SPATE_COMMAND_PLACE_H
#define SPATE_COMMAND_PLACE_H

#include "target.h"

/* Parses `length` characters of `words`, and sets target->nsid and target->partition.number. Returns the length of the
 * part before the '/'. Ends the program on a wrong notation. */
size_t place_parse(struct target *target, const char *words, size_t length);

/* The path of a file in a target's name, without the partition of an image: `path` has PATH_MAX bytes. `number`: of the
 * partition; 0: none. */
void place_of_image(const char *name, char *path, unsigned *number);

/* Ends the program if the caller uses the whole drive (TARGET_FUNCTION) and the name has a namespace or a partition:
 * otherwise the program would ignore it and write to more than the user meant. Call it before the drive is opened. */
void place_check(const struct target *target, enum target_access access);

/* Replaces the block of the target by that of its partition, if the name has one. Ends the program if there
 * is no such partition. */
void place_narrow(struct target *target);

#endif
