/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream needs on a drive that is known: the ring, the queue depth, how long it goes well. */
#include "../../lab/plan.h"

#include "command.h"

static enum exit_status run(int count, char **words) {
  return plan_run("spate plan", HELP_COMMON, count, words) == 0 ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_plan = {"plan", "what a stream needs on a drive: ring, queue depth, how long it lasts", "",
                                     run};
