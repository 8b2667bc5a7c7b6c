/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A drive that is gone reads as all ones, as on a board. Under Linux a mapped register is then no memory at all, and
 * reading it is SIGBUS. This makes all ones of it: the pages are replaced by ordinary ones, full of ones. The same goes
 * for memory of another process's that this process cuts off.
 */
#ifndef SPATE_HOSTED_BUS_ERROR_H
#define SPATE_HOSTED_BUS_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#define BUS_ERROR_MAPPINGS_MAX 24u /* eight drives, and eight rings of two mappings */

/* Registers or memory mapped at a multiple of the page, until bus_error_forget(). Ends the program when there are too
 * many. */
void bus_error_watch(void *mapping, size_t bytes);
void bus_error_forget(void *mapping);
/* Were the registers replaced since they were last watched? Then they have to be mapped anew, at the same place. */
bool bus_error_replaced(const void *mapping);

#endif
