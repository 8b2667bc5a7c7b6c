/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_ARGUMENTS_H
#define SPATE_PORTS_ARGUMENTS_H

/* The value of `name=value` among the words of `line`, which are separated by blanks or, once found, ended by NUL:
 * the blank after a value becomes one, so the value stays valid as long as the line. NULL: not there. */
const char *arguments_find(char *line, const char *line_end, const char *name);

#endif
