/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the registers of a drive that is gone read as all ones, as on a board. Under Linux an access to the mapped
 * registers of such a drive raises SIGBUS. The handler replaces the pages by ordinary memory that is filled with ones.
 * It does the same for memory shared with another process that truncates the file.
 */
#ifndef SPATE_COMMAND_BUS_ERROR_H
#define SPATE_COMMAND_BUS_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#define BUS_ERROR_MAPPINGS_MAX 24u /* eight drives, and eight rings of two mappings */

/* Watches registers or memory mapped at a multiple of the page, until bus_error_forget(). Ends the program if there are
 * too many. */
void bus_error_watch(void *mapping, size_t bytes);
void bus_error_forget(void *mapping);
/* True if the registers were replaced since they were last watched. Then they must be mapped again, at the same place.
 */
bool bus_error_replaced(const void *mapping);

#endif
