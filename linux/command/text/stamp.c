/* SPDX-License-Identifier: Apache-2.0 */
#include "stamp.h"

#include <stdio.h>
#include <string.h>

#define FIELDS "YmdHMSjs"

bool stamp_has_fields(const char *pattern) {
  for (const char *at = strchr(pattern, '%'); at != NULL && at[1] != '\0'; at = strchr(at + 2, '%'))
    if (strchr(FIELDS, at[1]) != NULL) return true;
  return false;
}

/* One field, or a percent sign. Returns the bytes that it needs; 0: there is no such field. */
static size_t put_field(char field, time_t time, const struct tm *utc, char *to, size_t room) {
  switch (field) {
  case '%': return (size_t)snprintf(to, room, "%%");
  case 's': return (size_t)snprintf(to, room, "%lld", (long long)time);
  case 'Y': return (size_t)snprintf(to, room, "%04d", utc->tm_year + 1900);
  case 'm': return (size_t)snprintf(to, room, "%02d", utc->tm_mon + 1);
  case 'd': return (size_t)snprintf(to, room, "%02d", utc->tm_mday);
  case 'H': return (size_t)snprintf(to, room, "%02d", utc->tm_hour);
  case 'M': return (size_t)snprintf(to, room, "%02d", utc->tm_min);
  case 'S': return (size_t)snprintf(to, room, "%02d", utc->tm_sec);
  case 'j': return (size_t)snprintf(to, room, "%03d", utc->tm_yday + 1);
  default: return 0;
  }
}

const char *stamp_name(const char *pattern, time_t time, char *name, size_t name_bytes) {
  static char why[96];
  struct tm utc;
  size_t used = 0;

  if (gmtime_r(&time, &utc) == NULL) return "has a time in it, and the clock of this machine is not set";
  for (const char *at = pattern; *at != '\0'; at++) {
    size_t more = 1;
    if (*at == '%') {
      at++;
      more = put_field(*at, time, &utc, name + used, name_bytes - used);
    } else {
      name[used] = *at;
    }
    if (more == 0 && *at == '\0') return "ends with a %, which begins a field of a time: write %% for a percent sign";
    if (more == 0) {
      (void)snprintf(why, sizeof why, "has a %%%c in it, which is no field of a time: write %%%% for a percent sign",
                     *at);
      return why;
    }
    used += more;
    if (used >= name_bytes) return "is too long";
  }
  name[used] = '\0';
  return NULL;
}
