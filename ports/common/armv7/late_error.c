/* SPDX-License-Identifier: Apache-2.0 */
/* Hypervisor mode can raise a virtual asynchronous abort, which no emulated device does. So this works where the
 * firmware was started in that mode. */
#include "../../board.h"
#include "start.h"

bool board_provoke_late_error(const volatile void *address) {
  if (start_mode != START_HYPERVISOR) return false;
  register uintptr_t argument __asm__("r0") = (uintptr_t)address;
  __asm__ volatile(".arch_extension virt\n\thvc #0" : "+r"(argument)::"memory");
  return true;
}
