/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

int main(int count, char **words) {
  return plan_run("spate-plan",
                  "  --output-format=json  one JSON document\n"
                  "  -h, --help          this text\n",
                  count, words);
}
