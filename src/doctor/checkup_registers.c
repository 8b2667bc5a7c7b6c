/* SPDX-License-Identifier: Apache-2.0 */
/* The controller's registers (NVMe 1.4, 3.1), before anything is written to them. */
#include "../pcie/registers.h"
#include "checkup.h"

static bool holds(const struct spate_pcie_window *window, uint64_t address) {
  return address - window->cpu_address < window->bytes;
}

/* All ones or zeros come from a bridge, and not from a drive. If its configuration space responds as before, the
 * window is wrong, and not the link. */
static void judge_silence(struct spate_checkup *checkup, uint32_t value) {
  struct spate_pcie_host *host = checkup->config->host;
  const struct spate_pcie_window *window =
      holds(&host->memory, checkup->device.bar0) ? &host->memory : &host->prefetchable;
  const uint32_t id = host->ops->config_read(host, checkup->device.address, PCI_ID);

  if (id == PCI_ID_ABSENT || id == 0)
    spate_checkup_found(checkup, SPATE_DOCTOR_REGISTERS_GONE, (struct checkup_values){.name = NULL});
  else if (window->bytes != 0 && window->cpu_address != window->bus_address)
    spate_checkup_found(checkup, SPATE_DOCTOR_WINDOW_TRANSLATED,
                        (struct checkup_values){.numbers = {window->cpu_address, window->bus_address}});
  else
    spate_checkup_found(checkup, SPATE_DOCTOR_REGISTERS_UNREACHED,
                        (struct checkup_values){.numbers = {value, checkup->device.bar0}});
}

bool spate_checkup_registers(struct spate_checkup *checkup) {
  const uintptr_t at = checkup->device.bar0;
  const struct spate_doctor_registers registers = {.capabilities = spate_port_read64(at + NVME_CAP),
                                                   .configuration = spate_port_read32(at + NVME_CC),
                                                   .status = spate_port_read32(at + NVME_CSTS)};
  const uint64_t cap = registers.capabilities;
  const uint32_t version = spate_port_read32(at + NVME_VS);

  spate_checkup_fact(checkup, "drive", &checkup->device.address, "CAP {0x}, VS {1x}, CC {2x}, CSTS {3x}",
                     (struct checkup_values){.numbers = {cap, version, registers.configuration, registers.status}});
  if (registers.status == NVME_ALL_ONES || (cap == 0 && version == 0)) {
    judge_silence(checkup, (uint32_t)cap);
    return false;
  }
  spate_checkup_fact(checkup, "drive", &checkup->device.address,
                     "NVMe {0}.{1}, up to {2} entries in a queue, ready within {3} ms",
                     (struct checkup_values){.numbers = {version >> 16, version >> 8 & 0xffu, (cap & 0xffffu) + 1u,
                                                         (cap >> 24 & 0xffu) * 500u}});
  spate_doctor_judge_registers(checkup->doctor, &registers, false);
  return (cap >> 37 & 1u) != 0 && (cap >> 48 & 0xfu) == 0;
}
