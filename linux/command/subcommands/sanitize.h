/* SPDX-License-Identifier: Apache-2.0 */
/* spate erase --sanitize: starts a sanitize, which the drive carries out by itself, and shows its progress. */
#ifndef SPATE_COMMAND_SANITIZE_H
#define SPATE_COMMAND_SANITIZE_H

#include "../target/target.h"

/* The action of this word: block, crypto, overwrite or exit. False: there is no such word. */
bool sanitize_action(const char *word, unsigned *action);

/*
 * Starts a sanitize, or waits for the one that is running, and returns when it has succeeded. `target` has no block.
 * `action` 0: the first method that the drive supports. `bytes` is the drive's capacity, for the progress. Ends the
 * program if the drive does not support the method, or the sanitize fails.
 */
void sanitize_drive(struct target *target, unsigned action, uint64_t bytes);

/* Prints how the last sanitize ended; waits for one that is running. Starts nothing. Ends the program if the sanitize
 * failed, or the drive does not support Sanitize. */
void sanitize_show(struct target *target, uint64_t bytes);

#endif
