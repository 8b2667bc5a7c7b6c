/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets and clients. Every socket is non-blocking. There are eight clients; a ninth takes the place of the oldest, so
 * that clients that never finish a request do not lock out the others. An answer is made in memory, once, and sent
 * piece by piece.
 */
#include "../text/fail.h"
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS       8u
#define ACCEPTS       4u /* in a turn; fewer than CLIENTS, so that each client has a turn before it is replaced */
#define ANSWERS       2u /* made in a turn */
#define REQUEST_BYTES 2048u
#define DRAIN_BYTES   65536u /* of a request that is too long, so that its client reads the answer before the reset */
#define CLIENT_S      5.0
#define TURN_S        0.02

struct client {
  int fd; /* −1: none */
  char request[REQUEST_BYTES];
  size_t used, drained;
  char *answer; /* NULL: the request is not complete */
  size_t bytes, sent;
  double begun_s;
};

struct monitor {
  int fd;
  bool loopback;
  struct client clients[CLIENTS];
  struct state state;
  double turn_s;
};

/* ---- open ---- */

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

__attribute__((noreturn)) static void wrong(const char *address) {
  fail(EXIT_USAGE, "monitor: \"%s\" is not an address; examples are 9000, 127.0.0.1:9000 and [::1]:9000", address);
}

/* Returns the length of the address. */
static socklen_t parse(const char *text, union address *address) {
  const char *colon = strrchr(text, ':');
  const char *port_text = colon != NULL ? colon + 1 : text;
  char host[INET6_ADDRSTRLEN] = "127.0.0.1";
  const size_t digits = strlen(port_text), length = colon != NULL ? (size_t)(colon - text) : 0;

  if (digits == 0 || digits > 5 || strspn(port_text, "0123456789") != digits) wrong(text);
  const unsigned long port = strtoul(port_text, NULL, 10);
  if (port > UINT16_MAX || length >= sizeof host) wrong(text);
  memset(address, 0, sizeof *address);
  if (colon != NULL && text[0] == '[' && length > 2 && text[length - 1] == ']') {
    memcpy(host, text + 1, length - 2);
    host[length - 2] = '\0';
    address->v6.sin6_family = AF_INET6;
    address->v6.sin6_port = htons((uint16_t)port);
    if (inet_pton(AF_INET6, host, &address->v6.sin6_addr) != 1) wrong(text);
    return sizeof address->v6;
  }
  if (colon != NULL && !(length == 9 && memcmp(text, "localhost", 9) == 0)) {
    memcpy(host, text, length);
    host[length] = '\0';
  }
  address->v4.sin_family = AF_INET;
  address->v4.sin_port = htons((uint16_t)port);
  if (inet_pton(AF_INET, host, &address->v4.sin_addr) != 1) wrong(text);
  return sizeof address->v4;
}

static bool is_loopback(const union address *address) {
  return address->any.sa_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr)
                                            : ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
}

static void say_url(const struct monitor *monitor) {
  union address address = {.any = {.sa_family = AF_UNSPEC}};
  socklen_t length = sizeof address;
  char host[INET6_ADDRSTRLEN] = "";

  if (getsockname(monitor->fd, &address.any, &length) != 0) fail(EXIT_FAILED, "monitor: %s", strerror(errno));
  const bool v6 = address.any.sa_family == AF_INET6;
  (void)inet_ntop(address.any.sa_family, v6 ? (void *)&address.v6.sin6_addr : (void *)&address.v4.sin_addr, host,
                  sizeof host);
  fail_tell(v6 ? "monitor: http://[%s]:%u/" : "monitor: http://%s:%u/", host,
            ntohs(v6 ? address.v6.sin6_port : address.v4.sin_port));
}

struct monitor *monitor_open(const char *address_text) {
  struct monitor *monitor = calloc(1, sizeof *monitor);
  union address address;
  const int on = 1;

  if (monitor == NULL) fail(EXIT_FAILED, "no memory");
  const socklen_t length = parse(address_text, &address);
  monitor->loopback = is_loopback(&address);
  for (unsigned i = 0; i < CLIENTS; i++)
    monitor->clients[i].fd = -1;
  monitor->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (monitor->fd < 0 || setsockopt(monitor->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(monitor->fd, &address.any, length) != 0 || listen(monitor->fd, 64) != 0)
    fail(EXIT_FAILED, "monitor: %s: %s%s", address_text, strerror(errno),
         errno == EADDRINUSE ? ". Another program uses this port: choose another one" : "");
  say_url(monitor);
  return monitor;
}

/* ---- answers ---- */

static const struct page_file files[] = {
    {"/", "text/html; charset=utf-8", page_html, &page_html_bytes},
    {"/page.css", "text/css; charset=utf-8", page_css, &page_css_bytes},
    {"/page.js", "text/javascript; charset=utf-8", page_js, &page_js_bytes},
};

static const char *reason(int status) {
  switch (status) {
  case HTTP_OK: return "OK";
  case HTTP_FORBIDDEN: return "Forbidden";
  case HTTP_NOT_FOUND: return "Not Found";
  case HTTP_METHOD: return "Method Not Allowed";
  case HTTP_LARGE: return "Request Header Fields Too Large";
  default: return "Bad Request";
  }
}

static void write_answer(FILE *to, int status, bool head, const char *type, const void *body, size_t bytes) {
  (void)fprintf(to,
                "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
                "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                "frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n%s\r\n",
                status, reason(status), type, bytes, status == HTTP_METHOD ? "Allow: GET, HEAD\r\n" : "");
  if (!head) (void)fwrite(body, 1, bytes, to);
}

static void write_metrics(FILE *to, const struct monitor *monitor, bool head) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *memory = open_memstream(&text, &bytes);

