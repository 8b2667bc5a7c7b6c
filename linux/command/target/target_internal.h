/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of targets, one file each; for a stripe see stripe.h. Each function gets a target with only its name and
 * its memory set, and fills in the rest. It sets the kind of that memory before it takes any. */
#ifndef SPATE_COMMAND_TARGET_INTERNAL_H
#define SPATE_COMMAND_TARGET_INTERNAL_H

#include "target.h"

void target_open_file(struct target *target, enum target_access access, uint32_t block_bytes);
/* `words`: the name without vfio:, pci: or sim:. */
void target_open_vfio(struct target *target, const char *words, enum target_access access);
void target_open_pci(struct target *target, const char *words, enum target_access access);
/* Adds a virtual drive that will be opened. Call it for all of them before the first is opened. */
void target_announce_sim(const char *words);
void target_open_sim(struct target *target, const char *words, enum target_access access);

#endif
