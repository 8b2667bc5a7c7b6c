/* SPDX-License-Identifier: Apache-2.0 */
/* What a trigger has led to, for each stream: lines that the recorder sends to the one who asked. */
#ifndef SPATE_COMMAND_REPLY_H
#define SPATE_COMMAND_REPLY_H

#include <spate/recorder.h>
#include <stdbool.h>
#include <stddef.h>

enum reply_state {
  REPLY_KEPT,     /* is being kept, as a new file */
  REPLY_EXTENDED, /* the file that is being kept becomes longer */
  REPLY_WAITING,  /* is kept as soon as there is room for it */
  REPLY_FAILED,   /* nothing is kept */
};

struct reply {
  enum reply_state state;
  const char *stream; /* the path of the loop */
  const char *path;   /* of the file; "": there is none */
  const char *error;  /* FAILED: its name, and what to do; otherwise "" */
  const char *help;
};

#define REPLY_BYTES (2u * SPATE_RECORDER_PATH_BYTES_MAX + 512u) /* one line at most */

/* "kept", "extended", "waiting" or "failed" */
const char *reply_name(enum reply_state state);

/* Adds a line to `text`, which has room for it: REPLY_BYTES more than what is in it. */
void reply_put(char *text, const struct reply *reply);

/* Takes the next line from *text, which is changed, and stays valid as long as the reply. False: there is none, or
 * it is no reply. */
bool reply_take(char **text, struct reply *reply);

#endif
