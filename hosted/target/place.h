/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a drive a name means: /n2 behind its address is a namespace, /n1p3 a partition of one. */
#ifndef SPATE_HOSTED_PLACE_H
#define SPATE_HOSTED_PLACE_H

#include "target.h"

/* Looks at `length` characters of `words`, fills in target->nsid and target->partition.number, and gives the length of
 * what is in front of the place. Ends the program when it is not written as it should be. */
size_t place_parse(struct target *target, const char *words, size_t length);

/* Ends the program when the caller has the whole drive (TARGET_FUNCTION) and a place is named all the same: it would be
 * left out, and more be written to than was meant. Before the drive is touched. */
void place_check(const struct target *target, enum target_access access);

/* The target's block is that of the namespace: it becomes that of its partition, if one is meant. Ends the program if
 * there is none of that number. */
void place_narrow(struct target *target);

#endif
