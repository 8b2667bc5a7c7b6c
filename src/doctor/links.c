/* SPDX-License-Identifier: Apache-2.0 */
/* Links: up or down, speed and width compared with what both ends support, payload sizes, power management. */
#include "internal.h"

#define READ_REQUEST_CODE_MAX   5u /* 4096 bytes; 6 and 7 are reserved */
#define READ_REQUEST_CODE_USUAL 2u /* 512 bytes */

static void report(struct spate_doctor *doctor, enum spate_doctor_code code,
                   const struct spate_doctor_function *function, uint64_t first, uint64_t second) {
  spate_doctor_report(doctor,
                      &(struct spate_doctor_finding){.code = code, .function = function, .numbers = {first, second}});
}

static bool is_port(const struct spate_doctor_function *function) {
  return function->kind == SPATE_DOCTOR_ROOT_PORT || function->kind == SPATE_DOCTOR_DOWNSTREAM_PORT;
}

/* Whether there is a link between this function and the one above it. Inside a switch there is none. If the kind of the
 * function above is not known, every second function is taken to have a link above it. */
static bool link_above(const struct spate_doctor_function *path, unsigned index) {
  if (index == 0) return false;
  return path[index - 1u].kind == SPATE_DOCTOR_KIND_UNKNOWN ? index % 2u == 1u : is_port(&path[index - 1u]);
}

/* The lower of both ends. Some switches leave the fields 0, and these do not count. */
static uint8_t lower(uint8_t own, uint8_t other) { return other != 0 && (own == 0 || other < own) ? other : own; }

static void judge_speed(struct spate_doctor *doctor, const struct spate_doctor_function *port,
                        const struct spate_doctor_function *below) {
  const struct spate_pcie_link *link = below->link.speed != 0 ? &below->link : &port->link;
  const uint8_t speed = lower(below->link.speed_max, port->link.speed_max);
  const uint8_t width = lower(below->link.width_max, port->link.width_max);

  if (link->speed != 0 && link->speed < speed) {
    const bool limited = port->target_speed != 0 && port->target_speed <= link->speed;
    report(doctor, limited ? SPATE_DOCTOR_LINK_SPEED_LIMITED : SPATE_DOCTOR_LINK_SLOW, below, link->speed, speed);
  }
  if (link->width != 0 && link->width < width) report(doctor, SPATE_DOCTOR_LINK_NARROW, below, link->width, width);
  if (port->link.speed_max != 0 && port->link.speed_max < below->link.speed_max)
    report(doctor, SPATE_DOCTOR_PORT_SLOWER, port, port->link.speed_max, below->link.speed_max);
  if (port->link.width_max != 0 && port->link.width_max < below->link.width_max)
    report(doctor, SPATE_DOCTOR_PORT_NARROWER, port, port->link.width_max, below->link.width_max);
}

/* True: the link is down. */
static bool judge_down(struct spate_doctor *doctor, const struct spate_doctor_function *port) {
  if (!port->link_reported || port->link.up) return false;
  if (port->slot && !port->present)
    report(doctor, SPATE_DOCTOR_SLOT_EMPTY, port, 0, 0);
  else
    report(doctor, port->link_training ? SPATE_DOCTOR_LINK_TRAINING : SPATE_DOCTOR_LINK_DOWN, port, 0, 0);
  return true;
}

void spate_doctor_judge_link(struct spate_doctor *doctor, const struct spate_doctor_function *path, unsigned index) {
  const struct spate_doctor_function *function = &path[index];

  if (!link_above(path, index)) return;
  if (judge_down(doctor, &path[index - 1u])) return;
  judge_speed(doctor, &path[index - 1u], function);
  if (function->aspm != 0) report(doctor, SPATE_DOCTOR_ASPM_ON, function, function->aspm, 0);
}

void spate_doctor_judge_port(struct spate_doctor *doctor, const struct spate_doctor_function *port) {
  if (!port->header_known || port->silent || judge_down(doctor, port)) return;
  if (port->slot && !port->present)
    report(doctor, SPATE_DOCTOR_SLOT_EMPTY, port, 0, 0);
  else if (port->link_reported)
    report(doctor, SPATE_DOCTOR_DEVICE_SILENT, port, 0, 0);
}

static uint32_t read_request_bytes(const struct spate_doctor_function *drive) {
  return drive->payload_bytes == 0 ? UINT32_MAX : UINT32_C(128) << drive->read_request_code;
}

/* `mixed`: a function above has a larger payload size. Larger read requests would then get completions that the drive
 * rejects as malformed. */
static void judge_read_request(struct spate_doctor *doctor, const struct spate_doctor_function *drive, bool mixed) {
  if (drive->payload_bytes == 0) return;
  if (drive->read_request_code > READ_REQUEST_CODE_MAX)
    report(doctor, SPATE_DOCTOR_READ_REQUEST_RESERVED, drive, drive->read_request_code, 0);
  else if (!mixed && drive->read_request_code < READ_REQUEST_CODE_USUAL)
    report(doctor, SPATE_DOCTOR_READ_REQUEST_SMALL, drive, UINT64_C(128) << drive->read_request_code, 0);
}

/* A function rejects a packet with a larger payload than its payload size as malformed (2.2.2). So the size may become
 * larger towards the root. It may become smaller towards the drive only if the drive's read requests are as small: a
 * completion is never larger than its request. Linux configures paths in this way with pci=pcie_bus_perf. */
void spate_doctor_judge_payload(struct spate_doctor *doctor, const struct spate_doctor_function *path, unsigned count) {
  uint16_t least_max = UINT16_MAX;
  bool wrong = false, mixed = false;

  if (count == 0) return;
  const struct spate_doctor_function *drive = &path[count - 1u];
  for (unsigned i = 0; i < count; i++) {
    const struct spate_doctor_function *function = &path[i];
    if (function->payload_bytes == 0) continue;
    if (function->payload_bytes_max < least_max) least_max = function->payload_bytes_max;
    if (function->payload_bytes > function->payload_bytes_max) {
      wrong = true;
      report(doctor, SPATE_DOCTOR_PAYLOAD_UNSUPPORTED, function, function->payload_bytes, function->payload_bytes_max);
    }
    const uint16_t above_bytes = i > 0 ? path[i - 1u].payload_bytes : 0;
    if (above_bytes == 0 || above_bytes == function->payload_bytes) continue;
    if (above_bytes > function->payload_bytes && read_request_bytes(drive) <= function->payload_bytes) {
      mixed = true;
      continue;
    }
    wrong = true;
    report(doctor, SPATE_DOCTOR_PAYLOAD_MISMATCH, function, function->payload_bytes, above_bytes);
  }
  if (!wrong && drive->payload_bytes != 0 && drive->payload_bytes < least_max)
    report(doctor, SPATE_DOCTOR_PAYLOAD_SMALL, drive, drive->payload_bytes, least_max);
  judge_read_request(doctor, drive, mixed);
}
