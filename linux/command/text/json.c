/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <inttypes.h>
#include <math.h>

static void text(struct json *json, const char *string) {
  (void)fputc('"', json->to);
  for (const char *at = string; *at != '\0'; at++) {
    if (*at == '"' || *at == '\\')
      (void)fprintf(json->to, "\\%c", *at);
    else if ((unsigned char)*at < 0x20u)
      (void)fprintf(json->to, "\\u%04x", (unsigned)(unsigned char)*at);
    else
      (void)fputc(*at, json->to);
  }
  (void)fputc('"', json->to);
}

static void begin(struct json *json, const char *name) {
  if (json->comma) (void)fputc(',', json->to);
  if (name != NULL) {
    if (!json->line) (void)fprintf(json->to, "\n%*s", (int)json->depth, "");
    text(json, name);
    (void)fputs(": ", json->to);
  }
  json->comma = true;
}

void json_open(struct json *json, const char *name, char bracket) {
  begin(json, name);
  (void)fputc(bracket, json->to);
  json->depth++;
  json->comma = false;
}

void json_close(struct json *json, char bracket) {
  json->depth--;
  (void)fputc(bracket, json->to);
  json->comma = true;
  if (json->depth == 0) (void)fputc('\n', json->to);
}

void json_string(struct json *json, const char *name, const char *value) {
  begin(json, name);
  text(json, value);
}

void json_integer(struct json *json, const char *name, uint64_t value) {
  begin(json, name);
  (void)fprintf(json->to, "%" PRIu64, value);
}

void json_real(struct json *json, const char *name, double value) {
  begin(json, name);
  if (isfinite(value))
    (void)fprintf(json->to, "%.6g", value);
  else
    (void)fputs("null", json->to);
}

void json_null(struct json *json, const char *name) {
  begin(json, name);
  (void)fputs("null", json->to);
}

void json_bool(struct json *json, const char *name, bool value) {
  begin(json, name);
  (void)fputs(value ? "true" : "false", json->to);
}
