/* SPDX-License-Identifier: Apache-2.0 */
/* How the console of a board with a PL011 is opened, on a model of two of its registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <spate/port.h>

#define LINE_CONTROL 0x2cu
#define CONTROL      0x30u
#define UART_ON      0x1u

static uint32_t line_control, control;

static uint32_t model_read(uintptr_t address) { return address == CONTROL ? control : line_control; }

/* The line control must not change while the UART is on (DDI 0183, 3.3.7). */
static void model_write(uintptr_t address, uint32_t value) {
  if (address == LINE_CONTROL) {
    assert_int_equal(control & UART_ON, 0);
    line_control = value;
  } else {
    control = value;
  }
}

#define spate_port_read32  model_read
#define spate_port_write32 model_write
#include "../../ports/common/pl011.c"
#undef spate_port_read32
#undef spate_port_write32

static void a_uart_that_is_off_is_turned_on(void **state) {
  (void)state;
  line_control = 0;
  control = 0x300; /* as after reset */
  pl011_open(0);
  assert_int_equal(line_control, 0x70);
  assert_int_equal(control & 0x101u, 0x101u);
}

static void what_a_loader_turned_on_stays(void **state) {
  (void)state;
  line_control = 0x60;
  control = 0x301;
  pl011_open(0);
  assert_int_equal(line_control, 0x60);
  assert_int_equal(control, 0x301);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_uart_that_is_off_is_turned_on),
      cmocka_unit_test(what_a_loader_turned_on_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
