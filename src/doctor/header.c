/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a function's header: responses, addresses, memory decoding, bus mastering, bus numbers, power. */
#include "../nvme/quirks.h"
#include "../pcie/registers.h"
#include "internal.h"
#include <stddef.h>

static bool holds(const struct spate_pcie_window *window, uint64_t address, uint64_t bytes) {
  return window->bytes != 0 && address >= window->bus_address && address - window->bus_address < window->bytes &&
         bytes <= window->bytes - (address - window->bus_address);
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Whether BAR 0 of the drive has an address, and whether every bridge above forwards requests to it. */
static void judge_bar(struct spate_doctor *doctor, const struct spate_doctor_function *path, unsigned index) {
  const struct spate_doctor_function *drive = &path[index];
  const uint64_t bytes = drive->bar0_bytes == 0 ? 1 : drive->bar0_bytes;

  for (unsigned i = index; i-- > 0;) {
    const struct spate_doctor_function *bridge = &path[i];
    if (!bridge->header_known || bridge->silent || !bridge->bridge) continue;
    const uint64_t room_bytes = larger(bridge->memory.bytes, bridge->prefetchable.bytes);
    const bool outside = drive->bar0 != 0 && !holds(&bridge->memory, drive->bar0, bytes) &&
                         !holds(&bridge->prefetchable, drive->bar0, bytes);
    if (!outside && drive->bar0 != 0) continue;
    if (drive->bar0_bytes > room_bytes) {
      spate_doctor_report(doctor, &(struct spate_doctor_finding){.code = SPATE_DOCTOR_APERTURE_SMALL,
                                                                 .function = bridge,
                                                                 .numbers = {room_bytes, drive->bar0_bytes}});
      return;
    }
    if (!outside) continue;
    spate_doctor_report(doctor, &(struct spate_doctor_finding){.code = SPATE_DOCTOR_BAR_OUTSIDE_WINDOW,
                                                               .function = bridge,
                                                               .numbers = {drive->bar0}});
    return;
  }
  if (drive->bar0 == 0)
    spate_doctor_report(doctor, &(struct spate_doctor_finding){.code = drive->bar0_fixed ? SPATE_DOCTOR_BAR_FIXED
                                                                                         : SPATE_DOCTOR_BAR_UNASSIGNED,
                                                               .function = drive});
}

static void judge_command(struct spate_doctor *doctor, const struct spate_doctor_function *function) {
  if (!(function->command & PCI_COMMAND_MEMORY))
    spate_doctor_report(doctor, &(struct spate_doctor_finding){.code = SPATE_DOCTOR_MEMORY_OFF, .function = function});
  if (!(function->command & PCI_COMMAND_MASTER))
    spate_doctor_report(doctor,
                        &(struct spate_doctor_finding){.code = SPATE_DOCTOR_BUS_MASTER_OFF, .function = function});
}

/* The bridge must forward configuration requests to the function below it. */
static void judge_buses(struct spate_doctor *doctor, const struct spate_doctor_function *bridge,
                        const struct spate_doctor_function *below) {
  const uint8_t first = bridge->secondary_bus, last = bridge->subordinate_bus;

  if (below->address.bus == first && last >= first) return;
  spate_doctor_report(doctor, &(struct spate_doctor_finding){.code = SPATE_DOCTOR_BUS_NUMBERS,
                                                             .function = bridge,
                                                             .numbers = {first, last, below->address.bus}});
}

static void judge_model(struct spate_doctor *doctor, const struct spate_doctor_function *drive) {
  const char *name = spate_nvme_known_as(drive->vendor_id, drive->device_id);

  if (name != NULL)
    spate_doctor_report(
        doctor, &(struct spate_doctor_finding){.code = SPATE_DOCTOR_KNOWN_DRIVE,
                                               .function = drive,
                                               .numbers = {spate_nvme_needs(drive->vendor_id, drive->device_id)},
                                               .name = name});
}

void spate_doctor_judge_header(struct spate_doctor *doctor, const struct spate_doctor_function *path, unsigned count,
                               unsigned index, bool in_use) {
  const struct spate_doctor_function *function = &path[index];
  const bool drive = index + 1u == count;

  /* Without a driver a low power state is normal: vfio-pci sets it for a drive that no program has opened. */
  if (in_use && function->power_known && function->power_state != 0)
    spate_doctor_report(doctor, &(struct spate_doctor_finding){.code = SPATE_DOCTOR_POWER_STATE,
                                                               .function = function,
                                                               .numbers = {function->power_state}});
  if (!function->header_known) return;
  if (function->silent) {
    spate_doctor_report(doctor,
                        &(struct spate_doctor_finding){.code = SPATE_DOCTOR_FUNCTION_SILENT, .function = function});
    return;
  }
  if (in_use) judge_command(doctor, function);
  if (!drive && function->bridge) judge_buses(doctor, function, &path[index + 1u]);
  if (!drive) return;
  if (function->class_code == SPATE_PCIE_CLASS_NVME) {
    judge_model(doctor, function);
    judge_bar(doctor, path, index);
  } else {
    spate_doctor_report(doctor, &(struct spate_doctor_finding){.code = SPATE_DOCTOR_WRONG_CLASS,
                                                               .function = function,
                                                               .numbers = {function->class_code}});
  }
}

void spate_doctor_judge_path(struct spate_doctor *doctor, const struct spate_doctor_function *path, unsigned count,
                             bool in_use) {
  for (unsigned i = 0; i < count; i++) {
    spate_doctor_judge_link(doctor, path, i);
    spate_doctor_judge_header(doctor, path, count, i, in_use);
  }
  spate_doctor_judge_payload(doctor, path, count);
}
