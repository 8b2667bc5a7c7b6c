/* SPDX-License-Identifier: Apache-2.0 */
/* EL2 can raise a virtual SError, which no emulated device does. So this works where the firmware was started in EL2.
 */
#include "../../board.h"
#include "start.h"

bool board_provoke_late_error(const volatile void *address) {
  if (start_level != 2) return false;
  register uintptr_t argument __asm__("x0") = (uintptr_t)address;
  __asm__ volatile("hvc #0" : "+r"(argument)::"memory");
  return true;
}
