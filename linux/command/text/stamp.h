/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a time in a name: "CAM_%Y%m%dT%H%M%SZ.raw". The time is UTC, so that names never repeat when clocks are set
 * back in autumn, and sort by time. */
#ifndef SPATE_COMMAND_STAMP_H
#define SPATE_COMMAND_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* Writes the name with the fields of `time` filled in: %Y %m %d %H %M %S %j %s, and %% for a percent sign. Returns
 * NULL, or what is wrong with the pattern: "has a %k in it, which is no field of a time". The text is valid until the
 * next call. */
const char *stamp_name(const char *pattern, time_t time, char *name, size_t name_bytes);

/* Does the pattern have a field? */
bool stamp_has_fields(const char *pattern);

#endif
