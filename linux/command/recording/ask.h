/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How another program asks a running recorder.
 *
 * Any user can take the name of the socket before the recorder does, and could answer that a span is kept. So a user
 * asks only a recorder of his own. Root asks one of root, one of the target's owner, and one that has the target open
 * for writing: whoever may write to it could destroy all that is recorded there. Root needs /proc for the last one.
 */
#ifndef SPATE_COMMAND_ASK_H
#define SPATE_COMMAND_ASK_H

#include "control.h"

enum answer {
  ANSWER_NOBODY,  /* nobody listens for this target */
  ANSWER_REFUSED, /* somebody does who is not to be asked, or who does not listen to this user; text: why, what to do */
  ANSWER_FAILED,  /* text: what the recorder says */
  ANSWER_DONE,
};

/* Asks the recorder of this target, and waits for its reply. Ends the program if none comes. `path`: of the file to
 * protect, otherwise "". */
enum answer ask(const char *target, enum control_kind kind, const char *path, char text[CONTROL_TEXT_BYTES]);

#endif
