/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 512u

/* ---- the keys ---- */

static const struct sim_profile_unit bytes[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
                                                {"GiB", 0x1p30}, {"kB", 1e3},     {"MB", 1e6},
                                                {"GB", 1e9},     {"TB", 1e12},    {NULL, 0}};
static const struct sim_profile_unit rates[] = {{"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {NULL, 0}};
static const struct sim_profile_unit ns[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {NULL, 0}};
static const struct sim_profile_unit ms[] = {{"ms", 1}, {"s", 1e3}, {NULL, 0}};
static const struct sim_profile_unit celsius[] = {{"C", 1}, {NULL, 0}};
static const struct sim_profile_unit watts[] = {{"W", 1}, {NULL, 0}};
static const struct sim_profile_unit joules[] = {{"nJ/B", 1e-9}, {NULL, 0}};
static const struct sim_profile_unit capacities[] = {{"J/K", 1}, {NULL, 0}};
static const struct sim_profile_unit resistances[] = {{"K/W", 1}, {NULL, 0}};
static const struct sim_profile_unit plain[] = {{"", 1}, {NULL, 0}};

#define FIELD(member, type, units, least, most)                                                                        \
  { #member, offsetof(struct sim_profile, member), SIM_PROFILE_##type, units, least, most }

static const struct sim_profile_field fields[] = {
    FIELD(model, TEXT, NULL, 1, 40),
    FIELD(capacity_bytes, U64, bytes, 1 << 20, 0x1p56),
    FIELD(generation, U8, plain, 1, 5),
    FIELD(lanes, U8, plain, 1, 16),
    FIELD(mdts_pages, U32, plain, 1, 1 << 16),
    FIELD(queue_entries, U32, plain, 2, 65536),
    FIELD(command_ns, U32, ns, 0, 1e9),
    FIELD(write_latency_ns, U32, ns, 0, 1e9),
    FIELD(read_latency_ns, U32, ns, 0, 1e9),
    FIELD(ready_ms, U32, ms, 0, 120000),
    FIELD(read_rate, REAL, rates, 1e6, 1e15),
    FIELD(slc_rate, REAL, rates, 1e6, 1e15),
    FIELD(direct_rate, REAL, rates, 1e6, 1e15),
    FIELD(fold_rate, REAL, rates, 1e6, 1e15),
    FIELD(full_rate, REAL, rates, 1e6, 1e15),
    FIELD(slc_bytes, U64, bytes, 0, 0x1p56),
    FIELD(slc_full_bytes, U64, bytes, 0, 0x1p56),
    FIELD(slc_refill_rate, REAL, rates, 0, 1e15),
    FIELD(slc_rest_ms, U32, ms, 0, 3600000),
    FIELD(fold_bytes, U64, bytes, 0, 0x1p56),
    FIELD(volatile_cache, BOOL, NULL, 0, 1),
    FIELD(buffer_bytes, U64, bytes, 1 << 12, 0x1p50),
    FIELD(flush_ns, U32, ns, 0, 1e9),
    FIELD(fua_ns, U32, ns, 0, 1e9),
    FIELD(pause_bytes, U64, bytes, 0, 0x1p56),
    FIELD(pause_ms, U32, ms, 0, 60000),
    FIELD(idle_watts, REAL, watts, 0, 100),
    FIELD(joules_per_byte, REAL, joules, 0, 1e-6),
    FIELD(heat_capacity, REAL, capacities, 0.1, 1e6),
    FIELD(heat_resistance, REAL, resistances, 0, 1000),
    FIELD(ambient_c, REAL, celsius, -40, 85),
    FIELD(warning_c, REAL, celsius, 0, 150),
    FIELD(throttle_c, REAL, celsius, 0, 150),
    FIELD(recover_c, REAL, celsius, 0, 150),
    FIELD(throttle_factor, REAL, plain, 0.01, 1),
    FIELD(critical_c, REAL, celsius, 0, 150),
    FIELD(atomic_bytes, U16, bytes, 0, 32768),
};

#define FIELDS (sizeof fields / sizeof fields[0])

static const char *const kinds[] = {"data sheet", "report",  "review",  "seed",
                                    "fitted",     "derived", "assumed", "measured"};
#define KINDS "data sheet, report, review, seed, fitted, derived, assumed, measured"

const struct sim_profile_field *sim_profile_field(unsigned index) { return index < FIELDS ? &fields[index] : NULL; }

/* ---- errors ---- */

struct parser {
  struct sim_profile *profile;
  const char *file;
  unsigned line;
  bool seen[FIELDS];
  char *why;
};

__attribute__((format(printf, 2, 3))) static bool wrong(const struct parser *parser, const char *format, ...) {
  const int used = snprintf(parser->why, SIM_PROFILE_WHY_BYTES, "%s:%u: ", parser->file, parser->line);
  va_list arguments;

  if (used < 0 || (size_t)used >= SIM_PROFILE_WHY_BYTES) return false;
  va_start(arguments, format);
  (void)vsnprintf(parser->why + used, SIM_PROFILE_WHY_BYTES - (size_t)used, format, arguments);
  va_end(arguments);
  return false;
}

static bool wrong_unit(const struct parser *parser, const struct sim_profile_field *field, const char *unit) {
  char known[128] = "";

  for (const struct sim_profile_unit *one = field->units; one->name != NULL; one++)
    (void)snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", one == field->units ? "" : ", ",
                   one->name[0] == '\0' ? "none" : one->name);
  if (unit[0] == '\0') return wrong(parser, "%s: unit missing (known here: %s)", field->key, known);
  return wrong(parser, "%s: bad unit '%s' (known here: %s)", field->key, unit, known);
}

/* ---- a value ---- */

static void *member(const struct parser *parser, const struct sim_profile_field *field) {
  return (uint8_t *)parser->profile + field->offset;
}

static bool take_text(const struct parser *parser, const struct sim_profile_field *field, const char *text,
                      const char *unit) {
  const size_t length = strlen(text);

  if (text[0] != '"' || length < 2 || unit[0] != '\0')
    return wrong(parser, "%s: must be a text in quotes, without a unit", field->key);
  for (size_t i = 1; i + 1 < length; i++)
    if ((unsigned char)text[i] < 0x20u || (unsigned char)text[i] > 0x7eu)
      return wrong(parser, "%s: must be printable ASCII characters", field->key);
  if (length - 2u < (size_t)field->least || length - 2u > (size_t)field->most)
    return wrong(parser, "%s: must be %g to %g printable ASCII characters", field->key, field->least, field->most);
  memcpy(member(parser, field), text + 1, length - 2u);
  ((char *)member(parser, field))[length - 2u] = '\0';
  return true;
}

static bool take_bool(const struct parser *parser, const struct sim_profile_field *field, const char *text,
                      const char *unit) {
  const bool yes = strcmp(text, "yes") == 0;

  if ((!yes && strcmp(text, "no") != 0) || unit[0] != '\0') return wrong(parser, "%s: must be yes or no", field->key);
  *(bool *)member(parser, field) = yes;
  return true;
}

static void store(void *to, enum sim_profile_type type, double value) {
  switch (type) {
  case SIM_PROFILE_U8: *(uint8_t *)to = (uint8_t)value; break;
  case SIM_PROFILE_U16: *(uint16_t *)to = (uint16_t)value; break;
  case SIM_PROFILE_U32: *(uint32_t *)to = (uint32_t)value; break;
  case SIM_PROFILE_U64: *(uint64_t *)to = (uint64_t)value; break;
  case SIM_PROFILE_REAL: *(double *)to = value; break;
  case SIM_PROFILE_TEXT:
  case SIM_PROFILE_BOOL: break;
  }
}

/* Digits, a point, an exponent: strtod() accepts more than that. */
static bool is_number(const char *text, double *value) {
  char *end;

  *value = strtod(text, &end);
  return end != text && *end == '\0' && strspn(text, "+-.0123456789eE") == strlen(text) && isfinite(*value);
}

static bool take_number(const struct parser *parser, const struct sim_profile_field *field, const char *text,
                        const char *unit) {
  const struct sim_profile_unit *known = field->units;
  double value;

  while (known->name != NULL && strcmp(known->name, unit) != 0)
    known++;
  if (known->name == NULL) return wrong_unit(parser, field, unit);
  if (!is_number(text, &value)) return wrong(parser, "%s: '%s' is not a number", field->key, text);
  value *= known->worth;
  if (field->type != SIM_PROFILE_REAL) {
    if (fabs(value - round(value)) > 1e-9 * fmax(1, fabs(value)))
      return wrong(parser, "%s: '%s %s' is not a whole number of the field's unit", field->key, text, unit);
    value = round(value);
  }
  if (!(value >= field->least && value <= field->most))
    return wrong(parser, "%s: %g is not between %g and %g", field->key, value, field->least, field->most);
  store(member(parser, field), field->type, value);
  return true;
}

/* ---- a line ---- */

static bool known_source(const char *source) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const size_t length = strlen(kinds[i]);
    if (strncmp(source, kinds[i], length) != 0 || source[length] != ':') continue;
    return source[length + 1u + strspn(source + length + 1u, " \t")] != '\0';
  }
  return false;
}

