/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_ARGUMENTS_H
#define SPATE_PORTS_ARGUMENTS_H

/* The value of `name=value` among the words of `line`. Words are separated by blanks or NULs. The blank after a value
 * that was found becomes a NUL, so the value stays valid as long as the line. NULL: there is none. */
const char *arguments_find(char *line, const char *line_end, const char *name);

#endif
