/* SPDX-License-Identifier: Apache-2.0 */
/* Get and Set Features (5.9, 5.21). No feature is saveable. A reset restores the defaults (but:
 * options.keeps_write_cache). */
#include "drive_internal.h"
#include <string.h>

#define KELVIN    273.0
#define BROADCAST UINT32_C(0xffffffff)

enum feature {
  FEATURE_ARBITRATION = 0x01,
  FEATURE_POWER = 0x02,
  FEATURE_TEMPERATURE = 0x04,
  FEATURE_ERROR_RECOVERY = 0x05,
  FEATURE_WRITE_CACHE = 0x06,
  FEATURE_QUEUES = 0x07,
  FEATURE_COALESCING = 0x08,
  FEATURE_VECTOR = 0x09,
  FEATURE_ATOMICITY = 0x0a,
  FEATURE_EVENTS = 0x0b,
  FEATURE_AUTONOMOUS_POWER = 0x0c,
  FEATURE_HOST_BUFFER = 0x0d,
  FEATURE_TIMESTAMP = 0x0e,
  FEATURE_HOST_BEHAVIOR = 0x16,
};
enum { SELECT_CURRENT, SELECT_DEFAULT, SELECT_SAVED, SELECT_CAPABILITIES };

#define SAVE                (UINT32_C(1) << 31)
#define CHANGEABLE          4u /* of capabilities */
#define BEHAVIOR_BYTES      512u
#define TIMESTAMP_BYTES     8u
#define TRANSITION_BYTES    256u
#define TIMESTAMP_MASK      UINT64_C(0xffffffffffff)
#define TIMESTAMP_FROM_HOST UINT64_C(0x2000000000000) /* Timestamp Origin 001b (5.21.1.14) */
#define LIST_MAX            256u                      /* descriptors of a host memory buffer: at most a page */

static bool is_known(const struct sim_drive *drive, uint8_t feature) {
  switch (feature) {
  case FEATURE_ARBITRATION:
  case FEATURE_POWER:
  case FEATURE_TEMPERATURE:
  case FEATURE_ERROR_RECOVERY:
  case FEATURE_QUEUES:
  case FEATURE_COALESCING:
  case FEATURE_VECTOR:
  case FEATURE_ATOMICITY:
  case FEATURE_EVENTS:
  case FEATURE_HOST_BEHAVIOR: return true;
  case FEATURE_WRITE_CACHE: return (drive->identify_controller[525] & 1u) != 0;
  case FEATURE_AUTONOMOUS_POWER: return (drive->identify_controller[265] & 1u) != 0;   /* APSTA */
  case FEATURE_TIMESTAMP: return (drive->identify_controller[520] & 0x40u) != 0;       /* ONCS */
  case FEATURE_HOST_BUFFER: return spate_get32(drive->identify_controller + 272) != 0; /* HMPRE */
  default: return false;
  }
}

static uint32_t default_of(const struct sim_drive *drive, uint8_t feature) {
  const uint32_t pairs = drive->options.queue_pairs;
  const uint32_t completion = drive->options.completion_queues == 0 ? pairs : drive->options.completion_queues;

  if (feature == FEATURE_QUEUES) return (completion - 1u) << 16 | (pairs - 1u);
  if (feature == FEATURE_TEMPERATURE) return (uint32_t)(drive->profile.warning_c + KELVIN);
  if (feature == FEATURE_AUTONOMOUS_POWER) return drive->identify_controller[265] & 1u; /* on, where there is such */
  return feature == FEATURE_WRITE_CACHE && drive->profile.volatile_cache;
}

void drive_features_reset(struct sim_drive *drive) {
  const uint32_t write_cache = drive->features.values[FEATURE_WRITE_CACHE];

  drive->features = (struct drive_features){0};
  for (unsigned i = 0; i < 256; i++)
    drive->features.values[i] = default_of(drive, (uint8_t)i);
  if (drive->options.keeps_write_cache && drive->cache_chosen)
    drive->features.values[FEATURE_WRITE_CACHE] = write_cache;
  drive->features.over_k = default_of(drive, FEATURE_TEMPERATURE);
}

/* ---- get ---- */

static uint16_t get_temperature(const struct sim_drive *drive, struct drive_command *command) {
  const uint32_t select = command->dwords[11] >> 20 & 3u;

  if (select > 1) return STATUS_FIELD;
  if ((command->dwords[11] >> 16 & 0xfu) == 0)
    command->result = select == 0 ? drive->features.over_k : drive->features.under_k;
  return STATUS_OK;
}

static uint16_t get_behavior(struct sim_drive *drive, struct drive_command *command) {
  drive_page(command)[0] = drive->features.acre;
  drive_send_page(drive, command, BEHAVIOR_BYTES);
  return STATUS_PENDING;
}

