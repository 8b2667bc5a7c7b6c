/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the library's events on the board's console, for ports whose spate_board.h declares spate_port_log(). This
 * file does not include that header, because another port may define the function there. */
#include "print.h"

#include <stdint.h>

void spate_port_log(const char *text, uint64_t value);

/* Weak: a board may define its own. */
__attribute__((weak)) void spate_port_log(const char *text, uint64_t value) {
  print("spate: %s %ju\n", text, (uintmax_t)value);
}
