/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_COMMAND_RELEASE_H
#define SPATE_COMMAND_RELEASE_H

#include <stdbool.h>

/* Gives a function back that a killed program had taken from the kernel's driver. False: it was not taken. Ends the
 * program if the function is in use, or does not go back. */
bool release_device(const char *address);

#endif