/* In milliseconds. The clock runs on from the value that the host has set. */
static uint16_t get_timestamp(struct sim_drive *drive, struct drive_command *command) {
  const uint64_t passed_ms = (sim_now_ps(drive->sim) - drive->features.timestamp_set_ps) / SIM_PS_PER_MS;
  const uint64_t timestamp = drive->features.timestamp;

  spate_put64(drive_page(command), (timestamp & ~TIMESTAMP_MASK) | ((timestamp + passed_ms) & TIMESTAMP_MASK));
  drive_send_page(drive, command, TIMESTAMP_BYTES);
  return STATUS_PENDING;
}

uint64_t *sim_drive_timestamp(struct sim_drive *drive) { return &drive->features.timestamp; }

uint16_t drive_get_feature(struct sim_drive *drive, struct drive_command *command) {
  const uint8_t feature = (uint8_t)command->dwords[10];
  const uint32_t select = command->dwords[10] >> 8 & 7u;

  if (!is_known(drive, feature)) return STATUS_FIELD;
  if (command->dwords[11] != 0 && feature != FEATURE_TEMPERATURE && feature != FEATURE_VECTOR)
    sim_violate(drive->sim, "reserved bits in dword 11 of Get Features");
  if (select == SELECT_CAPABILITIES) {
    command->result = CHANGEABLE;
    return STATUS_OK;
  }
  if (select > SELECT_CAPABILITIES) return STATUS_FIELD;
  if (select != SELECT_CURRENT) {
    command->result = default_of(drive, feature);
    return STATUS_OK;
  }
  if (feature == FEATURE_TEMPERATURE) return get_temperature(drive, command);
  if (feature == FEATURE_HOST_BEHAVIOR) return get_behavior(drive, command);
  if (feature == FEATURE_TIMESTAMP) return get_timestamp(drive, command);
  command->result = drive->features.values[feature];
  return STATUS_OK;
}

/* ---- set ---- */

static uint16_t set_queues(struct sim_drive *drive, struct drive_command *command) {
  const uint32_t asked = command->dwords[11];

  if ((asked & 0xffffu) == 0xffffu || asked >> 16 == 0xffffu) {
    sim_violate(drive->sim, "65536 queues requested");
    return STATUS_FIELD;
  }
  for (unsigned i = 1; i <= drive->options.queue_pairs; i++)
    if (drive->sq[i].entries != 0 || drive->cq[i].entries != 0) {
      sim_violate(drive->sim, "Number of Queues set while I/O queues exist");
      return STATUS_SEQUENCE;
    }
  command->result = default_of(drive, FEATURE_QUEUES);
  return STATUS_OK;
}

static uint16_t set_temperature(struct sim_drive *drive, struct drive_command *command) {
  const uint32_t value = command->dwords[11], select = value >> 20 & 3u;

  if (select > 1) return STATUS_FIELD;
  if ((value >> 16 & 0xfu) != 0) return STATUS_OK; /* for a sensor that the drive does not have */
  if (select == 0)
    drive->features.over_k = value & 0xffffu;
  else
    drive->features.under_k = value & 0xffffu;
  drive->events.hot = false;
  drive_check_heat(drive);
  return STATUS_OK;
}

static void behavior_arrived(struct sim_drive *drive, struct drive_command *command) {
  for (unsigned i = 1; i < BEHAVIOR_BYTES; i++)
    if (command->buffer[i] != 0) {
      sim_violate(drive->sim, "reserved byte %u of Host Behavior Support is not zero", i);
      break;
    }
  drive->features.acre = command->buffer[0] == 1;
  drive_complete(drive, command, STATUS_OK);
}

static void transitions_arrived(struct sim_drive *drive, struct drive_command *command) {
  for (unsigned i = 0; i < TRANSITION_BYTES; i++)
    if (command->buffer[i] != 0) {
      sim_violate(drive->sim, "byte %u of the transitions between power states is not zero", i);
      break;
    }
  drive->features.values[FEATURE_AUTONOMOUS_POWER] = command->dwords[11];
  drive_complete(drive, command, STATUS_OK);
}

static void timestamp_arrived(struct sim_drive *drive, struct drive_command *command) {
  drive->features.timestamp = (spate_get64(command->buffer) & TIMESTAMP_MASK) | TIMESTAMP_FROM_HOST;
  drive->features.timestamp_set_ps = sim_now_ps(drive->sim);
  drive_complete(drive, command, STATUS_OK);
}

/* Reads the list and checks it. The drive never uses the memory. */
static void descriptors_arrived(struct sim_drive *drive, struct drive_command *command) {
  uint64_t pages = 0;

  if (command->fails) {
    drive_complete(drive, command, STATUS_TRANSFER);
    return;
  }
  for (uint32_t i = 0; i < command->dwords[15]; i++) {
    const uint64_t address = spate_get64(command->buffer + (size_t)16 * i);
    const uint32_t count = spate_get32(command->buffer + (size_t)16 * i + 8);
    if (address % SIM_PAGE != 0 || sim_memory_device(drive->sim, address, (uint64_t)count * SIM_PAGE) == NULL)
      sim_violate(
          drive->sim,
          "a host memory buffer at %llx, %u pages, which is not page aligned, or not memory that the host provided",
          (unsigned long long)address, count);
    pages += count;
  }
  if (pages != command->dwords[12])
    sim_violate(drive->sim, "a host memory buffer of %u pages is described by %llu", command->dwords[12],
                (unsigned long long)pages);
  memcpy(drive->features.host_buffer, &command->dwords[11], sizeof drive->features.host_buffer);
  drive->features.host_buffer_descriptor[0] = spate_get64(command->buffer);
  drive->features.host_buffer_descriptor[1] = spate_get64(command->buffer + 8);
  drive_complete(drive, command, STATUS_OK);
}

