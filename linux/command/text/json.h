/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one JSON document directly to a file, members in the order of the calls. Numbers are integers, or reals with
 * six significant digits, so that the same run gives the same text.
 */
#ifndef SPATE_COMMAND_JSON_H
#define SPATE_COMMAND_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
  FILE *to;
  unsigned depth;
  bool comma;
  bool line; /* the whole document on one line */
};

/* `name` is NULL for the document itself and inside arrays. */
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket); /* '}' or ']'; closing the document also ends the line */
void json_string(struct json *json, const char *name, const char *value);
void json_integer(struct json *json, const char *name, uint64_t value);
void json_real(struct json *json, const char *name, double value); /* not finite: null */
void json_null(struct json *json, const char *name);
void json_bool(struct json *json, const char *name, bool value);

#endif
