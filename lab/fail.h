/* SPDX-License-Identifier: Apache-2.0 */
/* An experiment that cannot go on ends the program with a sentence and status 2. */
#ifndef SPATE_LAB_FAIL_H
#define SPATE_LAB_FAIL_H

__attribute__((noreturn, format(printf, 1, 2))) void lab_fail(const char *format, ...);

#endif