static uint16_t set_host_buffer(struct sim_drive *drive, struct drive_command *command) {
  const uint32_t *dwords = command->dwords;
  const uint64_t list = (uint64_t)dwords[14] << 32 | dwords[13];

  if ((dwords[11] & 1u) == 0) {
    memset(drive->features.host_buffer, 0, sizeof drive->features.host_buffer);
    return STATUS_OK;
  }
  if (drive->features.host_buffer[0] != 0) {
    sim_violate(drive->sim, "a host memory buffer enabled while one is already enabled");
    return STATUS_SEQUENCE;
  }
  if (dwords[15] == 0 || dwords[15] > LIST_MAX || list % 16u != 0) {
    sim_violate(drive->sim, "a host memory buffer of %u descriptors at %llx", dwords[15], (unsigned long long)list);
    return STATUS_FIELD;
  }
  /* PRPs do not describe this list: its address is in dwords 13 and 14. */
  command->dwords[6] = dwords[13];
  command->dwords[7] = dwords[14];
  command->dwords[8] = command->dwords[9] = 0;
  drive_take_page(drive, command, (uint64_t)dwords[15] * 16u, descriptors_arrived);
  return STATUS_PENDING;
}

uint16_t drive_set_feature(struct sim_drive *drive, struct drive_command *command) {
  const uint8_t feature = (uint8_t)command->dwords[10];
  uint16_t status = STATUS_OK;

  if ((command->dwords[10] & 0x7fffff00u) != 0) sim_violate(drive->sim, "reserved bits in dword 10 of Set Features");
  if ((command->dwords[10] & SAVE) != 0) return STATUS_NOT_SAVEABLE;
  if (!is_known(drive, feature)) return STATUS_FIELD;
  if (command->dwords[1] != 0 && command->dwords[1] != BROADCAST && feature != FEATURE_ERROR_RECOVERY)
    return command->dwords[1] == drive->namespaces[0] ? STATUS_NOT_OF_NAMESPACE : STATUS_NAMESPACE;
  if (feature == FEATURE_POWER && (command->dwords[11] & 0x1fu) > drive->identify_controller[263]) return STATUS_FIELD;
  if (feature == FEATURE_QUEUES) return set_queues(drive, command);
  if (feature == FEATURE_TEMPERATURE) status = set_temperature(drive, command);
  if (feature == FEATURE_HOST_BUFFER) status = set_host_buffer(drive, command);
  if (feature == FEATURE_HOST_BEHAVIOR) {
    drive_take_page(drive, command, BEHAVIOR_BYTES, behavior_arrived);
    return STATUS_PENDING;
  }
  if (feature == FEATURE_AUTONOMOUS_POWER) {
    drive_take_page(drive, command, TRANSITION_BYTES, transitions_arrived);
    return STATUS_PENDING;
  }
  if (feature == FEATURE_TIMESTAMP) {
    drive_take_page(drive, command, TIMESTAMP_BYTES, timestamp_arrived);
    return STATUS_PENDING;
  }
  const bool cache_was_on = drive_cache_on(drive);
  if (feature == FEATURE_WRITE_CACHE && cache_was_on && drive->options.keeps_cache_on) return STATUS_OK;
  drive->cache_chosen |= feature == FEATURE_WRITE_CACHE;
  if (status == STATUS_OK) drive->features.values[feature] = command->dwords[11];
  if (cache_was_on && !drive_cache_on(drive))
    drive->drained_ps = sim_media_flush(&drive->media, sim_now_ps(drive->sim));
  return status;
}

/* ---- for tests ---- */

uint32_t sim_drive_feature(const struct sim_drive *drive, uint8_t feature) { return drive->features.values[feature]; }

struct sim_host_buffer sim_drive_host_buffer(const struct sim_drive *drive) {
  const struct drive_features *features = &drive->features;

  return (struct sim_host_buffer){.enabled = (features->host_buffer[0] & 1u) != 0,
                                  .returned = (features->host_buffer[0] & 2u) != 0,
                                  .pages = features->host_buffer[1],
                                  .descriptors = features->host_buffer[4],
                                  .address = (uint64_t)features->host_buffer[3] << 32 | features->host_buffer[2],
                                  .first_address = features->host_buffer_descriptor[0],
                                  .first_pages = (uint32_t)features->host_buffer_descriptor[1]};
}

bool sim_drive_retry_delays(const struct sim_drive *drive) { return drive->features.acre; }
