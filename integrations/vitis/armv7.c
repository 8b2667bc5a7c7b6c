/* SPDX-License-Identifier: Apache-2.0 */
/* The Cortex-A9 of a Zynq-7000 and the Cortex-R5F of a Zynq UltraScale+. */
#ifdef __arm__
#include "bridge_ranges.h"
#include "spate_vitis.h"

#include <spate/port.h>
#include <stdbool.h>
#include <stddef.h>

#include <xil_cache.h>
#include <xil_exception.h>
#if __ARM_ARCH_PROFILE == 'R'
#include <xil_mpu.h>
#else
#include <xil_mmu.h>
#endif

/* ---- errors of the bus ---- */

/*
 * The BSP's vector of data aborts begins with stmdb sp!, {r0-r3, r12, lr} on the stack of abort mode, and ends with its
 * counterpart and subs pc, lr, #8. So these six words are at a known place: right below the stack pointer that abort
 * mode has while there is no abort. The handler changes r3, in which spate/port/armv7.h loads, and lr, which decides
 * where the program continues. DataAbortAddr, which the BSP stores beside, must be the same address as in lr; otherwise
 * this BSP has another vector, and nothing is changed.
 */
struct saved {
  uint32_t r[4], r12, lr;
};

extern uint32_t DataAbortAddr;

enum { STATUS_EXTERNAL = 0x08, STATUS_ASYNCHRONOUS = 0x16 }; /* DFSR: from the bus; not on a table walk */

#define RETURN_OFFSET 8u
/* LDR and STR without an offset, with any condition and any base (spate/port/armv7.h). */
#define FORM_MASK 0x0ff00fffu
#define LOAD      0x05900000u
#define STORE     0x05800000u
#define R3        3u

/* The vector does not save registers of floating point. */
#define ON_EXCEPTION __attribute__((target("general-regs-only")))

static struct {
  Xil_ExceptionHandler handler;
  void *data;
} earlier;
static struct saved *saved;
static volatile bool abort_expected;

/* Not r14 and not sp, which are banked. */
static struct saved *find_saved(void) {
  register uint32_t top __asm__("r2");
  register uint32_t mode __asm__("r3");
  __asm__ volatile("mrs %1, cpsr\n\tcpsid if, #0x17\n\tmov %0, sp\n\tmsr cpsr_c, %1"
                   : "=&r"(top), "=&r"(mode)::"memory", "cc");
  return (struct saved *)top - 1;
}

ON_EXCEPTION static uint32_t status_code(void) {
  uint32_t status;
  __asm__ volatile("mrc p15, 0, %0, c5, c0, 0" : "=r"(status)); /* DFSR: five bits in two places */
  return (status & 0xfu) | (status >> 6 & 0x10u);
}

ON_EXCEPTION static uint32_t data_address(void) {
  uint32_t address;
  __asm__ volatile("mrc p15, 0, %0, c6, c0, 0" : "=r"(address)); /* DFAR */
  return address;
}

ON_EXCEPTION static bool survive(void) {
  const uint32_t at = saved->lr - RETURN_OFFSET;

  if (at != DataAbortAddr) return false;
  const uint32_t instruction = *(const uint32_t *)at;
  const bool load = (instruction & FORM_MASK) == LOAD && (instruction >> 12 & 0xfu) == R3;
  const bool store = (instruction & FORM_MASK) == STORE;
  if (!load && !store) return false;
  if (!spate_vitis_is_of_bridge(data_address())) return false;
  if (load) saved->r[R3] = UINT32_MAX;
  saved->lr += sizeof instruction;
  return true;
}

ON_EXCEPTION static void on_data_abort(void *unused) {
  const uint32_t code = status_code();

  (void)unused;
  if (code == STATUS_ASYNCHRONOUS && abort_expected) return;
  if (code == STATUS_EXTERNAL && survive()) return;
  earlier.handler(earlier.data);
}

