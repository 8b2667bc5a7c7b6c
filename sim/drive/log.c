/* SPDX-License-Identifier: Apache-2.0 */
/* Get Log Page (5.14). */
#include "drive_internal.h"
#include <string.h>

#define HEALTH_BYTES   512u
#define FIRMWARE_BYTES 512u
#define SANITIZE_BYTES 512u
#define TELEMETRY_MAX  (UINT64_C(4) << 20) /* the longest admin transfer of the driver */
#define RETAIN_EVENT   (UINT32_C(1) << 15)
#define BROADCAST      UINT32_C(0xffffffff)
#define UNIT_OF_512    1000u

/* Figure 194. If a test has set a counter, counting continues from there. */
static void make_health(const struct sim_drive *drive, uint8_t *page) {
  memcpy(page, drive->smart, HEALTH_BYTES);
  if (drive_is_hot(drive)) page[0] |= DRIVE_WARN_HEAT;
  spate_put16(page + 1, drive_kelvin(drive));
  spate_put64(page + 32, spate_get64(page + 32) + (drive->read_units_512 + UNIT_OF_512 - 1u) / UNIT_OF_512);
  spate_put64(page + 48, spate_get64(page + 48) + (drive->written_units_512 + UNIT_OF_512 - 1u) / UNIT_OF_512);
  spate_put64(page + 64, spate_get64(page + 64) + drive->read_commands);
  spate_put64(page + 80, spate_get64(page + 80) + drive->write_commands);
  spate_put64(page + 160, spate_get64(page + 160) + drive->media_errors);
  spate_put64(page + 176, spate_get64(page + 176) + drive->error_entries);
}

static size_t make_page(struct sim_drive *drive, uint8_t number, uint8_t *page) {
  switch (number) {
  case PAGE_ERRORS: memcpy(page, drive->errors, sizeof drive->errors); return sizeof drive->errors;
  case PAGE_HEALTH:
    sim_media_advance(&drive->media, sim_now_ps(drive->sim));
    make_health(drive, page);
    return HEALTH_BYTES;
  case PAGE_FIRMWARE:
    page[0] = 1; /* slot 1 is active */
    memcpy(page + 8, drive->identify_controller + 64, 8);
    return FIRMWARE_BYTES;
  case PAGE_SANITIZE: drive_sanitize_log(drive, page); return SANITIZE_BYTES;
  default: return 0;
  }
}

static uint8_t event_type(uint8_t page) {
  return page == PAGE_ERRORS ? 0 : page == PAGE_HEALTH ? DRIVE_EVENT_HEALTH : 2;
}

/* Figure 203, host-initiated. Its contents are vendor specific; here each dword holds its offset. */
static uint16_t get_telemetry(struct sim_drive *drive, struct drive_command *command, uint64_t offset, uint64_t bytes) {
  const uint8_t mdts = drive->identify_controller[77];

  if (offset % 4u != 0 || offset >= TELEMETRY_MAX) return STATUS_FIELD;
  if (mdts != 0 && bytes > (uint64_t)SIM_PAGE << mdts) {
    sim_violate(drive->sim, "more than MDTS in a log page");
    return STATUS_FIELD;
  }
  if (bytes > TELEMETRY_MAX - offset) bytes = TELEMETRY_MAX - offset;
  uint8_t *data = drive_buffer(command, bytes);
  for (uint64_t i = 0; i < bytes; i += 4u)
    spate_put32(data + i, (uint32_t)(offset + i));
  drive_send_page(drive, command, bytes);
  return STATUS_PENDING;
}

uint16_t drive_get_log(struct sim_drive *drive, struct drive_command *command) {
  const uint32_t *dwords = command->dwords;
  const uint8_t number = (uint8_t)dwords[10];
  const uint64_t offset = (uint64_t)dwords[13] << 32 | dwords[12];
  uint64_t bytes = (((uint64_t)(dwords[11] & 0xffffu) << 16 | dwords[10] >> 16) + 1u) * 4u;

  if (number == PAGE_TELEMETRY) return get_telemetry(drive, command, offset, bytes);
  uint8_t *page = drive_page(command);
  if (number == PAGE_HEALTH && dwords[1] != 0 && dwords[1] != BROADCAST && dwords[1] != drive->namespaces[0])
    return STATUS_NAMESPACE;
  const size_t size = make_page(drive, number, page);
  if (size == 0) return STATUS_LOG_PAGE;
  if (offset % 4u != 0 || offset >= size) return STATUS_FIELD;
  if (bytes > size - offset) bytes = size - offset;
  memmove(page, page + offset, bytes);
  if ((dwords[10] & RETAIN_EVENT) == 0) {
    drive->events.masked &= (uint8_t) ~(1u << event_type(number));
    drive_match_events(drive);
  }
  drive_send_page(drive, command, bytes);
  return STATUS_PENDING;
}
