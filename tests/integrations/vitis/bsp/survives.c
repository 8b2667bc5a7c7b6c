/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in QEMU: accesses to a bridge that does not answer are survived, everything else goes to the handler that was
 * there before, and memory is mapped as the header says. design.h is that of the machine. */
#include "bsp.h"

#include <design.h>
#include <spate/port.h>
#include <spate_vitis.h>
#include <stdbool.h>
#include <stddef.h>
#include <xil_exception.h>
#include <xil_mmu.h>
#include <xil_printf.h>

#define MIB UINT64_C(0x100000)

int main(void);

static bool good = true;

static void check(const char *what, bool right) {
  xil_printf("%s: %s\n", what, right ? "right" : "WRONG");
  good = good && right;
}

/* ---- errors of the bus ---- */

static volatile unsigned others;

#ifdef __aarch64__
static bool in_el1(void) {
  uint64_t level;
  __asm__("mrs %0, currentel" : "=r"(level));
  return level == 1u << 2;
}
#endif

#ifdef LATE_ERRORS
/* EL2, or hypervisor mode, raises an error that comes late: now, or at the next load from the 8 bytes at this address.
 */
static void provoke(const volatile void *address) {
#ifdef __aarch64__
  register uintptr_t argument __asm__("x0") = (uintptr_t)address;
  __asm__ volatile("hvc #0" : "+r"(argument)::"memory");
#else
  register uintptr_t argument __asm__("r0") = (uintptr_t)address;
  __asm__ volatile(".arch armv7-a\n\t.arch_extension virt\n\thvc #0" : "+r"(argument)::"memory");
#endif
}

static void survive_late_errors(void) {
  static uint64_t word __attribute__((aligned(8))) = UINT64_C(0x123456789abcdef0);
  const uintptr_t at = (uintptr_t)&word;

  provoke(NULL);
  check("the late error of a write does not spoil a read", spate_port_read32(at) == 0x9abcdef0);
  provoke(&word);
  check("the late error of a read of 32 bits", spate_port_read32(at) == UINT32_MAX);
  check("the next read", spate_port_read64(at) == word);
  check("no other handler of late errors was called", others == 0);
}
#endif

/* The program's own handler: continues after the access. */
static void others_handler(void *data) {
  others += *(unsigned *)data;
#ifdef __aarch64__
  uintptr_t at;
  if (in_el1())
    __asm__ volatile("mrs %0, elr_el1\n\tadd %0, %0, #4\n\tmsr elr_el1, %0" : "=r"(at));
  else
    __asm__ volatile("mrs %0, elr_el3\n\tadd %0, %0, #4\n\tmsr elr_el3, %0" : "=r"(at));
#else
  bsp_exit(others == 1 && good ? 0 : 1);                                      /* it cannot continue */
#endif
}

/* Registers that the caller keeps must be as they were. */
static uint64_t read_with_neighbours(void) {
  uint64_t before[12], after = 0;
  for (unsigned i = 0; i < 12; i++)
    before[i] = spate_port_ticks() * 0 + i;
  __asm__ volatile("" ::: "memory");
  const uint64_t value = spate_port_read64(DESIGN_BRIDGE_WINDOW + 0x1000);
  for (unsigned i = 0; i < 12; i++)
    after += before[i];
  return after == 66 ? value : 0;
}

static void survive_the_bridge(void) {
  check("read32 of the bridge", spate_port_read32(DESIGN_BRIDGE_CONTROL) == UINT32_MAX);
  check("read32 of its last bus", spate_port_read32(DESIGN_BRIDGE_CONTROL + 0x1ffffc) == UINT32_MAX);
  check("read64 of the window", spate_port_read64(DESIGN_BRIDGE_WINDOW) == UINT64_MAX);
  spate_port_write32(DESIGN_BRIDGE_WINDOW, 1);
  spate_port_write64(DESIGN_BRIDGE_WINDOW + 8, 1);
  check("registers after a read", read_with_neighbours() == UINT64_MAX);
  bool all = true;
  for (unsigned i = 0; i < 1000; i++)
    all = all && spate_port_read32(DESIGN_BRIDGE_WINDOW + 4u * i) == UINT32_MAX;
  check("a thousand reads", all);
  check("no other handler was called", others == 0);
}

