/* SPDX-License-Identifier: Apache-2.0 */
/* Names of new files, which every system has to be able to open. */
#ifndef SPATE_COMMAND_NAMES_H
#define SPATE_COMMAND_NAMES_H

/* Why no file of this path can be made, or Windows could not open it: "has a \":\" in it, which exFAT does not allow".
 * NULL: it is good. The text is valid until the next call. */
const char *names_problem(const char *path);

#endif
