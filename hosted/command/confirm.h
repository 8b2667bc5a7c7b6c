/* SPDX-License-Identifier: Apache-2.0 */
/* Before something is lost: which drive it is, what is on it, and a question. */
#ifndef SPATE_HOSTED_CONFIRM_H
#define SPATE_HOSTED_CONFIRM_H

#include "../target/target.h"

/* What the target is (size, model, serial) and what is on it, on standard error. True: something is on it. A target
 * without a block is described by its members or its controller. */
bool confirm_describe(const struct target *target);

/* Asks on a terminal; elsewhere refuses. With `yes` neither. `verb` is what is about to be done: "format". Ends the
 * program unless the answer is yes. */
void confirm(const char *name, const char *verb, bool yes);

#endif
