/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a command through the registers, and translates the status of a response. */
#include "internal.h"

#define STATUS_TYPE(status) (((status) >> 8) & 7u)
#define STATUS_MEDIA        2u /* NVMe 1.4, 4.6.1 */

bool spate_gateware_start(const struct spate_gateware *gateware, const struct gateware_command *command) {
  if ((spate_gateware_read(gateware, SPATE_REGS_STATUS) & SPATE_REGS_STATUS_COMMAND_READY) == 0) return false;
  spate_gateware_write(gateware, SPATE_REGS_COMMAND_LBA_LOW, (uint32_t)command->lba);
  spate_gateware_write(gateware, SPATE_REGS_COMMAND_LBA_HIGH, (uint32_t)(command->lba >> 32));
  spate_gateware_write(gateware, SPATE_REGS_COMMAND_BLOCKS, command->blocks);
  if (command->source == GATEWARE_ADDRESS) {
    spate_gateware_write(gateware, SPATE_REGS_COMMAND_ADDRESS_LOW, (uint32_t)command->address);
    spate_gateware_write(gateware, SPATE_REGS_COMMAND_ADDRESS_HIGH, (uint32_t)(command->address >> 32));
  }
  spate_gateware_write(gateware, SPATE_REGS_COMMAND,
                       (uint32_t)command->op | (uint32_t)command->source << SPATE_REGS_COMMAND_SOURCE_SHIFT |
                           (command->fua ? SPATE_REGS_COMMAND_FUA : 0) | SPATE_REGS_COMMAND_START |
                           (uint32_t)command->tag << SPATE_REGS_COMMAND_TAG_SHIFT);
  return true;
}

enum spate_error spate_gateware_status_error(const struct spate_gateware *gateware, uint16_t status) {
  switch (status) {
  case 0: return SPATE_OK;
  case GATEWARE_STATUS_INVALID:
  case GATEWARE_STATUS_RANGE: return SPATE_E_INVALID;
  case GATEWARE_STATUS_UNSUPPORTED: return SPATE_E_UNSUPPORTED;
  case GATEWARE_STATUS_GONE: return gateware->error == SPATE_OK ? SPATE_E_GONE : gateware->error;
  case GATEWARE_STATUS_DEADLINE: return SPATE_E_TIMEOUT;
  case GATEWARE_STATUS_BUSY: return SPATE_E_BUSY;
  case GATEWARE_STATUS_MEMORY: return SPATE_E_MEDIA;
  case GATEWARE_STATUS_POWER: return SPATE_E_POWER_LOST;
  default: return STATUS_TYPE(status) == STATUS_MEDIA ? SPATE_E_MEDIA : SPATE_E_COMMAND;
  }
}