  if (memory == NULL) return;
  metrics_write(memory, &monitor->state, monitor_seconds());
  if (fclose(memory) == 0) write_answer(to, HTTP_OK, head, "text/plain; version=0.0.4; charset=utf-8", text, bytes);
  free(text);
}

static void write_page(FILE *to, const struct request *request) {
  const size_t length = strcspn(request->path, "?");

  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    if (strlen(files[i].path) == length && strncmp(request->path, files[i].path, length) == 0) {
      write_answer(to, HTTP_OK, request->head, files[i].type, files[i].bytes, *files[i].length);
      return;
    }
  write_answer(to, HTTP_NOT_FOUND, request->head, "text/plain", "not found\n", 10);
}

/* Without memory for it the answer stays empty, and the connection is closed. */
static void make_answer(const struct monitor *monitor, struct client *client, const struct request *request) {
  FILE *to = open_memstream(&client->answer, &client->bytes);

  if (to == NULL) return;
  if (request->status != HTTP_OK)
    write_answer(to, request->status, request->head, "text/plain", "refused\n", 8);
  else if (strcmp(request->path, "/metrics") == 0)
    write_metrics(to, monitor, request->head);
  else
    write_page(to, request);
  if (fclose(to) != 0) client->bytes = 0;
}

/* ---- clients ---- */

static void drop(struct client *client) {
  if (client->fd >= 0) (void)close(client->fd);
  free(client->answer);
  *client = (struct client){.fd = -1};
}

static struct client *place(struct monitor *monitor) {
  struct client *oldest = &monitor->clients[0];

  for (unsigned i = 0; i < CLIENTS; i++) {
    struct client *client = &monitor->clients[i];
    if (client->fd < 0) return client;
    if (client->begun_s < oldest->begun_s) oldest = client;
  }
  drop(oldest);
  return oldest;
}

static void accept_some(struct monitor *monitor, double now_s) {
  for (unsigned i = 0; i < ACCEPTS; i++) {
    const int fd = accept4(monitor->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return; /* nobody, or no descriptor left: the recording continues */
    struct client *client = place(monitor);
    client->fd = fd;
    client->begun_s = now_s;
  }
}

/* True when there is something to answer. */
static bool receive(struct client *client, struct request *request, bool loopback) {
  const ssize_t got =
      recv(client->fd, client->request + client->used, sizeof client->request - client->used, MSG_DONTWAIT);

  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
    drop(client);
    return false;
  }
  if (got > 0) client->used += (size_t)got;
  if (request_is_complete(client->request, client->used)) {
    *request = request_parse(client->request, client->used, loopback);
    return true;
  }
  *request = (struct request){.status = HTTP_LARGE};
  return client->used == sizeof client->request;
}

/* Sends, then waits until the client closes: a close with unread bytes would reset the connection before the client has
 * the answer. */
static void transmit(struct client *client) {
  if (client->sent < client->bytes) {
    const ssize_t sent =
        send(client->fd, client->answer + client->sent, client->bytes - client->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      drop(client);
      return;
    }
    if (sent > 0) client->sent += (size_t)sent;
    if (client->sent < client->bytes) return;
    (void)shutdown(client->fd, SHUT_WR);
  }
  const ssize_t got = recv(client->fd, client->request, sizeof client->request, MSG_DONTWAIT);
  if (got > 0) client->drained += (size_t)got;
  if (got == 0 || client->bytes == 0 || client->drained > DRAIN_BYTES || (got < 0 && errno != EAGAIN && errno != EINTR))
    drop(client);
}

void monitor_turn(struct monitor *monitor) {
  unsigned answers = 0;

  if (monitor == NULL) return;
  const double now_s = monitor_seconds();
  if (now_s - monitor->turn_s < TURN_S) return;
  monitor->turn_s = now_s;
  accept_some(monitor, now_s);
  for (unsigned i = 0; i < CLIENTS; i++) {
    struct client *client = &monitor->clients[i];
    struct request request;
    if (client->fd < 0) continue;
    if (client->answer == NULL && answers < ANSWERS && receive(client, &request, monitor->loopback)) {
      make_answer(monitor, client, &request);
      answers++;
      if (client->answer == NULL) drop(client);
    }
    if (client->answer != NULL) transmit(client);
    if (client->fd >= 0 && now_s - client->begun_s > CLIENT_S) drop(client);
  }
}

void monitor_line(struct monitor *monitor, const char *line, size_t length) {
  state_line(&monitor->state, line, length, monitor_seconds());
}

void monitor_close(struct monitor *monitor) {
  if (monitor == NULL) return;
  for (unsigned i = 0; i < CLIENTS; i++)
    drop(&monitor->clients[i]);
  (void)close(monitor->fd);
  free(monitor);
}