static void pass_on_the_rest(void) {
#ifdef __aarch64__
  *(volatile uint32_t *)(DESIGN_BRIDGE_WINDOW + DESIGN_BRIDGE_WINDOW_BYTES) = 1;
  check("a write that fails elsewhere goes to the handler before", others == 1);
#else
  (void)spate_port_read32(DESIGN_BRIDGE_WINDOW + DESIGN_BRIDGE_WINDOW_BYTES); /* ends the run */
#endif
}

/* ---- memory ---- */

static bool refused(uintptr_t start, uint64_t bytes) {
  bsp_log = (struct bsp_log){0};
  return spate_vitis_not_cached(start, bytes) == SPATE_E_INVALID && bsp_log.maps == 0;
}

static bool mapped(uintptr_t start, uint64_t bytes, uint64_t each, uint64_t attributes) {
  bsp_log = (struct bsp_log){0};
  return spate_vitis_not_cached(start, bytes) == SPATE_OK && bsp_log.maps == bytes / each && bsp_log.first == start &&
         bsp_log.last == start + bytes - each && bsp_log.attributes == attributes && bsp_log.flushes == 1;
}

static void map_memory(void) {
#ifdef __aarch64__
  check("16 MiB in blocks of 2 MiB", mapped(16 * MIB, 16 * MIB, 2 * MIB, 0x401));
  check("to the end of 4 GiB", mapped(0xffe00000, 2 * MIB, 2 * MIB, 0x401));
  check("2 GiB in blocks of 1 GiB", mapped(0x800000000, 2048 * MIB, 1024 * MIB, 0x401));
  check("half a block", refused(16 * MIB, MIB) && refused(17 * MIB, 2 * MIB) && refused(0x800000000, 2 * MIB));
  check("across 4 GiB", refused(0xc0000000, 2048 * MIB));
  check("nothing", refused(16 * MIB, 0));
#elif __ARM_ARCH_PROFILE == 'R'
  check("a region of 256 MiB", mapped(256 * MIB, 256 * MIB, 256 * MIB, 0x30c) && bsp_log.bytes == 256 * MIB);
  check("to the end of 4 GiB", mapped(0xfff00000, MIB, MIB, 0x30c));
  check("no power of two", refused(0, 3 * MIB) && refused(16 * MIB, 16) && refused(16 * MIB, 0));
  check("at no multiple", refused(16 * MIB, 32 * MIB));
  bsp_log = (struct bsp_log){.mpu_is_full = 1};
  check("no region is left", spate_vitis_not_cached(16 * MIB, MIB) == SPATE_E_FULL);
#else
  check("4 sections, not shareable", mapped(16 * MIB, 4 * MIB, MIB, 0x1de2));
  check("to the end of 4 GiB", mapped(0xfff00000, MIB, MIB, 0x1de2));
  check("half a section", refused(16 * MIB, MIB / 2) && refused(16 * MIB + 4096, MIB));
  check("nothing, and too much", refused(16 * MIB, 0) && refused(0xfff00000, 2 * MIB));
#endif
}

int main(void) {
  static unsigned one = 1;
#ifdef __aarch64__
  Xil_ExceptionRegisterHandler(XIL_EXCEPTION_ID_SYNC_INT, others_handler, &one);
  Xil_ExceptionRegisterHandler(XIL_EXCEPTION_ID_SERROR_ABORT_INT, others_handler, &one);
#else
  Xil_ExceptionRegisterHandler(XIL_EXCEPTION_ID_DATA_ABORT_INT, others_handler, &one);
#endif
  spate_vitis_open();
  spate_vitis_open(); /* a second call changes nothing */
  map_memory();
  survive_the_bridge();
#ifdef LATE_ERRORS
  survive_late_errors();
#endif
  spate_port_log("a log with", UINT64_C(0x123456789));
  pass_on_the_rest();
  return good ? 0 : 1;
}
