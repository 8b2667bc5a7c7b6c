/* SPDX-License-Identifier: Apache-2.0 */
#include "perst.h"

#include <spate/port.h>

/* The controller of Zynq-7000 (UG585, appendix B.19), Zynq UltraScale+ (UG1087, GPIO) and Versal (AM012, PMC_GPIO). */
#define MASK_DATA_LOW(bank)  (0x000u + 8u * (bank)) /* bits 31:16: leave these pins; 15:0: levels of pins 15:0 */
#define MASK_DATA_HIGH(bank) (0x004u + 8u * (bank)) /* the same for pins 31:16 */
#define DIRECTION(bank)      (0x204u + 0x40u * (bank))
#define OUTPUT_ENABLE(bank)  (0x208u + 0x40u * (bank))

/* AXI GPIO (PG144, register space). A write to the data register is kept while the pin is an input, as Linux's
 * gpio-xilinx driver relies on, too. */
#define AXI_CHANNEL_BYTES 8u
#define AXI_DATA          0u
#define AXI_INPUTS        4u /* a 1 makes the pin an input */

static void set_bit(uintptr_t address, uint32_t bit) { spate_port_write32(address, spate_port_read32(address) | bit); }

static void drive_axi(const struct perst *perst, bool level) {
  const uintptr_t channel = perst->axi_gpio + perst->pin / 32u * AXI_CHANNEL_BYTES;
  const uint32_t bit = UINT32_C(1) << perst->pin % 32u;

  spate_port_write32(channel + AXI_DATA, (perst->other_outputs & ~bit) | (level ? bit : 0));
  spate_port_write32(channel + AXI_INPUTS, spate_port_read32(channel + AXI_INPUTS) & ~bit);
}

static void drive_zynq(const struct perst *perst, bool level) {
  const struct perst_banks *banks = &perst->banks;
  const bool mio = perst->kind == PERST_BY_MIO;
  const uint32_t pins = mio ? banks->mio_pins : 32u;
  const uint32_t bank = perst->pin / pins + (mio ? 0u : banks->first_emio);
  const uint32_t pin = perst->pin % pins;
  const uint32_t half_bit = UINT32_C(1) << pin % 16u;

  spate_port_write32(banks->base + (pin < 16u ? MASK_DATA_LOW(bank) : MASK_DATA_HIGH(bank)),
                     (~half_bit & 0xffffu) << 16 | (level ? half_bit : 0));
  set_bit(banks->base + DIRECTION(bank), UINT32_C(1) << pin);
  set_bit(banks->base + OUTPUT_ENABLE(bank), UINT32_C(1) << pin);
}

static void drive(const struct perst *perst, bool reset) {
  const bool level = reset == perst->active_high;

  if (perst->kind == PERST_BY_AXI_GPIO)
    drive_axi(perst, level);
  else
    drive_zynq(perst, level);
}

enum spate_error perst_step(struct perst *perst) {
  const uint64_t hold_ticks = spate_port_ticks_per_second() * PERST_US / 1000000u + 1u;

  if (perst->kind == PERST_BY_NOTHING) return SPATE_E_UNSUPPORTED;
  if (!perst->resetting) {
    drive(perst, true);
    perst->since_ticks = spate_port_ticks();
    perst->resetting = true;
  }
  if (spate_port_ticks() - perst->since_ticks < hold_ticks) return SPATE_E_BUSY;
  drive(perst, false);
  perst->resetting = false;
  return SPATE_OK;
}

uint64_t perst_cycle(struct perst *perst) {
  if (perst->kind == PERST_BY_NOTHING) return 0;
  while (perst_step(perst) == SPATE_E_BUSY)
    spate_port_relax();
  return spate_port_ticks();
}
