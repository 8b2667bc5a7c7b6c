/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous events (5.2), and the temperature that causes one. */
#include "drive_internal.h"
#include <string.h>

#define KELVIN    273.0
#define INFO_HEAT 1u /* temperature threshold */

uint16_t drive_kelvin(const struct sim_drive *drive) { return (uint16_t)(drive->media.temperature_c + KELVIN + 0.5); }

bool drive_is_hot(const struct sim_drive *drive) {
  return drive_kelvin(drive) >= drive->features.over_k || drive_kelvin(drive) <= drive->features.under_k;
}

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
  if (!drive_is_hot(drive)) {
    drive->events.hot = false;
    return;
  }
  if (drive->events.hot || !drive_running(drive) || (drive->features.values[0x0b] & DRIVE_WARN_HEAT) == 0) return;
  drive->events.hot = true;
  drive_raise_event(drive, DRIVE_EVENT_HEALTH | INFO_HEAT << 8 | PAGE_HEALTH << 16);
}

void sim_drive_heat(struct sim_drive *drive, double celsius) {
  sim_media_advance(&drive->media, sim_now_ps(drive->sim));
  drive->media.temperature_c = celsius;
  drive_check_heat(drive);
}
