/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream needs on a drive, as a program: spate-plan, and `spate plan`. */
#ifndef SPATE_LAB_PLAN_H
#define SPATE_LAB_PLAN_H

/* `name` is what the user has typed, `common` the lines of its help on options that it shares with others:
 * --output-format=json, -h. words[0] is not looked at. The exit status: 0 the stream is sustained, 1 it
 * overruns; ends the program with 2 when the question was wrong. */
int plan_run(const char *name, const char *common, int count, char **words);

#endif
