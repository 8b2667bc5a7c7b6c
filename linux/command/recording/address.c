/* SPDX-License-Identifier: Apache-2.0 */
#include "address.h"

#include "../target/place.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* A member belongs to one stripe, so the first one stands for it. */
static void first_member(const char *target, char member[PATH_MAX]) {
  const char *words = starts_with(target, "stripe:") ? target + strlen("stripe:") : target;
  const size_t length = words == target ? strlen(words) : strcspn(words, ",");

  (void)snprintf(member, PATH_MAX, "%.*s", (int)length, words);
}

bool address_file(const char *target, struct stat *status, unsigned *number) {
  char member[PATH_MAX], path[PATH_MAX];

  first_member(target, member);
  const char *name = member, *colon = starts_with(member, "sim:") ? strchr(member + strlen("sim:"), ':') : NULL;
  if (colon != NULL) name = colon + 1;
  place_of_image(name, path, number);
  return stat(path, status) == 0;
}

socklen_t address_of(const char *target, struct sockaddr_un *address) {
  struct stat status;
  unsigned number;
  int length;

  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  char *name = address->sun_path + 1;
  const size_t room = sizeof address->sun_path - 1u;
  if (!address_file(target, &status, &number))
    length = snprintf(name, room, "spate-%s", target);
  else if (S_ISBLK(status.st_mode))
    length = snprintf(name, room, "spate-block-%u-%u", major(status.st_rdev), minor(status.st_rdev));
  else
    length = snprintf(name, room, "spate-file-%llx-%llx", (unsigned long long)status.st_dev,
                      (unsigned long long)status.st_ino);
  if (number > 0 && length < (int)room) length += snprintf(name + length, room - (size_t)length, "-p%u", number);
  if (length >= (int)room) length = (int)room - 1;
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1u + (size_t)length);
}