/* The beginning of the comment that names the source. NULL: there is none. A '#' in quotes begins no comment. */
static char *comment_of(char *line) {
  bool quoted = false;

  for (char *at = line; *at != '\0'; at++) {
    if (*at == '"') quoted = !quoted;
    if (*at == '#' && !quoted) return at;
  }
  return NULL;
}

/* Splits at blanks outside quotes. False: there are more than `most` words. */
static bool split(char *text, char **words, unsigned most, unsigned *count) {
  *count = 0;
  for (char *at = text + strspn(text, " \t"); *at != '\0'; at += strspn(at, " \t")) {
    if (*count == most) return false;
    words[(*count)++] = at;
    if (*at == '"') {
      at++;
      at += strcspn(at, "\"");
    }
    at += strcspn(at, " \t");
    if (*at != '\0') *at++ = '\0';
  }
  return true;
}

static const struct sim_profile_field *field_named(const char *key) {
  for (size_t i = 0; i < FIELDS; i++)
    if (strcmp(fields[i].key, key) == 0) return &fields[i];
  return NULL;
}

static bool parse_words(struct parser *parser, const char *key, const char *value, const char *unit,
                        const char *source) {
  const struct sim_profile_field *field = field_named(key);

  if (field == NULL) return wrong(parser, "unknown key '%s'", key);
  if (source == NULL || !known_source(source))
    return wrong(parser, "'%s' has no source: '# KIND: ...', KIND one of " KINDS, key);
  if (parser->seen[field - fields]) return wrong(parser, "'%s' appears twice", key);
  parser->seen[field - fields] = true;
  if (field->type == SIM_PROFILE_TEXT) return take_text(parser, field, value, unit);
  if (field->type == SIM_PROFILE_BOOL) return take_bool(parser, field, value, unit);
  return take_number(parser, field, value, unit);
}

