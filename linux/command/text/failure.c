/* SPDX-License-Identifier: Apache-2.0 */
#include "failure.h"

#include <errno.h>
#include <stdbool.h>

static int refused; /* errno of the last refused request; 0: none was refused */

static bool is_full(void) { return refused == ENOSPC || refused == EDQUOT; }

void failure_note(int error) { refused = error; }

enum spate_error failure_of(enum spate_error error) {
  return error == SPATE_E_COMMAND && is_full() ? SPATE_E_NO_SPACE : error;
}

const char *failure_help(enum spate_error error) {
  if (failure_of(error) == SPATE_E_NO_SPACE && is_full())
    return "The file system or the pool that holds the target is full: free some space there, or move the target.";
  if (error == SPATE_E_COMMAND && refused != 0) return "The system refused a request: its message is above.";
  return spate_error_help(error);
}
