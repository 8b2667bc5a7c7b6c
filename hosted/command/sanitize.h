/* SPDX-License-Identifier: Apache-2.0 */
/* spate erase --sanitize: the drive erases all that it ever held, by itself, and is watched. */
#ifndef SPATE_HOSTED_SANITIZE_H
#define SPATE_HOSTED_SANITIZE_H

#include "../target/target.h"

/* The action of this word: block, crypto, overwrite or exit. False: there is no such word. */
bool sanitize_action(const char *word, unsigned *action);

/*
 * Starts a sanitize, or joins the one that runs, and returns when it has succeeded. `target` has no block. `action` 0:
 * by the first method that the drive can do. `bytes` is what it holds, for the progress. Ends the program where the
 * drive cannot do it, or has failed.
 */
void sanitize_drive(struct target *target, unsigned action, uint64_t bytes);

/* Says how the last sanitize ended; one that runs is waited for. Starts nothing. Ends the program where it failed, or
 * the drive has no Sanitize. */
void sanitize_show(struct target *target, uint64_t bytes);

#endif