static bool parse_line(struct parser *parser, char *line) {
  char *source = comment_of(line), *words[3] = {NULL, NULL, NULL};
  unsigned count;

  if (source != NULL) {
    *source++ = '\0';
    source += strspn(source, " \t");
  }
  if (!split(line, words, 3, &count) || count == 1) return wrong(parser, "not KEY VALUE [UNIT]  # KIND: SOURCE");
  return count == 0 || parse_words(parser, words[0], words[1], count == 3 ? words[2] : "", source);
}

/* ---- the file ---- */

/* Rules that involve several keys. */
static bool check_whole(const struct parser *parser) {
  const struct sim_profile *profile = parser->profile;

  if ((profile->mdts_pages & (profile->mdts_pages - 1u)) != 0) return wrong(parser, "mdts_pages is not a power of two");
  if ((profile->lanes & (profile->lanes - 1u)) != 0) return wrong(parser, "lanes is not 1, 2, 4, 8 or 16");
  if (profile->slc_full_bytes > profile->slc_bytes || profile->slc_bytes > profile->capacity_bytes)
    return wrong(parser, "slc_full_bytes <= slc_bytes <= capacity_bytes is required");
  if (profile->slc_bytes == 0 && profile->fold_bytes > 0)
    return wrong(parser, "fold_bytes without slc_bytes: there is nothing to fold");
  if (!(profile->recover_c < profile->throttle_c && profile->throttle_c <= profile->critical_c))
    return wrong(parser, "recover_c < throttle_c <= critical_c is required");
  if ((profile->pause_bytes == 0) != (profile->pause_ms == 0))
    return wrong(parser, "pause_bytes and pause_ms must both be 0, or neither");
  return true;
}

