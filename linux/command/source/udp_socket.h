/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket of a UDP source, by its name:
 *
 *   udp:5000, udp:192.168.1.2:5000, udp:[fe80::1]:5000
 *   udp:239.1.1.1:5000?if=eth0&source=10.0.0.7    a multicast group, on this interface, from this sender only
 *   udp://239.1.1.1:5000                          the same with the slashes of a URL
 */
#ifndef SPATE_COMMAND_UDP_SOCKET_H
#define SPATE_COMMAND_UDP_SOCKET_H

#include <stdbool.h>

bool udp_socket_is(const char *name);

/* Opens the socket, which does not block, binds it, and joins the group. Returns 0 or an errno value; ends the program
 * if the name is wrong. */
int udp_socket_open(const char *name, int *fd);

/* Says so if the system limits the socket's buffer. */
void udp_socket_check_buffer(int fd, const char *name);

#endif
