/* SPDX-License-Identifier: Apache-2.0 */
/* The program that computes what a stream needs on a drive: spate-plan, and `spate plan`. */
#ifndef SPATE_LAB_PLAN_H
#define SPATE_LAB_PLAN_H

/*
 * `name` is the command as the user typed it. `common` has the help lines of the options that it shares with other
 * commands: --output-format=json, -h. words[0] is ignored. Returns the exit status: 0 the stream is sustained, 1 it
 * overruns. Wrong options end the program with 2.
 */
int plan_run(const char *name, const char *common, int count, char **words);

#endif
