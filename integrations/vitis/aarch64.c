/* SPDX-License-Identifier: Apache-2.0 */
/* The Cortex-A53 of a Zynq UltraScale+ and the Cortex-A72 of a Versal, in EL3 or in EL1, as the BSP was built. */
#ifdef __aarch64__
#include "bridge_ranges.h"
#include "spate_vitis.h"

#include <spate/port.h>
#include <stdbool.h>
#include <stddef.h>

#include <xil_cache.h>
#include <xil_exception.h>
#include <xil_mmu.h>

/* ---- errors of the bus ---- */

/*
 * The BSP's vector saves some registers on the stack, calls a handler, and returns by ERET. A handler knows neither the
 * saved registers nor their place, but it can change where ERET goes: ELR. So each load has an address that the handler
 * knows, and a failed one continues at spate_vitis_load_failed, which returns all ones to the caller of the load.
 */
__asm__(".pushsection .text.spate_vitis_loads, \"ax\", %progbits\n"
        ".global spate_aarch64_load32\n"
        ".type spate_aarch64_load32, %function\n"
        ".balign 4\n"
        "spate_aarch64_load32: ldr w0, [x0]\n"
        "  ret\n"
        ".global spate_vitis_load_failed\n"
        "spate_vitis_load_failed: mov w0, #-1\n"
        "  ret\n"
        ".popsection");

extern const uint32_t spate_vitis_load_failed[];

#define EL3            0xcu /* CurrentEL */
#define DATA_ABORT     0x25u
#define EXTERNAL_ABORT 0x10u /* DFSC: from the bus; not on a table walk */
#define FAR_NOT_VALID  0x400u
/* STR of 32 bits without an offset, as spate/port/aarch64.h has it. */
#define STORE_MASK 0xfffffc00u
#define STORE      0xb9000000u

/* The BSP traps floating point until its first use. A trap in a handler would overwrite what the handler looks at. */
#define ON_EXCEPTION __attribute__((target("general-regs-only")))

struct earlier {
  Xil_ExceptionHandler handler;
  void *data;
};

static struct earlier earlier_synchronous, earlier_serror;
static volatile bool serror_expected;

ON_EXCEPTION static bool in_el3(void) {
  uint64_t level;
  __asm__("mrs %0, currentel" : "=r"(level));
  return level == EL3;
}

#define READ_OF_LEVEL(name)                                                                                            \
  ON_EXCEPTION static uint64_t read_##name(void) {                                                                     \
    uint64_t value;                                                                                                    \
    if (in_el3())                                                                                                      \
      __asm__ volatile("mrs %0, " #name "_el3" : "=r"(value));                                                         \
    else                                                                                                               \
      __asm__ volatile("mrs %0, " #name "_el1" : "=r"(value));                                                         \
    return value;                                                                                                      \
  }
READ_OF_LEVEL(esr)
READ_OF_LEVEL(elr)
READ_OF_LEVEL(far)

ON_EXCEPTION static void return_to(uintptr_t address) {
  if (in_el3())
    __asm__ volatile("msr elr_el3, %0" ::"r"(address));
  else
    __asm__ volatile("msr elr_el1, %0" ::"r"(address));
}

ON_EXCEPTION static void on_synchronous(void *unused) {
  const uint64_t syndrome = read_esr();
  const uintptr_t at = read_elr();

  (void)unused;
  if ((syndrome >> 26 & 0x3fu) == DATA_ABORT && (syndrome & 0x3fu) == EXTERNAL_ABORT) {
    if (at == (uintptr_t)spate_aarch64_load32) {
      return_to((uintptr_t)spate_vitis_load_failed);
      return;
    }
    const bool of_bridge = (syndrome & FAR_NOT_VALID) || spate_vitis_is_of_bridge(read_far());
    if (of_bridge && (*(const uint32_t *)at & STORE_MASK) == STORE) { /* dropped */
      return_to(at + sizeof(uint32_t));
      return;
    }
  }
  earlier_synchronous.handler(earlier_synchronous.data);
}

ON_EXCEPTION static void on_serror(void *unused) {
  (void)unused;
  if (!serror_expected) earlier_serror.handler(earlier_serror.data);
}

void spate_port_serror_take(void) {
  serror_expected = true;
  __asm__ volatile("msr daifclr, #4\n\tisb\n\tmsr daifset, #4" ::: "memory");
  serror_expected = false;
}

static void take_over(uint32_t exception, Xil_ExceptionHandler handler, struct earlier *earlier) {
  if (earlier->handler != NULL) return; /* opened before */
  Xil_GetExceptionRegisterHandler(exception, &earlier->handler, &earlier->data);
  Xil_ExceptionRegisterHandler(exception, handler, NULL);
}

/* The BSP's start-up code has set the frequency of the generic timer. */
void spate_vitis_open(void) {
  __asm__ volatile("msr daifset, #4" ::: "memory");
  take_over(XIL_EXCEPTION_ID_SYNC_INT, on_synchronous, &earlier_synchronous);
  take_over(XIL_EXCEPTION_ID_SERROR_ABORT_INT, on_serror, &earlier_serror);
}

/* ---- memory ---- */

#define FOUR_GIB    UINT64_C(0x100000000)
#define LOWER_BYTES UINT64_C(0x200000)   /* what one entry of the BSP's tables maps below 4 GiB */
#define UPPER_BYTES UINT64_C(0x40000000) /* and above */

enum spate_error spate_vitis_not_cached(uintptr_t start, uint64_t bytes) {
  const uint64_t end = start + bytes;

  if (bytes == 0 || end < start || (start < FOUR_GIB && end > FOUR_GIB)) return SPATE_E_INVALID;
  const uint64_t block_bytes = start < FOUR_GIB ? LOWER_BYTES : UPPER_BYTES;
  if (start % block_bytes != 0 || bytes % block_bytes != 0) return SPATE_E_INVALID;
  for (uint64_t at = start; at < end; at += block_bytes)
    Xil_SetTlbAttributes(at, NORM_NONCACHE);
  /* Lines that were fetched until the last entry had changed. */
  Xil_DCacheFlush();
  return SPATE_OK;
}
#else
typedef int spate_vitis_not_this_processor;
#endif
