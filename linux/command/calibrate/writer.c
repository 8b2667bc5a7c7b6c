/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include "../text/fail.h"
#include "link.h"
#include "streams.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values that are assumed for a drive where nothing was measured. */
#define IDLE_WATTS     1.2
#define AMBIENT_C      25.0
#define THROTTLE_C     80u
#define WARNING_LEAST  30u /* an idle drive is this warm: a lower stated limit cannot be true */
#define CRITICAL_ABOVE 5u
#define LINK_NEAR      0.97 /* above this share of the link's rate, the link is the limit: the drive may be faster */

/* ---- keys ---- */

static unsigned number_of(const char *key) {
  for (unsigned i = 0; sim_profile_field(i) != NULL; i++)
    if (strcmp(sim_profile_field(i)->key, key) == 0) return i;
  abort();
}

__attribute__((format(printf, 3, 4))) static void note(struct calibrate_profile *out, const char *key,
                                                       const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  (void)vsnprintf(out->source[number_of(key)], CALIBRATE_NOTE_BYTES, format, arguments);
  va_end(arguments);
}

/* Stores a number in the field, clamped to the range that a profile allows. */
static void put(struct calibrate_profile *out, const char *key, double value) {
  const struct sim_profile_field *field = sim_profile_field(number_of(key));
  uint8_t *at = (uint8_t *)&out->profile + field->offset;

  value = fmin(fmax(value, field->least), field->most);
  switch (field->type) {
  case SIM_PROFILE_U8: *at = (uint8_t)value; break;
  case SIM_PROFILE_U16: memcpy(at, &(uint16_t){(uint16_t)value}, sizeof(uint16_t)); break;
  case SIM_PROFILE_U32: memcpy(at, &(uint32_t){(uint32_t)llround(value)}, sizeof(uint32_t)); break;
  case SIM_PROFILE_U64: memcpy(at, &(uint64_t){(uint64_t)llround(value)}, sizeof(uint64_t)); break;
  case SIM_PROFILE_REAL: memcpy(at, &value, sizeof value); break;
  case SIM_PROFILE_BOOL:
  case SIM_PROFILE_TEXT: break;
  }
}

/* Stores the measured value, or the assumed one if nothing was measured. */
static void found(struct calibrate_profile *out, const char *key, double value, const char *how, double otherwise,
                  const char *why) {
  put(out, key, isfinite(value) ? value : otherwise);
  if (isfinite(value))
    note(out, key, "measured: %s", how);
  else
    note(out, key, "assumed: not measured: %s", why);
}

/* ---- identity ---- */

static void identity(struct calibrate_profile *out, const struct calibrate_drive *drive) {
  (void)snprintf(out->profile.model, sizeof out->profile.model, "%s", drive->model);
  for (char *at = out->profile.model; *at != '\0'; at++)
    if (*at == '"' || (unsigned char)*at < 0x20u || (unsigned char)*at > 0x7eu) *at = '?';
  if (out->profile.model[0] == '\0') (void)snprintf(out->profile.model, sizeof out->profile.model, "unknown");
  note(out, "model", "report: Identify Controller");
  put(out, "capacity_bytes", (double)drive->capacity_bytes);
  note(out, "capacity_bytes", "report: Identify Namespace");
  put(out, "generation", drive->generation == 0 ? 4 : drive->generation);
  put(out, "lanes", drive->lanes == 0 ? 4 : drive->lanes);
  note(out, "generation",
       drive->generation == 0 ? "assumed: the link is not known" : "report: its link's capabilities");
  note(out, "lanes", drive->lanes == 0 ? "assumed: the link is not known" : "report: its link's capabilities");
  put(out, "mdts_pages", drive->transfer_bytes_max == 0 ? 512 : drive->transfer_bytes_max / CALIBRATE_PAGE);
  note(out, "mdts_pages",
       drive->transfer_bytes_max == 0 ? "assumed: it states no limit" : "report: MDTS in Identify Controller");
  put(out, "queue_entries", drive->queue_entries < 2 ? 1024 : drive->queue_entries);
  note(out, "queue_entries",
       drive->queue_entries < 2 ? "assumed: the kernel does not report it" : "report: CAP.MQES plus one");
  put(out, "ready_ms", 500);
  note(out, "ready_ms", "assumed: as other drives");
  out->profile.volatile_cache = drive->volatile_cache;
  note(out, "volatile_cache", "report: VWC in Identify Controller");
  put(out, "atomic_bytes", drive->atomic_bytes);
  note(out, "atomic_bytes", "report: AWUPF in Identify Controller");
}

/* ---- rates and latencies ---- */

