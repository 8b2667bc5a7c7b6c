/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spate-lab EXPERIMENT --option value ...: the library on virtual drives, one experiment, one JSON document on standard
 * output. bench/lab.py runs them all. Options with their defaults: options.c.
 */
#include "experiments.h"

#include <string.h>

static const struct {
  const char *name;
  void (*run)(const struct lab_options *options, struct json *json);
} experiments[] = {{"raw", lab_raw}, {"files", lab_files}, {"profiles", lab_profiles}};

int main(int count, char **words) {
  struct lab_options options;
  struct json json = {.to = stdout};

  lab_options_parse(&options, count, words);
  for (size_t i = 0; i < sizeof experiments / sizeof experiments[0]; i++) {
    if (strcmp(options.experiment, experiments[i].name) != 0) continue;
    json_open(&json, NULL, '{');
    json_string(&json, "experiment", options.experiment);
    lab_options_write(&options, &json);
    experiments[i].run(&options, &json);
    json_close(&json, '}');
    return 0;
  }
  lab_fail("there is no experiment \"%s\": raw, files or profiles", options.experiment);
}
