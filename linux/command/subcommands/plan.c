/* SPDX-License-Identifier: Apache-2.0 */
/* Computes what a stream needs on a drive with a profile: the ring, the queue depth, how long the drive sustains it. */
#include "../../../bench/lab/plan.h"

#include "command.h"

#define HELP_JSON "  --output-format=json   one JSON document on standard output\n" HELP_OF_HELP

static enum exit_status run(int count, char **words) {
  return plan_run("spate plan", HELP_JSON, count, words) == 0 ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_plan = {
    "plan", "compute what a stream needs on a drive: ring, queue depth, how long it lasts", "", run};
