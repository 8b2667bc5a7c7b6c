/* SPDX-License-Identifier: Apache-2.0 */
#include "config_space.h"

#include <unistd.h>

enum { CONFIG_ID = 0x00, CONFIG_COMMAND = 0x04 };

#define MEMORY_SPACE      UINT16_C(0x0002)
#define BUS_MASTER        UINT16_C(0x0004)
#define INTERRUPT_DISABLE UINT16_C(0x0400)
#define COMMAND_ON        (MEMORY_SPACE | BUS_MASTER | INTERRUPT_DISABLE)
#define COMMAND_OFF       (MEMORY_SPACE | INTERRUPT_DISABLE)
#define ALL_ONES          UINT32_C(0xffffffff)

static bool write_command(int fd, uint64_t offset_bytes, uint16_t value) {
  return pwrite(fd, &value, sizeof value, (off_t)(offset_bytes + CONFIG_COMMAND)) == (ssize_t)sizeof value;
}

bool config_space_answers(int fd, uint64_t offset_bytes) {
  uint32_t id = ALL_ONES;

  return pread(fd, &id, sizeof id, (off_t)(offset_bytes + CONFIG_ID)) == (ssize_t)sizeof id && id != ALL_ONES;
}

static bool read_command(int fd, uint64_t offset_bytes, uint16_t *value) {
  return pread(fd, value, sizeof *value, (off_t)(offset_bytes + CONFIG_COMMAND)) == (ssize_t)sizeof *value;
}

bool config_space_on(int fd, uint64_t offset_bytes) {
  uint16_t command = 0;

  return write_command(fd, offset_bytes, COMMAND_ON) && read_command(fd, offset_bytes, &command) &&
         (command & COMMAND_ON) == COMMAND_ON;
}

bool config_space_registers(int fd, uint64_t offset_bytes) { return write_command(fd, offset_bytes, COMMAND_OFF); }

bool config_space_off(int fd, uint64_t offset_bytes) {
  uint16_t command = BUS_MASTER;

  return write_command(fd, offset_bytes, COMMAND_OFF) && read_command(fd, offset_bytes, &command) &&
         (command & BUS_MASTER) == 0;
}
