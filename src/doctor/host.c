/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the facts of a path on a board, through the configuration space accesses of enumeration. */
#include "../pcie/registers.h"
#include "internal.h"

#define SPACE_BYTES 4096u

struct place {
  struct spate_pcie_host *host;
  struct spate_pcie_address at;
};

static uint32_t read_config(const void *context, unsigned offset) {
  const struct place *place = context;

  return place->host->ops->config_read(place->host, place->at, (uint16_t)offset);
}

static void read_function(struct spate_pcie_host *host, struct spate_pcie_address at,
                          struct spate_doctor_function *function) {
  const struct place place = {.host = host, .at = at};
  const struct spate_doctor_space space = {.read = read_config, .context = &place, .bytes = SPACE_BYTES};

  spate_doctor_function_read(function, at, &space);
}

unsigned spate_doctor_host_read(struct spate_pcie_host *host, const struct spate_pcie_device *device,
                                struct spate_doctor_function path[SPATE_DOCTOR_PATH_MAX]) {
  unsigned count = 1;

  for (uint8_t above = device->saved.above; above > 0; above = host->bridges[above - 1u].above)
    count++;
  unsigned index = count - 1u;
  read_function(host, device->address, &path[index]);
  path[index].bar0_bytes = device->bar0_bytes;
  path[index].bar0_fixed = device->bar0_bytes == 0;
  for (uint8_t above = device->saved.above; above > 0; above = host->bridges[above - 1u].above)
    read_function(host, host->bridges[above - 1u].at, &path[--index]);
  return count;
}

/* Device Control is in the same register as Device Status, and stays. All ones: the device is gone. */
static void clear_register(const struct place *place, unsigned offset) {
  const uint32_t value = read_config(place, offset);

  if (value != UINT32_MAX) place->host->ops->config_write(place->host, place->at, (uint16_t)offset, value);
}

void spate_doctor_host_clear(struct spate_pcie_host *host, const struct spate_doctor_function *path, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const struct place place = {.host = host, .at = path[i].address};
    if (path[i].silent || !path[i].errors.known) continue;
    const uint16_t express = spate_pcie_find_capability(read_config, &place, CAPABILITY_EXPRESS);
    const uint16_t errors = spate_pcie_find_extended(read_config, &place, CAPABILITY_ERRORS);
    if (express != 0) clear_register(&place, express + EXPRESS_DEVICE_CONTROL);
    if (errors != 0) clear_register(&place, errors + ERRORS_CORRECTABLE);
    if (errors != 0) clear_register(&place, errors + ERRORS_UNCORRECTABLE);
  }
}
