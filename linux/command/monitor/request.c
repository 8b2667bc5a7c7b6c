/* SPDX-License-Identifier: Apache-2.0 */
/* What a request asks for. Nothing of it is trusted: it may come from any page that a browser shows. */
#include "internal.h"

#include <string.h>
#include <strings.h>

bool request_is_complete(const char *bytes, size_t length) {
  return memmem(bytes, length, "\r\n\r\n", 4) != NULL || memmem(bytes, length, "\n\n", 2) != NULL;
}

static bool is_port(const char *text) {
  return *text == '\0' || (*text == ':' && strspn(text + 1, "0123456789") == strlen(text + 1));
}

/* localhost, 127.x.x.x or [::1], with any port: the port of an SSH tunnel may be another one. */
static bool is_own_host(const char *host) {
  if (strncasecmp(host, "localhost", 9) == 0) return is_port(host + 9);
  if (strncmp(host, "[::1]", 5) == 0) return is_port(host + 5);
  return strncmp(host, "127.", 4) == 0 && is_port(host + strspn(host, "0123456789."));
}

/* The value of the only header Host, without blanks around it. False: there is none, or there are two. */
static bool find_host(const char *headers, char host[256]) {
  unsigned count = 0;

  for (const char *line = headers; line != NULL && *line != '\0';) {
    const char *end = strchr(line, '\n');
    if (strncasecmp(line, "Host:", 5) == 0) {
      const char *value = line + 5 + strspn(line + 5, " \t");
      const size_t length = strcspn(value, " \t\r\n");
      if (length >= 256) return false;
      memcpy(host, value, length);
      host[length] = '\0';
      count++;
    }
    line = end != NULL ? end + 1 : NULL;
  }
  return count == 1;
}

struct request request_parse(const char *bytes, size_t length, bool loopback) {
  char text[4096], host[256], method[16], version[16];
  struct request request = {.status = HTTP_BAD};
  int used = 0;

  if (length >= sizeof text || memchr(bytes, '\0', length) != NULL) return request;
  memcpy(text, bytes, length);
  text[length] = '\0';
  if (sscanf(text, "%15[A-Z] %63[!-~] %15[!-~]%n", method, request.path, version, &used) != 3) return request;
  if (strncmp(version, "HTTP/1.", 7) != 0 || (text[used] != '\r' && text[used] != '\n')) return request;
  if (!find_host(strchr(text, '\n') + 1, host)) return request;
  if (loopback && !is_own_host(host)) {
    request.status = HTTP_FORBIDDEN;
    return request;
  }
  request.head = strcmp(method, "HEAD") == 0;
  request.status = request.head || strcmp(method, "GET") == 0 ? HTTP_OK : HTTP_METHOD;
  return request;
}
