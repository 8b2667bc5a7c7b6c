/* SPDX-License-Identifier: Apache-2.0 */
#include "udp_socket.h"

#include "../text/fail.h"
#include "../text/units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PREFIX       "udp:"
#define BUFFER_BYTES (32 << 20) /* a quarter of a second at 1 Gbit/s */

union address {
  struct sockaddr any;
  struct sockaddr_in four;
  struct sockaddr_in6 six;
  struct sockaddr_storage storage;
};

struct place {
  union address address, sender; /* sender.any.sa_family 0: any */
  unsigned interface;            /* its index; 0: the kernel chooses */
  char interface_name[IF_NAMESIZE];
};

bool udp_socket_is(const char *name) { return strncmp(name, PREFIX, sizeof PREFIX - 1u) == 0; }

/* ---- the name ---- */

__attribute__((noreturn)) static void refuse(const char *name) {
  fail(EXIT_USAGE,
       "%s is not udp:PORT, udp:ADDRESS:PORT or udp:[ADDRESS]:PORT, with a numeric address; after a multicast ADDRESS "
       "may follow ?if=INTERFACE and &source=ADDRESS",
       name);
}

static bool parse_port(const char *text, in_port_t *port) {
  char *end;
  const unsigned long value = strtoul(text, &end, 10);

  if (text[0] < '0' || text[0] > '9' || *end != '\0' || value == 0 || value > 65535) return false;
  *port = htons((uint16_t)value);
  return true;
}

static bool parse_host(const char *text, union address *address) {
  *address = (union address){.four = {.sin_family = AF_INET}};
  if (inet_pton(AF_INET, text, &address->four.sin_addr) == 1) return true;
  *address = (union address){.six = {.sin6_family = AF_INET6}};
  return inet_pton(AF_INET6, text, &address->six.sin6_addr) == 1;
}

/* "5000", "192.168.1.2:5000", "[fe80::1]:5000". Changes the text. */
static bool parse_address(char *text, union address *address) {
  char *colon = strrchr(text, ':');

  *address = (union address){.four = {.sin_family = AF_INET}};
  if (colon == NULL) return parse_port(text, &address->four.sin_port);
  *colon = '\0';
  const size_t length = strlen(text);
  const bool brackets = length > 2 && text[0] == '[' && text[length - 1u] == ']';
  if (brackets) text[length - 1u] = '\0';
  if (!parse_host(text + brackets, address) || brackets != (address->any.sa_family == AF_INET6)) return false;
  return parse_port(colon + 1, brackets ? &address->six.sin6_port : &address->four.sin_port);
}

static bool is_multicast(const union address *address) {
  return address->any.sa_family == AF_INET6 ? IN6_IS_ADDR_MULTICAST(&address->six.sin6_addr)
                                            : IN_MULTICAST(ntohl(address->four.sin_addr.s_addr));
}

/* "if=eth0" or "source=10.0.0.7". */
static bool parse_option(const char *name, const char *option, struct place *place) {
  const char *value = strchr(option, '=');

  if (value == NULL || *++value == '\0') return false;
  if (strncmp(option, "source=", 7) == 0) return parse_host(value, &place->sender);
  if (strncmp(option, "if=", 3) != 0 || strlen(value) >= sizeof place->interface_name) return false;
  memcpy(place->interface_name, value, strlen(value) + 1u);
  place->interface = if_nametoindex(value);
  if (place->interface == 0) fail(EXIT_FAILED, "%s: there is no interface %s; ip link lists them", name, value);
  return true;
}

static struct place parse(const char *name) {
  struct place place = {.interface = 0};
  const char *words = name + sizeof PREFIX - 1u;
  char text[256], *rest;

  words += strncmp(words, "//", 2) == 0 ? 2 : 0;
  if (strlen(words) >= sizeof text) refuse(name);
  memcpy(text, words, strlen(words) + 1u);
  char *options = strchr(text, '?');
  if (options != NULL) *options++ = '\0';
  if (!parse_address(text, &place.address)) refuse(name);
  if (options != NULL && !is_multicast(&place.address))
    fail(EXIT_USAGE, "%s: ?if= and source= are for multicast addresses: 224.0.0.0 to 239.255.255.255, ff00::/8", name);
  for (char *option = options == NULL ? NULL : strtok_r(options, "&", &rest); option != NULL;
       option = strtok_r(NULL, "&", &rest))
    if (!parse_option(name, option, &place)) refuse(name);
  if (place.sender.any.sa_family != 0 && place.sender.any.sa_family != place.address.any.sa_family) refuse(name);
  return place;
}

/* ---- the group ---- */

static socklen_t size_of(const union address *address) {
  return address->any.sa_family == AF_INET ? sizeof address->four : sizeof address->six;
}

static int join(int fd, const struct place *place) {
  const int level = place->address.any.sa_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
  struct group_source_req request = {.gsr_interface = place->interface};
  struct group_req any = {.gr_interface = place->interface};

  memcpy(&any.gr_group, &place->address, size_of(&place->address));
  memcpy(&request.gsr_group, &place->address, size_of(&place->address));
  memcpy(&request.gsr_source, &place->sender, sizeof place->sender);
  const int error = place->sender.any.sa_family != 0
                        ? setsockopt(fd, level, MCAST_JOIN_SOURCE_GROUP, &request, sizeof request)
                        : setsockopt(fd, level, MCAST_JOIN_GROUP, &any, sizeof any);
  return error == 0 ? 0 : errno;
}

/* Several programs may receive a group. */
static int bind_group(int fd, const struct place *place) {
  const int one = 1;
  union address address = place->address;

  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0) return errno;
  if (address.any.sa_family == AF_INET6) address.six.sin6_scope_id = place->interface;
  if (bind(fd, &address.any, size_of(&address)) != 0) return errno;
  return join(fd, place);
}

int udp_socket_open(const char *name, int *fd) {
  const struct place place = parse(name);
  const int bytes = BUFFER_BYTES;
  const bool group = is_multicast(&place.address);

  *fd = socket(place.address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (*fd < 0) return errno;
  /* Root gets the requested size; others get at most the system's limit. */
  if (setsockopt(*fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
    (void)setsockopt(*fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  const int error = group                                                         ? bind_group(*fd, &place)
                    : bind(*fd, &place.address.any, size_of(&place.address)) == 0 ? 0
                                                                                  : errno;
  if (error == ENODEV && group)
    fail(EXIT_FAILED, "%s: no route leads to this group: say on which interface it is, ?if=eth0", name);
  return error;
}

void udp_socket_check_buffer(int fd, const char *name) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  char has[UNITS_TEXT_BYTES];

  /* The kernel reports twice the size, because it counts its own overhead. */
  if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0 || bytes / 2 >= BUFFER_BYTES) return;
  (void)fprintf(
      stderr,
      "spate: %s: the system limits the socket's buffer to %s; sysctl -w net.core.rmem_max=%d allows a larger "
      "one\n",
      name, units_text((uint64_t)bytes / 2, has), BUFFER_BYTES);
}