static bool check_complete(const struct parser *parser) {
  char missing[SIM_PROFILE_WHY_BYTES] = "";

  for (size_t i = 0; i < FIELDS; i++)
    if (!parser->seen[i])
      (void)snprintf(missing + strlen(missing), sizeof missing - strlen(missing), "%s%s",
                     missing[0] == '\0' ? "" : ", ", fields[i].key);
  return missing[0] == '\0' || wrong(parser, "missing: %.400s", missing);
}

/* "980pro" of "sim/profiles/980pro.profile". */
static void take_name(struct sim_profile *profile, const char *file) {
  const char *slash = strrchr(file, '/');
  const char *name = slash == NULL ? file : slash + 1;
  const char *point = strrchr(name, '.');
  const size_t length = point == NULL || point == name ? strlen(name) : (size_t)(point - name);

  (void)snprintf(profile->name, sizeof profile->name, "%.*s", (int)length, name);
}

bool sim_profile_parse(struct sim_profile *profile, const char *file, const char *text, size_t size, char *why) {
  struct parser parser = {.profile = profile, .file = file, .why = why};
  char line[LINE_BYTES];

  *profile = (struct sim_profile){.name = ""};
  take_name(profile, file);
  for (const char *at = text, *end = text + size; at < end;) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    const size_t length = (size_t)((stop == NULL ? end : stop) - at);
    parser.line++;
    if (length >= sizeof line) return wrong(&parser, "the line has more than %u characters", LINE_BYTES - 1u);
    if (memchr(at, '\0', length) != NULL) return wrong(&parser, "this is not text");
    memcpy(line, at, length);
    line[length] = '\0';
    if (length > 0 && line[length - 1u] == '\r') line[length - 1u] = '\0';
    if (!parse_line(&parser, line)) return false;
    at = stop == NULL ? end : stop + 1;
  }
  return check_complete(&parser) && check_whole(&parser);
}

bool sim_profile_load(struct sim_profile *profile, const char *path, char *why) {
  char *text = malloc(SIM_PROFILE_FILE_BYTES + 1u);
  FILE *file = text == NULL ? NULL : fopen(path, "re");
  bool good = false;

  if (file == NULL) {
    (void)snprintf(why, SIM_PROFILE_WHY_BYTES, "%s: %s", path, strerror(errno));
    free(text);
    return false;
  }
  const size_t got = fread(text, 1, SIM_PROFILE_FILE_BYTES + 1u, file);
  if (ferror(file) != 0)
    (void)snprintf(why, SIM_PROFILE_WHY_BYTES, "%s: %s", path, strerror(errno));
  else if (got > SIM_PROFILE_FILE_BYTES)
    (void)snprintf(why, SIM_PROFILE_WHY_BYTES, "%s: more than %u bytes: this is no profile", path,
                   SIM_PROFILE_FILE_BYTES);
  else
    good = sim_profile_parse(profile, path, text, got, why);
  (void)fclose(file);
  free(text);
  return good;
}