static void latencies(struct calibrate_profile *out, const struct calibrate_drive *drive,
                      const struct calibrate_results *results) {
  const double link = calibrate_link_up(drive->generation_now, drive->lanes_now);
  static const char skipped[] = "the step latency was skipped";

  found(out, "command_ns", results->command_ns, "requests of 4 KiB a second, at the depth that gives the most", 1000,
        skipped);
  found(out, "write_latency_ns", results->write_latency_ns,
        "4 KiB at queue depth 1, minus the host, the link and command_ns", 12000, skipped);
  found(out, "read_latency_ns", results->read_latency_ns,
        "random 4 KiB at queue depth 1, minus the host, the link and command_ns", 45000, skipped);
  found(out, "flush_ns", results->flush_ns, "a flush after one write, minus the host and the link", 1e6, skipped);
  found(out, "fua_ns", results->fua_ns, "4 KiB with FUA minus 4 KiB without", 8e5, skipped);
  found(out, "read_rate", results->read_rate,
        results->read_rate > LINK_NEAR * link ? "limited by the link: the drive may be faster"
                                              : "sequential reads of 128 KiB, 32 in flight",
        3e9, skipped);
  if (drive->volatile_cache) return;
  put(out, "flush_ns", 0);
  put(out, "fua_ns", 0);
  note(out, "flush_ns", "report: no volatile cache: there is nothing to flush");
  note(out, "fua_ns", "report: no volatile cache: every write waits for the media");
}

static void cache(struct calibrate_profile *out, const struct calibrate_drive *drive,
                  const struct calibrate_results *results) {
  const double link = calibrate_link_down(drive->generation_now, drive->lanes_now);
  const char *skipped = results->done[CALIBRATE_CACHE] ? "the curve does not show it" : "the step cache was skipped";
  const bool no_cache = results->slc_bytes == 0;

  found(out, "slc_rate", results->slc_rate,
        results->slc_rate > LINK_NEAR * link ? "limited by the link: the drive may be faster"
        : no_cache                           ? "one rate over two fifths of the drive: no SLC cache"
                                             : "a trimmed drive, up to the first edge",
        2e9, skipped);
  found(out, "direct_rate", results->direct_rate,
        no_cache ? "as slc_rate: no edge was seen" : "a trimmed drive, past the last edge", 1.5e9, skipped);
  found(out, "fold_rate", results->fold_rate,
        !(results->fold_bytes > 0) ? "no second edge was seen: as direct_rate"
        : results->stretches > 3   ? "the mean between the first edge and the last: there were more than two"
                                   : "between the two edges",
        1.5e9, skipped);
  found(out, "slc_bytes", results->slc_bytes,
        no_cache ? "no edge in two fifths of a trimmed drive: there is no SLC cache"
                 : "where the rate of a trimmed drive fell, minus the volatile cache",
        0, skipped);
  found(out, "fold_bytes", results->fold_bytes,
        results->stretches > 3 ? "between the first edge and the last: there were more than two"
                               : "between the two edges; 0: there was at most one edge",
        0, skipped);
  found(out, "slc_refill_rate", results->slc_refill_rate,
        no_cache ? "no SLC cache" : "bytes that became free over idle time: the slope", 0, skipped);
  found(out, "slc_rest_ms", results->slc_rest_ms,
        no_cache ? "no SLC cache" : "bytes that became free over idle time: where the line begins", 0, skipped);
  found(out, "buffer_bytes", results->buffer_bytes, "bytes that are accepted at the link's rate after a flush",
        16 << 20, skipped);
  const bool pauses = results->pause_bytes > 0 && round(results->pause_ms) > 0;
  const double none = isfinite(results->pause_bytes) ? 0 : CALIBRATE_NONE;
  found(out, "pause_bytes", pauses ? results->pause_bytes : none,
        pauses ? "the distance between gaps in a long stream; the rates exclude them"
               : "no regular gaps in a long stream",
        0, skipped);
  found(out, "pause_ms", pauses ? results->pause_ms : none,
        pauses ? "by how much a gap delays the stream" : "no regular gaps in a long stream", 0, skipped);
}

static void full(struct calibrate_profile *out, const struct calibrate_results *results) {
  const char *skipped = results->done[CALIBRATE_FULL] ? "the curve does not show it" : "the step full was skipped";

  found(out, "full_rate", results->full_rate, "a full drive that is overwritten", out->profile.direct_rate, skipped);
  found(out, "slc_full_bytes", results->slc_full_bytes,
        results->slc_bytes == 0 ? "no SLC cache"
                                : "the edge with 6 % of the drive free, minus a third of the free space",
        0, skipped);
}

/* ---- heat ---- */

/*
 * From temperatures follow a rise (power × thermal resistance) and a time constant (capacity × resistance). Power
 * cannot be measured here: idle_watts is assumed, and the other numbers follow from it. Predictions depend on the
 * products alone.
 */
