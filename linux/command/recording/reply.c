/* SPDX-License-Identifier: Apache-2.0 */
/* A line has five fields with a tab after each. No path on a volume has a tab or an end of line in it. */
#include "reply.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [REPLY_KEPT] = "kept", [REPLY_EXTENDED] = "extended", [REPLY_WAITING] = "waiting", [REPLY_FAILED] = "failed"};

#define STATES (sizeof names / sizeof names[0])

const char *reply_name(enum reply_state state) { return names[state]; }

void reply_put(char *text, const struct reply *reply) {
  (void)snprintf(text + strlen(text), REPLY_BYTES, "%s\t%s\t%s\t%s\t%s\t\n", names[reply->state], reply->stream,
                 reply->path, reply->error, reply->help);
}

bool reply_take(char **text, struct reply *reply) {
  char *line = strsep(text, "\n");
  size_t state = 0;

  if (line == NULL || *text == NULL) return false;
  const char *name = strsep(&line, "\t");
  reply->stream = strsep(&line, "\t");
  reply->path = strsep(&line, "\t");
  reply->error = strsep(&line, "\t");
  reply->help = strsep(&line, "\t");
  if (line == NULL) return false;
  while (state < STATES && strcmp(names[state], name) != 0)
    state++;
  reply->state = (enum reply_state)state;
  return state < STATES;
}
