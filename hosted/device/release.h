/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_HOSTED_RELEASE_H
#define SPATE_HOSTED_RELEASE_H

#include <stdbool.h>

/* Give a function back that a killed program had taken from the kernel's driver. False: nobody had. Ends the program
 * when it is in use, or does not go back. */
bool release_device(const char *address);

#endif