static void heat(struct calibrate_profile *out, const struct calibrate_drive *drive,
                 const struct calibrate_results *results, double ambient_c) {
  const double air_c = isfinite(ambient_c) ? ambient_c : AMBIENT_C;
  const double resistance = (results->idle_c - air_c) / IDLE_WATTS;
  const bool known = resistance > 0.01 && isfinite(results->rise_per_rate);
  const char *why = results->done[CALIBRATE_HEAT] ? "the temperature changed too little" : "the step heat was skipped";

  put(out, "ambient_c", air_c);
  note(out, "ambient_c", isfinite(ambient_c) ? "report: --ambient" : "assumed: a laboratory; --ambient sets it");
  put(out, "idle_watts", IDLE_WATTS);
  note(out, "idle_watts", "assumed: as other drives. The other numbers of heat are valid only with this one");
  found(out, "heat_resistance", known ? resistance : CALIBRATE_NONE, "the idle drive's rise over the air", 6, why);
  found(out, "joules_per_byte", known ? results->rise_per_rate / resistance : CALIBRATE_NONE,
        "the rise while it reads; writing may warm it more", 1e-9, why);
  found(out, "heat_capacity", known ? results->heat_constant_s / resistance : CALIBRATE_NONE,
        "the time constant of warming and cooling", 13, why);
  const bool stated = drive->warning_c >= WARNING_LEAST && drive->warning_c < 150;
  const uint32_t warning_c = stated ? drive->warning_c : THROTTLE_C;
  const uint32_t critical_c =
      drive->critical_c >= warning_c && drive->critical_c < 150 ? drive->critical_c : warning_c + CRITICAL_ABOVE;
  put(out, "warning_c", warning_c);
  put(out, "throttle_c", warning_c);
  put(out, "recover_c", warning_c - 4);
  put(out, "critical_c", critical_c);
  put(out, "throttle_factor", 0.5);
  note(out, "warning_c", stated ? "report: WCTEMP in Identify Controller" : "assumed: it states no plausible limit");
  note(out, "throttle_c", "assumed: at warning_c");
  note(out, "recover_c", "assumed: a few degrees below throttle_c");
  note(out, "throttle_factor", "assumed: as other drives");
  note(out, "critical_c",
       critical_c == drive->critical_c ? "report: CCTEMP in Identify Controller"
                                       : "assumed: a little above the warning");
}

/* Enforces the rules between keys (profile_text.c) that measured numbers may break. */
static void settle(struct sim_profile *profile) {
  if (profile->slc_bytes > profile->capacity_bytes) profile->slc_bytes = profile->capacity_bytes;
  if (profile->slc_full_bytes > profile->slc_bytes) profile->slc_full_bytes = profile->slc_bytes;
  if (profile->slc_bytes == 0) profile->fold_bytes = 0;
}

void calibrate_compose(struct calibrate_profile *out, const struct calibrate_drive *drive,
                       const struct calibrate_results *results, double ambient_c) {
  *out = (struct calibrate_profile){.profile = {.name = ""}};
  identity(out, drive);
  latencies(out, drive, results);
  cache(out, drive, results);
  full(out, results);
  heat(out, drive, results, ambient_c);
  settle(&out->profile);
}

/* ---- text ---- */

static void write_value(FILE *to, const struct sim_profile *profile, const struct sim_profile_field *field) {
  const uint8_t *at = (const uint8_t *)profile + field->offset;
  /* Rates are written in MB/s, the second of their units. */
  const char *unit = field->units == NULL ? "" : field->units[0].name;
  char text[64];
  double real;

  switch (field->type) {
  case SIM_PROFILE_TEXT: (void)snprintf(text, sizeof text, "\"%s\"", (const char *)at); break;
  case SIM_PROFILE_BOOL: (void)snprintf(text, sizeof text, "%s", *(const bool *)at ? "yes" : "no"); break;
  case SIM_PROFILE_U8: (void)snprintf(text, sizeof text, "%u %s", *at, unit); break;
  case SIM_PROFILE_U16: (void)snprintf(text, sizeof text, "%u %s", *(const uint16_t *)(const void *)at, unit); break;
  case SIM_PROFILE_U32:
    (void)snprintf(text, sizeof text, "%" PRIu32 " %s", *(const uint32_t *)(const void *)at, unit);
    break;
  case SIM_PROFILE_U64:
    (void)snprintf(text, sizeof text, "%" PRIu64 " %s", *(const uint64_t *)(const void *)at, unit);
    break;
  case SIM_PROFILE_REAL: {
    if (field->units == NULL) abort(); /* every number has a list of units, even if its only unit is "" */
    const struct sim_profile_unit *with = strcmp(unit, "kB/s") == 0 ? &field->units[1] : &field->units[0];
    memcpy(&real, at, sizeof real);
    (void)snprintf(text, sizeof text, "%.6g %s", real / with->worth, with->name);
    break;
  }
  }
  size_t used = strlen(text);
  while (used > 0 && text[used - 1] == ' ')
    text[--used] = '\0';
  (void)fprintf(to, "%-17s %-16s", field->key, text);
}

char *calibrate_text(const struct calibrate_profile *profile, const char *path, const char *heading, size_t *bytes) {
  char *text = NULL, why[SIM_PROFILE_WHY_BYTES];
  FILE *to = open_memstream(&text, bytes);
  struct sim_profile again;

  if (to == NULL) fail(EXIT_FAILED, "no memory");
  (void)fputs(heading, to);
  for (unsigned i = 0; sim_profile_field(i) != NULL; i++) {
    write_value(to, &profile->profile, sim_profile_field(i));
    (void)fprintf(to, " # %s\n", profile->source[i]);
  }
  if (fclose(to) != 0) fail(EXIT_FAILED, "no memory");
  if (!sim_profile_parse(&again, path, text, *bytes, why))
    fail(EXIT_FAILED, "the results do not make a valid profile: %s", why);
  return text;
}
