/* SPDX-License-Identifier: Apache-2.0 */
/* Get Log Page (5.14), asynchronous events (5.2), and the temperature that causes an event. */
#include "drive_internal.h"
#include <string.h>

#define KELVIN         273.0
#define PAGE_ERRORS    1u
#define PAGE_HEALTH    2u
#define PAGE_FIRMWARE  3u
#define PAGE_TELEMETRY 7u
#define PAGE_SANITIZE  0x81u
#define HEALTH_BYTES   512u
#define FIRMWARE_BYTES 512u
#define ERROR_BYTES    64u
#define SANITIZE_BYTES 512u
#define TELEMETRY_MAX  (UINT64_C(4) << 20) /* the longest admin transfer of the driver */
#define RETAIN_EVENT   (UINT32_C(1) << 15)
#define WARN_HEAT      2u /* critical warning: temperature */
#define EVENT_HEALTH   1u /* type */
#define INFO_HEAT      1u /* temperature threshold */
#define BROADCAST      UINT32_C(0xffffffff)
#define UNIT_OF_512    1000u

static uint16_t kelvin(const struct sim_drive *drive) { return (uint16_t)(drive->media.temperature_c + KELVIN + 0.5); }

static bool is_hot(const struct sim_drive *drive) {
  return kelvin(drive) >= drive->features.over_k || kelvin(drive) <= drive->features.under_k;
}

/* ---- events ---- */

static void report(struct sim_drive *drive, uint16_t id, uint32_t event) {
  const uint32_t entry[4] = {event, 0, 0, id};

  drive->events.masked |= (uint8_t)(1u << (event & 7u));
  drive_post_entry(drive, 0, entry, false);
}

/* Completes requests with pending events, while the queue has room. Skips types whose log page the host has not read
 * since their last event. */
void drive_match_events(struct sim_drive *drive) {
  struct drive_events *events = &drive->events;

  for (uint32_t i = 0; i < events->count && events->requests > 0 && drive_can_post(drive, 0);) {
    const uint32_t event = events->waiting[i];
    if ((events->masked & 1u << (event & 7u)) != 0) {
      i++;
      continue;
    }
    events->count--;
    memmove(&events->waiting[i], &events->waiting[i + 1u], (events->count - i) * sizeof events->waiting[0]);
    events->requests--;
    report(drive, events->ids[events->requests], event);
  }
}

/* `event`: dword 0 of the completion. The event stays pending until there is a request. */
void drive_raise_event(struct sim_drive *drive, uint32_t event) {
  struct drive_events *events = &drive->events;

  if (events->count == DRIVE_EVENTS_MAX) return; /* a drive keeps only this many pending events */
  events->waiting[events->count++] = event;
  drive_match_events(drive);
}

bool sim_drive_event(struct sim_drive *drive, uint8_t type, uint8_t info, uint8_t log_page) {
  const uint32_t event = type | (uint32_t)info << 8 | (uint32_t)log_page << 16;

  if (!drive_running(drive) || drive->events.requests == 0) return false;
  drive_raise_event(drive, event);
  return true;
}

uint16_t drive_event_request(struct sim_drive *drive, struct drive_command *command) {
  struct drive_events *events = &drive->events;

  if (events->requests == DRIVE_EVENTS_MAX) {
    sim_violate(drive->sim, "more asynchronous event requests than AERL allows");
    return STATUS_EVENT_LIMIT;
  }
  events->ids[events->requests++] = command->id;
  drive_free(drive, command);
  drive_match_events(drive);
  return STATUS_PENDING;
}

void drive_check_heat(struct sim_drive *drive) {
  if (!is_hot(drive)) {
    drive->events.hot = false;
    return;
  }
  if (drive->events.hot || !drive_running(drive) || (sim_drive_feature(drive, 0x0b) & WARN_HEAT) == 0) return;
  drive->events.hot = true;
  drive_raise_event(drive, EVENT_HEALTH | INFO_HEAT << 8 | PAGE_HEALTH << 16);
}

void sim_drive_heat(struct sim_drive *drive, double celsius) {
  sim_media_advance(&drive->media, sim_now_ps(drive->sim));
  drive->media.temperature_c = celsius;
  drive_check_heat(drive);
}

/* ---- logs ---- */

/* Figure 195. */
void drive_error_taken(struct sim_drive *drive, const struct drive_command *command) {
  uint8_t *entry = drive->errors[0];

  drive->error_entries++;
  if ((command->status >> 8 & 7u) == 2u && command->status != STATUS_COMPARE) drive->media_errors++; /* 5.14.1.2 */
  memmove(drive->errors[1], drive->errors[0], sizeof drive->errors - sizeof drive->errors[0]);
  memset(entry, 0, ERROR_BYTES);
  spate_put64(entry, drive->error_entries);
  spate_put16(entry + 8, command->queue);
  spate_put16(entry + 10, command->id);
  spate_put16(entry + 12, (uint16_t)(command->status << 1));
  spate_put16(entry + 14, 0xffff); /* the error names no location in the command */
  if (command->queue == 0) return;
  spate_put64(entry + 16, drive_qword(command, 10));
  spate_put32(entry + 24, command->dwords[1]);
}

/* Figure 194. If a test has set a counter, counting continues from there. */
static void make_health(const struct sim_drive *drive, uint8_t *page) {
  memcpy(page, drive->smart, HEALTH_BYTES);
  if (is_hot(drive)) page[0] |= WARN_HEAT;
  spate_put16(page + 1, kelvin(drive));
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

static uint8_t event_type(uint8_t page) { return page == PAGE_ERRORS ? 0 : page == PAGE_HEALTH ? EVENT_HEALTH : 2; }

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
