/* SPDX-License-Identifier: Apache-2.0 */
/* The SMART / Health log (5.14.1.2) and asynchronous events. Both work while I/O continues. */
#include "internal.h"

#define EVENT_INTERVAL_MS  1000u /* from an event to the request for the next one, when there are many */
#define EVENTS_AT_ONCE     4u
#define EVENT_PAGE(result) ((uint8_t)((result) >> 16)) /* log page identifier, in dword 0 of the completion */

/* A counter of 128 bits in 64. */
static uint64_t saturated(const void *log, unsigned offset_bytes) {
  return spate_nvme_qword(log, offset_bytes + 8u) != 0 ? UINT64_MAX : spate_nvme_qword(log, offset_bytes);
}

/* Some drives return success and zeros, at times or always. */
static bool is_empty(const void *log) {
  uint64_t all = 0;

  for (unsigned at = 0; at < NVME_LOG_BYTES; at += 8u)
    all |= spate_nvme_qword(log, at);
  return all == 0;
}

bool spate_nvme_health_decode(struct spate_nvme_health *health, const void *log) {
  const uint32_t first = spate_nvme_dword(log, NVME_HEALTH_WARNING);
  const uint32_t second = spate_nvme_dword(log, NVME_HEALTH_THRESHOLD);

  if (is_empty(log)) return false;
  health->critical_warning = (uint8_t)first;
  health->temperature_c = (int16_t)((int)(first >> 8 & 0xffffu) - (int)NVME_ZERO_CELSIUS_K);
  health->spare_percent = (uint8_t)(first >> 24);
  health->spare_threshold_percent = (uint8_t)second;
  health->used_percent = (uint8_t)(second >> 8);
  health->read_units = saturated(log, NVME_HEALTH_READ_UNITS);
  health->written_units = saturated(log, NVME_HEALTH_WRITTEN_UNITS);
  health->power_cycles = saturated(log, NVME_HEALTH_POWER_CYCLES);
  health->power_on_hours = saturated(log, NVME_HEALTH_POWER_ON_HOURS);
  health->unsafe_shutdowns = saturated(log, NVME_HEALTH_UNSAFE_SHUTDOWNS);
  health->media_errors = saturated(log, NVME_HEALTH_MEDIA_ERRORS);
  health->sequence++;
  return true;
}

static uint64_t sum_of(const void *log, unsigned first_offset, unsigned second_offset) {
  return (uint64_t)spate_nvme_dword(log, first_offset) + spate_nvme_dword(log, second_offset);
}

void spate_nvme_throttling_decode(struct spate_nvme_throttling *throttling, const void *log) {
  throttling->hot_minutes = sum_of(log, NVME_HEALTH_WARNING_MINUTES, NVME_HEALTH_CRITICAL_MINUTES);
  throttling->transitions = sum_of(log, NVME_HEALTH_TMT1_TRANSITIONS, NVME_HEALTH_TMT2_TRANSITIONS);
  throttling->seconds = sum_of(log, NVME_HEALTH_TMT1_SECONDS, NVME_HEALTH_TMT2_SECONDS);
}

bool spate_nvme_health_take(struct spate_nvme *controller, const void *log) {
  const bool good = spate_nvme_health_decode(&controller->health, log);

  spate_nvme_power_judge(controller, good);
  return good;
}

void spate_nvme_log_command(struct nvme_command *command, uint8_t page, void *to) {
  *command = (struct nvme_command){.opcode = NVME_GET_LOG,
                                   .nsid = NVME_ALL_NAMESPACES,
                                   .data = to,
                                   .dword10 = nvme_get_log_cdw10(page, NVME_LOG_BYTES)};
}

static void log_taken(struct spate_nvme *controller);

static void start_reading(struct spate_nvme *controller, uint8_t page) {
  struct nvme_command command;

  controller->log_page = page;
  spate_nvme_log_command(&command, page, controller->log);
  command.completed = log_taken;
  spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_LOG, &command, ADMIN_TIMEOUT_MS);
}

/* Reading the log page of an event clears the event (RAE 0). Until then the drive reports no other event of this type,
 * so every page is read, one after the other. */
static void log_read(struct spate_nvme *controller, uint8_t page) {
  if (controller->log_page == 0)
    start_reading(controller, page);
  else
    controller->logs_waiting[page / 32u] |= UINT32_C(1) << page % 32u;
}

/* Reads the waiting page with the lowest number. */
static void read_next(struct spate_nvme *controller) {
  for (unsigned page = 1; page < 256u; page++) {
    uint32_t *word = &controller->logs_waiting[page / 32u];
    if ((*word & UINT32_C(1) << page % 32u) == 0) continue;
    *word &= ~(UINT32_C(1) << page % 32u);
    start_reading(controller, (uint8_t)page);
    return;
  }
}

static void log_taken(struct spate_nvme *controller) {
  const uint16_t status = controller->admin[SPATE_NVME_ADMIN_LOG].status;
  const uint8_t page = controller->log_page;

  controller->log_page = 0;
  if (status != 0)
    controller->status = status;
  else if (page == NVME_LOG_HEALTH)
    (void)spate_nvme_health_take(controller, controller->log);
  read_next(controller);
}

/* Requests the next event: a few at once, then one a second. The drive keeps its events until one is requested. So an
 * event that repeats costs no more than that, and a new event is seen at once. */
static void request_again(struct spate_nvme *controller) {
  const uint64_t now = spate_port_ticks(), interval = spate_nvme_ticks(controller, EVENT_INTERVAL_MS);

  if (controller->events_until_ticks < now) controller->events_until_ticks = now;
  controller->events_until_ticks += interval;
  const uint64_t ahead = controller->events_until_ticks - now;
  controller->event_again_ticks = now + (ahead > EVENTS_AT_ONCE * interval ? ahead - EVENTS_AT_ONCE * interval : 0);
}

static void event_taken(struct spate_nvme *controller) {
  const struct spate_nvme_admin_slot *slot = &controller->admin[SPATE_NVME_ADMIN_EVENT];
  const uint32_t result = slot->result;

  if (slot->status != 0) return; /* refused, as the next one would be */
  controller->counters.events++;
  spate_port_log("nvme: asynchronous event", result);
  if (EVENT_PAGE(result) != 0) log_read(controller, EVENT_PAGE(result));
  request_again(controller);
}

void spate_nvme_event_arm(struct spate_nvme *controller) {
  const struct nvme_command command = {.opcode = NVME_ASYNC_EVENT, .completed = event_taken};

  spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_EVENT, &command, 0);
}

void spate_nvme_event_supervise(struct spate_nvme *controller) {
  if (controller->event_again_ticks == 0 || spate_port_ticks() < controller->event_again_ticks) return;
  controller->event_again_ticks = 0;
  spate_nvme_event_arm(controller);
}

enum spate_error spate_nvme_health_start(struct spate_nvme *controller) {
  if (!spate_nvme_is_running(controller) || controller->log_page != 0) return SPATE_E_BUSY;
  log_read(controller, NVME_LOG_HEALTH);
  return SPATE_OK;
}

const struct spate_nvme_health *spate_nvme_health(const struct spate_nvme *controller) { return &controller->health; }
