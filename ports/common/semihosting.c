/* SPDX-License-Identifier: Apache-2.0 */
#include "semihosting.h"

#include "../board.h"
#include <string.h>

enum {
  SYS_OPEN = 0x01,
  SYS_CLOSE = 0x02,
  SYS_READ = 0x06,
  SYS_FLEN = 0x0c,
  SYS_GET_CMDLINE = 0x15,
  SYS_EXIT_EXTENDED = 0x20, /* SYS_EXIT passes no status on AArch32 */
};

#define MODE_READ_BINARY         1u
#define STOPPED_APPLICATION_EXIT 0x20026u

void semihosting_command_line(char *text, size_t bytes) {
  uintptr_t block[] = {(uintptr_t)text, bytes};
  text[0] = 0;
  if (semihosting_call(SYS_GET_CMDLINE, block) != 0) text[0] = 0;
}

void semihosting_exit(int status) {
  uintptr_t block[] = {STOPPED_APPLICATION_EXIT, (uintptr_t)(unsigned)status};
  (void)semihosting_call(SYS_EXIT_EXTENDED, block);
}

int board_host_open(const char *path) {
  uintptr_t block[] = {(uintptr_t)path, MODE_READ_BINARY, strlen(path)};
  return (int)semihosting_call(SYS_OPEN, block);
}

int64_t board_host_size(int file) {
  uintptr_t block[] = {(uintptr_t)file};
  return semihosting_call(SYS_FLEN, block);
}

/* The call returns the number of bytes that it did not transfer. */
int64_t board_host_read(int file, void *to, size_t bytes) {
  uintptr_t block[] = {(uintptr_t)file, (uintptr_t)to, bytes};
  intptr_t left = semihosting_call(SYS_READ, block);
  if (left < 0 || (size_t)left > bytes) return -1;
  return (int64_t)(bytes - (size_t)left);
}

void board_host_close(int file) {
  uintptr_t block[] = {(uintptr_t)file};
  (void)semihosting_call(SYS_CLOSE, block);
}
