/* SPDX-License-Identifier: Apache-2.0 */
/* Has a running recorder keep what it recorded. */
#include "../recording/ask.h"
#include "../target/target.h"
#include "../text/json.h"
#include "command.h"

#include <stdio.h>

static const struct option options[] = {OPTIONS_COMMON};

__attribute__((noreturn)) static void refuse(const char *target) {
  char why[TARGET_WHY_BYTES];

  if (!target_in_use(target, why, sizeof why)) fail(EXIT_FAILED, "nobody records to %s with --keep", target);
  fail(EXIT_FAILED,
       "nobody records to %s with --keep within reach of this command, but it %s. Name the target as the recorder "
       "does. To a recorder in a container send SIGUSR1",
       target, why);
}

static void print(const struct reply *reply) {
  switch (reply->state) {
  case REPLY_KEPT: (void)printf("%s\n", reply->path); break;
  case REPLY_EXTENDED: (void)printf("%s becomes longer\n", reply->path); break;
  case REPLY_WAITING: (void)printf("%s: kept as soon as there is room for it\n", reply->stream); break;
  case REPLY_FAILED: fail_tell("%s: nothing is kept: %s. %s", reply->stream, reply->error, reply->help); break;
  }
}

static void string_or_null(struct json *json, const char *name, const char *text) {
  if (text[0] != '\0')
    json_string(json, name, text);
  else
    json_null(json, name);
}

static void write_json(struct json *json, const struct reply *reply) {
  json_open(json, NULL, '{');
  json_string(json, "stream", reply->stream);
  string_or_null(json, "path", reply->path);
  json_string(json, "state", reply_name(reply->state));
  string_or_null(json, "error", reply->error);
  json_close(json, '}');
}

/* False: that is no reply. */
static bool report(char *text) {
  struct json json = {.to = stdout};
  struct reply reply;

  if (!reply_take(&text, &reply)) return false;
  if (command_json) json_open(&json, NULL, '{');
  if (command_json) json_open(&json, "files", '[');
  do {
    if (command_json) write_json(&json, &reply);
    if (!command_json || reply.state == REPLY_FAILED) print(&reply);
  } while (reply_take(&text, &reply));
  if (command_json) json_close(&json, ']');
  if (command_json) json_close(&json, '}');
  return true;
}

static enum exit_status run(int count, char **words) {
  char text[CONTROL_TEXT_BYTES];

  while (command_option(&command_trigger, count, words, options) != -1) {
  }
  const char *target = command_words(&command_trigger, count, words, 1, "trigger takes a TARGET")[0];
  const enum answer answer = ask(target, CONTROL_TRIGGER, "", text);
  if (answer == ANSWER_NOBODY) refuse(target);
  if (answer == ANSWER_REFUSED) fail(EXIT_FAILED, "%s: %s", target, text);
  if (!report(text))
    fail(EXIT_FAILED, "%s: the recorder's reply is not understood: is it another version of spate?", target);
  return answer == ANSWER_DONE ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_trigger = {
    "trigger", "keep what a running recorder has recorded",
    "Usage: spate trigger TARGET [options]\n"
    "\n"
    "Tells a running spate record TARGET --keep to keep the time before and after this moment (--before,\n"
    "--after) as one file, and prints its path, for each stream. The file is complete when the time after is over. If "
    "a\n"
    "file is being kept already, it becomes longer. Works for the user of the recorder and for root, on this "
    "machine\n"
    "and in the recorder's network namespace. The signal SIGUSR1 does the same without a reply. A FIFO or datagrams "
    "of\n"
    "spate record --trigger work for every user who may write to the FIFO or reach the port.\n"
    "\n"
    "Exit status: 0 kept, or kept as soon as there is room for it; 1 a stream keeps nothing, or nobody records.\n"
    "\n" HELP_COMMON "\n"
    "  spate trigger /dev/nvme0n1\n",
    run};
