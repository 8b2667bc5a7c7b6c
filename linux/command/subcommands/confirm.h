/* SPDX-License-Identifier: Apache-2.0 */
/* Before data are lost: shows which drive it is and what is on it, and asks for confirmation. */
#ifndef SPATE_COMMAND_CONFIRM_H
#define SPATE_COMMAND_CONFIRM_H

#include "../target/target.h"

/* Prints what the target is (size, model, serial number) and what is on it, on standard error. Returns true if
 * something is on it. For a target without a block, its members or its controller are described. */
bool confirm_describe(const struct target *target);

/* Asks on a terminal; without a terminal it refuses. With `yes` it returns at once. `verb` names the action: "format".
 * Ends the program unless the answer is yes. */
void confirm(const char *name, const char *verb, bool yes);

#endif
