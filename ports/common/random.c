/* SPDX-License-Identifier: Apache-2.0 */
#include "../board.h"

#include <spate/port.h>

/* For boards without a random number generator. Boots differ in the wall clock, if there is one, and in the time since
 * the start. The multiplications spread both over all bits. Weak: a board with a generator defines its own function. */
__attribute__((weak)) uint64_t board_random(void) {
  static uint64_t state;
  struct spate_exfat_time now = {0};

  board_now(NULL, &now);
  const uint64_t day = (now.year * UINT64_C(12) + now.month) * 31u + now.day;
  const uint64_t second = ((day * 24u + now.hour) * 60u + now.minute) * 60u + now.second;
  state ^= second << 32 ^ spate_port_ticks();
  state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t mixed = state;
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ mixed >> 31;
}
