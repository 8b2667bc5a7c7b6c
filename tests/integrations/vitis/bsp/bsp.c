/* SPDX-License-Identifier: Apache-2.0 */
/* The BSP's functions for programs that run in QEMU: output by semihosting, and a log of what was mapped. */
#include "bsp.h"

#include "xil_cache.h"
#include "xil_exception.h"
#include "xil_mmu.h"
#include "xil_mpu.h"
#include "xil_printf.h"
#include <board.h>
#include <print.h>
#include <semihosting.h>
#include <stdarg.h>
#include <stddef.h>

#define SYS_WRITEC 3

struct bsp_log bsp_log;
u32 DataAbortAddr; /* start.S stores it */

static struct {
  Xil_ExceptionHandler handler;
  void *data;
} handlers[XIL_EXCEPTION_ID_LAST + 1];

void bsp_exception(u32 number);
void bsp_main(void);

/* What the vectors call. A handler that nobody registered ends the run, as the BSP's would stay in a loop. */
void bsp_exception(u32 number) {
  if (handlers[number].handler == NULL) bsp_exit(BSP_UNEXPECTED + (int)number);
  handlers[number].handler(handlers[number].data);
}

void Xil_ExceptionRegisterHandler(u32 Exception_id, Xil_ExceptionHandler Handler, void *Data) {
  handlers[Exception_id].handler = Handler;
  handlers[Exception_id].data = Data;
}

void Xil_GetExceptionRegisterHandler(u32 Exception_id, Xil_ExceptionHandler *Handler, void **Data) {
  *Handler = handlers[Exception_id].handler;
  *Data = handlers[Exception_id].data;
}

void Xil_DCacheFlush(void) { bsp_log.flushes++; }

static void map(uint64_t address, uint64_t bytes, uint64_t attributes) {
  if (bsp_log.maps++ == 0) bsp_log.first = address;
  bsp_log.last = address;
  bsp_log.bytes = bytes;
  bsp_log.attributes = attributes;
  bsp_log.flushes = 0;
}

#ifdef __aarch64__
void Xil_SetTlbAttributes(UINTPTR Addr, u64 attrib) { map(Addr, 0, attrib); }
#else
void Xil_SetTlbAttributes(INTPTR Addr, u32 attrib) { map((uint32_t)Addr, 0, attrib); }
#endif

u32 Xil_SetMPURegion(INTPTR addr, u64 size, u32 attrib) {
  map((UINTPTR)addr, size, attrib);
  return bsp_log.mpu_is_full;
}

static void emit(void *context, const char *text, size_t bytes) {
  (void)context;
  for (size_t i = 0; i < bytes; i++)
    (void)semihosting_call(SYS_WRITEC, (void *)(uintptr_t)&text[i]);
}

void xil_printf(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)print_format(emit, NULL, format, arguments);
  va_end(arguments);
}

void bsp_exit(int status) {
  semihosting_exit(status);
  for (;;)
    continue;
}

int main(void);
void bsp_main(void) { bsp_exit(main()); }

/* print() uses it. */
void board_write(const char *text, size_t bytes) { emit(NULL, text, bytes); }
