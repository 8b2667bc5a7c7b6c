/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include "../text/fail.h"
#include "address.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REPLY_S         60 /* a recorder that protects a file waits for metadata */
#define USER_TEXT_BYTES 64u

/* ---- the peer ---- */

/* Is this file of another process the target, and open for writing? */
static bool is_written(pid_t pid, const char *name, const struct stat *target) {
  char path[64], line[128];
  struct stat status;
  unsigned flags = O_RDONLY;

  (void)snprintf(path, sizeof path, "/proc/%d/fd/%.16s", (int)pid, name);
  if (stat(path, &status) != 0) return false;
  const bool same = S_ISBLK(target->st_mode) ? S_ISBLK(status.st_mode) && status.st_rdev == target->st_rdev
                                             : status.st_dev == target->st_dev && status.st_ino == target->st_ino;
  if (!same) return false;
  (void)snprintf(path, sizeof path, "/proc/%d/fdinfo/%.16s", (int)pid, name);
  FILE *facts = fopen(path, "re");
  if (facts == NULL) return false;
  while (fgets(line, sizeof line, facts) != NULL)
    if (sscanf(line, "flags: %o", &flags) == 1) break;
  (void)fclose(facts);
  return (flags & O_ACCMODE) != O_RDONLY;
}

static bool writes(pid_t pid, const struct stat *target) {
  char path[64];
  bool found = false;

  (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  DIR *files = opendir(path);
  if (files == NULL) return false;
  for (const struct dirent *file; !found && (file = readdir(files)) != NULL;)
    found = is_written(pid, file->d_name, target);
  (void)closedir(files);
  return found;
}

static bool is_trusted(const struct ucred *peer, const char *target) {
  struct stat status;
  unsigned number;

  if (peer->uid == geteuid()) return true;
  if (geteuid() != 0 || !address_file(target, &status, &number)) return false;
  return peer->uid == status.st_uid || writes(peer->pid, &status);
}

/* fgetpwent() loads no other library, so a static program can use it, too. */
static const char *user_name(uid_t uid, char text[USER_TEXT_BYTES]) {
  FILE *users = fopen("/etc/passwd", "re");
  const struct passwd *user = NULL;

  (void)snprintf(text, USER_TEXT_BYTES, "user %u", (unsigned)uid);
  if (users == NULL) return text;
  do
    user = fgetpwent(users);
  while (user != NULL && user->pw_uid != uid);
  if (user != NULL) (void)snprintf(text, USER_TEXT_BYTES, "%s", user->pw_name);
  (void)fclose(users);
  return text;
}

static void say_why(const struct ucred *peer, char text[CONTROL_TEXT_BYTES]) {
  char user[USER_TEXT_BYTES];

  (void)user_name(peer->uid, user);
  if (geteuid() == 0)
    (void)snprintf(
        text, CONTROL_TEXT_BYTES,
        "refused: the recorder runs as %s, who neither owns the target nor has it open for writing as far as "
        "this program sees. If it is the right one, run this command as %s",
        user, user);
  else
    (void)snprintf(text, CONTROL_TEXT_BYTES, "refused: the recorder runs as %s. Run this command as %s%s", user, user,
                   peer->uid == 0 ? "" : " or as root");
}

/* ---- the question ---- */

static void limit_wait(int fd, time_t seconds) {
  const struct timeval time = {.tv_sec = seconds};

  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) != 0)
    fail(EXIT_FAILED, "a local socket: %s", strerror(errno));
}

/* Connects to somebody who listens for this target. REFUSED: no connection can be made; text: why. */
static enum answer reach(int fd, const char *target, struct ucred *peer, char text[CONTROL_TEXT_BYTES]) {
  struct sockaddr_un address;
  const socklen_t bytes = address_of(target, &address);
  socklen_t peer_bytes = sizeof *peer;

  limit_wait(fd, REPLY_S);
  if (connect(fd, (const struct sockaddr *)&address, bytes) == 0 &&
      getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &peer_bytes) == 0)
    return ANSWER_DONE;
  if (errno == ECONNREFUSED) return ANSWER_NOBODY;
  (void)snprintf(text, CONTROL_TEXT_BYTES, "its recorder cannot be reached: %s", strerror(errno));
  return ANSWER_REFUSED;
}

/* The reply is "+" or "-", and the text. */
static enum answer exchange(int fd, const char *target, const char *request, char text[CONTROL_TEXT_BYTES]) {
  ssize_t got = send(fd, request, strlen(request), MSG_NOSIGNAL); /* all of it: it is a packet */

  if (got > 0) got = recv(fd, text, CONTROL_TEXT_BYTES - 1u, 0);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    fail(EXIT_FAILED, "the recorder of %s did not reply within %d s. Does it wait for its source or its drive?", target,
         REPLY_S);
  if (got <= 0)
    fail(EXIT_FAILED, "the recorder of %s gave no reply: it has just ended, or it refuses this user", target);
  const bool done = text[0] == '+';
  memmove(text, text + 1, (size_t)got - 1u);
  text[got - 1] = '\0';
  return done ? ANSWER_DONE : ANSWER_FAILED;
}

enum answer ask(const char *target, enum control_kind kind, const char *path, char text[CONTROL_TEXT_BYTES]) {
  char request[SPATE_RECORDER_PATH_BYTES_MAX + 1u];
  struct ucred peer;
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

  if (fd < 0) fail(EXIT_FAILED, "a local socket: %s", strerror(errno));
  if (snprintf(request, sizeof request, "%c%s", CONTROL_KINDS[kind], path) >= (int)sizeof request)
    fail(EXIT_USAGE, "%s is too long", path);
  enum answer answer = reach(fd, target, &peer, text);
  if (answer == ANSWER_DONE && !is_trusted(&peer, target)) {
    say_why(&peer, text);
    answer = ANSWER_REFUSED;
  }
  if (answer == ANSWER_DONE) answer = exchange(fd, target, request, text);
  (void)close(fd);
  return answer;
}