void spate_port_abort_take(void) {
  abort_expected = true;
  __asm__ volatile("cpsie a\n\tisb\n\tcpsid a" ::: "memory");
  abort_expected = false;
}

static void take_over(void) {
  if (earlier.handler != NULL) return; /* opened before */
  saved = find_saved();
  Xil_GetExceptionRegisterHandler(XIL_EXCEPTION_ID_DATA_ABORT_INT, &earlier.handler, &earlier.data);
  Xil_ExceptionRegisterHandler(XIL_EXCEPTION_ID_DATA_ABORT_INT, on_data_abort, NULL);
}

#if __ARM_ARCH_PROFILE == 'R'

/* ---- Cortex-R5F ---- */

#define COUNTER_HZ     0xFF260020u /* UG1087, IOU_SCNTRS: what Vivado's psu_init wrote */
#define REGION_MIN     32u
#define FOUR_GIB       UINT64_C(0x100000000)
#define NOT_CACHED     0x0000000Cu /* TEX 1, shareable: Normal Non-cacheable (Arm ARM v7, B5.2) */
#define ALL_READ_WRITE 0x00000300u

uint64_t spate_port_ticks_per_second(void) { return spate_armv7_load(COUNTER_HZ); }

void spate_vitis_open(void) {
  __asm__ volatile("cpsid a" ::: "memory");
  take_over();
}

static bool is_power_of_two(uint64_t value) { return value != 0 && (value & (value - 1u)) == 0; }

enum spate_error spate_vitis_not_cached(uintptr_t start, uint64_t bytes) {
  if (!is_power_of_two(bytes) || bytes < REGION_MIN || start % bytes != 0 || start + bytes > FOUR_GIB)
    return SPATE_E_INVALID;
  Xil_DCacheFlush();
  if (Xil_SetMPURegion((INTPTR)start, bytes, NOT_CACHED | ALL_READ_WRITE) != 0) return SPATE_E_FULL;
  Xil_DCacheFlush();
  return SPATE_OK;
}

#else

/* ---- Cortex-A9 ---- */

#define TIMER_CONTROL (SPATE_PORT_COUNTER + 0x8u) /* Cortex-A9 MPCore TRM, DDI 0407I, 4.4.2 */
#define TIMER_ENABLED 1u
#define SECTION_BYTES UINT32_C(0x100000)
#define SHAREABLE_BIT 0x10000u

/* Half the processor's clock (UG585, 25.2: CPU_3x2x). */
uint64_t spate_port_ticks_per_second(void) { return DESIGN_CPU_HZ / 2u; }

void spate_vitis_open(void) {
  __asm__ volatile("cpsid a" ::: "memory");
  take_over();
  const uint32_t control = spate_armv7_load(TIMER_CONTROL);
  if (!(control & TIMER_ENABLED)) spate_port_write32(TIMER_CONTROL, control | TIMER_ENABLED);
}

/*
 * Not shareable. The BSP starts the outer cache without "shared attribute override" (auxiliary control, bit 22), and
 * the controller then treats shareable Normal Non-cacheable memory, which the BSP's NORM_NONCACHE is, as cacheable
 * (L2C-310 TRM, DDI 0246, 2.3.2). One processor uses the library, so nothing is lost.
 */
enum spate_error spate_vitis_not_cached(uintptr_t start, uint64_t bytes) {
  const uint64_t end = (uint64_t)start + bytes;

  if (bytes == 0 || start % SECTION_BYTES != 0 || bytes % SECTION_BYTES != 0 || end - 1u > UINT32_MAX)
    return SPATE_E_INVALID;
  for (uint64_t at = start; at < end; at += SECTION_BYTES)
    Xil_SetTlbAttributes((INTPTR)at, NORM_NONCACHE & ~SHAREABLE_BIT);
  /* Lines that were fetched until the last entry had changed. */
  Xil_DCacheFlush();
  return SPATE_OK;
}

#endif
#else
typedef int spate_vitis_not_this_processor;
#endif
