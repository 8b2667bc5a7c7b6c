/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WHY_BYTES 128u
static char why[WHY_BYTES];

/* Names of devices, with any extension: Windows opens the device. */
static bool is_device(const char *name, size_t length) {
  static const char *const names[] = {"CON", "PRN", "AUX", "NUL"};
  const char *dot = memchr(name, '.', length);
  size_t stem = dot == NULL ? length : (size_t)(dot - name);

  while (stem > 0 && name[stem - 1u] == ' ')
    stem--;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (stem == 3 && strncasecmp(name, names[i], 3) == 0) return true;
  return stem == 4 && (strncasecmp(name, "COM", 3) == 0 || strncasecmp(name, "LPT", 3) == 0) && name[3] >= '1' &&
         name[3] <= '9';
}

/* One component of a path. */
static const char *problem_of(const char *name, size_t length) {
  static const char forbidden[] = "\"*:<>?\\|";

  if (length == 1 && name[0] == '.') return "has \".\" in it, which is not the name of a file";
  if (length == 2 && name[0] == '.' && name[1] == '.')
    return "has \"..\" in it: a path begins at the root of the volume";
  for (size_t i = 0; i < length; i++) {
    if (iscntrl((unsigned char)name[i])) return "has a control character in it, which exFAT does not allow";
    if (strchr(forbidden, name[i]) == NULL) continue;
    (void)snprintf(why, sizeof why, "has a %c in it, which exFAT does not allow in names", name[i]);
    return why;
  }
  if (name[length - 1u] == '.' || name[length - 1u] == ' ')
    return "has a name that ends with a dot or a space, which Windows removes";
  if (!is_device(name, length)) return NULL;
  (void)snprintf(why, sizeof why, "has the name %.*s in it, which is a device on Windows",
                 length < 32 ? (int)length : 32, name);
  return why;
}

const char *names_problem(const char *path) {
  const char *problem = NULL;

  for (const char *name = path; *name != '\0' && problem == NULL;) {
    const size_t length = strcspn(name, "/");
    if (length > 0) problem = problem_of(name, length);
    name += length + (name[length] == '/');
  }
  return problem;
}
