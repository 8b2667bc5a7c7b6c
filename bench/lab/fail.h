/* SPDX-License-Identifier: Apache-2.0 */
/* When an experiment cannot continue, it prints a sentence and ends the program with status 2. */
#ifndef SPATE_LAB_FAIL_H
#define SPATE_LAB_FAIL_H

__attribute__((noreturn, format(printf, 1, 2))) void lab_fail(const char *format, ...);

#endif
