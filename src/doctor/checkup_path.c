/* SPDX-License-Identifier: Apache-2.0 */
/* The functions from the root port to the drive. */
#include "checkup.h"

static void tell_window(const struct spate_checkup *checkup, const struct spate_doctor_function *bridge,
                        const struct spate_pcie_window *window, const char *kind) {
  spate_checkup_fact(checkup, "path", &bridge->address,
                     window->bytes == 0 ? "{n} window closed" : "{n} window with {0b} at {1x}",
                     (struct checkup_values){.numbers = {window->bytes, window->bus_address}, .name = kind});
}

static void tell_header(const struct spate_checkup *checkup, const struct spate_doctor_function *function) {
  if (!function->bridge) {
    spate_checkup_fact(checkup, "path", &function->address, "class {0x}, BAR 0 with {1b} at {2x}, command {3x}",
                       (struct checkup_values){
                           .numbers = {function->class_code, function->bar0_bytes, function->bar0, function->command}});
    return;
  }
  spate_checkup_fact(checkup, "path", &function->address, "class {0x}, buses {1} to {2}, command {3x}",
                     (struct checkup_values){.numbers = {function->class_code, function->secondary_bus,
                                                         function->subordinate_bus, function->command}});
  tell_window(checkup, function, &function->memory, "memory");
  tell_window(checkup, function, &function->prefetchable, "prefetchable");
}

static void tell_express(const struct spate_checkup *checkup, const struct spate_doctor_function *function) {
  const struct spate_pcie_link *link = &function->link;

  if (function->kind == SPATE_DOCTOR_KIND_UNKNOWN) return;
  if (link->speed != 0)
    spate_checkup_fact(
        checkup, "path", &function->address, "{0s} x{1} of {2s} x{3}",
        (struct checkup_values){.numbers = {link->speed, link->width, link->speed_max, link->width_max}});
  spate_checkup_fact(checkup, "path", &function->address, "payload {0b} of {1b}, read requests {2b}",
                     (struct checkup_values){.numbers = {function->payload_bytes, function->payload_bytes_max,
                                                         UINT64_C(128) << function->read_request_code}});
}

static void tell_errors(const struct spate_checkup *checkup, const struct spate_doctor_function *function) {
  const struct spate_doctor_errors *errors = &function->errors;

  if (errors->known)
    spate_checkup_fact(
        checkup, "errors", &function->address, "corrected {0x}, uncorrected {1x}, device status {2x}",
        (struct checkup_values){.numbers = {errors->correctable, errors->uncorrectable, errors->device_status}});
}

void spate_checkup_forget_errors(struct spate_checkup *checkup) {
  spate_doctor_host_clear(checkup->config->host, checkup->path, checkup->path_count);
  (void)spate_doctor_host_read(checkup->config->host, &checkup->device, checkup->path_after);
  for (unsigned i = 0; i < checkup->path_count; i++)
    checkup->path[i].errors = checkup->path_after[i].errors;
}

bool spate_checkup_path(struct spate_checkup *checkup) {
  struct spate_doctor_function *path = checkup->path;

  checkup->path_count = spate_doctor_host_read(checkup->config->host, &checkup->device, path);
  for (unsigned i = 0; i < checkup->path_count; i++) {
    if (path[i].silent) continue;
    tell_header(checkup, &path[i]);
    tell_express(checkup, &path[i]);
    tell_errors(checkup, &path[i]);
  }
  spate_doctor_judge_path(checkup->doctor, path, checkup->path_count, true);
  spate_doctor_judge_errors_before(checkup->doctor, path, checkup->path_count);
  spate_checkup_forget_errors(checkup);
  spate_doctor_judge_interrupts(checkup->doctor, &path[checkup->path_count - 1u]);
  return checkup->device.bar0 != 0 && !path[checkup->path_count - 1u].silent;
}
