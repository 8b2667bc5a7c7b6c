/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU without a guest, for its NVMe drive. Registers are accessed through the qtest protocol; memory is a file that
 * both sides map. So the driver, in a hosted build, runs on a drive that others wrote.
 * One source file of each test program that uses it includes qtest_port.h, which makes it the hosted port.
 */
#ifndef QTEST_H
#define QTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define QTEST_MEMORY_BYTES (UINT64_C(96) << 20)
#define QTEST_MEMORY_BASE  UINT64_C(0x40000000)
#define QTEST_ECAM_BASE    UINT64_C(0x3f000000)
#define QTEST_BAR_BASE     UINT64_C(0x10000000)
/* Configuration space of the NVMe controller: bus 0, device 1. */
#define QTEST_CONFIG_BASE (QTEST_ECAM_BASE + (UINT64_C(1) << 15))

struct qtest {
  pid_t emulator;
  int socket;
  FILE *answers;
  uint8_t *memory; /* what devices see at QTEST_MEMORY_BASE */
  char folder[64]; /* of the socket, the memory and the drive's images */
  uint64_t bar_bytes;
  bool untouched; /* set after preparation: the device stays as it is after reset, without a BAR */
};

/* Make the folder. Images are put there before the emulator starts. */
void qtest_prepare(struct qtest *qtest);
/* A sparse file of `bytes` in the folder. `path` receives its name. */
void qtest_image(const struct qtest *qtest, const char *name, uint64_t bytes, char *path, size_t path_bytes);
/* Start QEMU with these arguments (NULL terminated) in addition to those that every test needs. The NVMe controller is
 * the device at addr=01.0. Its BAR 0 is placed at QTEST_BAR_BASE, and bus mastering is on, unless `untouched` is set.
 * Aborts with a message if that fails. */
void qtest_start(struct qtest *qtest, const char *const *arguments);
/* Stop QEMU and remove the folder. */
void qtest_stop(struct qtest *qtest);

uint64_t qtest_read(struct qtest *qtest, uint64_t address, char width);
void qtest_write(struct qtest *qtest, uint64_t address, uint64_t value, char width);

#endif
