/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest check of a board: console, arguments, clock, bridge, link, a drive's registers. With
 * fault=stack|misaligned|null|constant it shows how the board reports that fault instead. The board must survive
 * fault=register, which reads and writes an address without a device, and fault=serror, errors of the bus that come
 * late.
 */
#include "../../ports/board.h"
#include "../../ports/common/print.h"
#include "../common/link.h"
#include <spate/clock.h>
#include <spate/port.h>
#include <string.h>

#define NVME_VS 0x08u

static int fail(struct spate_pcie_address at, enum spate_error error) {
  print("pcie: %s at %02x:%02x.%x: %s\n", spate_error_name(error), at.bus, at.device, at.function,
        spate_error_help(error));
  return 1;
}

/* More than any board's stack, but less than the stack and its guard. */
static unsigned use_up_the_stack(void) {
  volatile uint8_t frame[160 * 1024];
  __asm__ volatile("" ::"r"(frame) : "memory"); /* Clang would keep one byte of it */
  frame[0] = 1;
  return frame[0];
}

static void provoke(const char *fault) {
  static uint32_t words[2] = {1, 2};
  static const uint32_t constant = 3;
  uintptr_t address = 0;
  if (!strcmp(fault, "misaligned")) address = (uintptr_t)words + 1;
  if (!strcmp(fault, "constant")) address = (uintptr_t)&constant;
  __asm__("" : "+r"(address));
  if (!strcmp(fault, "stack")) print("%u\n", use_up_the_stack());
  print("touching 0x%jx\n", (uintmax_t)address);
  if (!strcmp(fault, "constant")) *(volatile uint32_t *)address = 4;
  print("read %u at 0x%jx\n", (unsigned)*(volatile uint32_t *)address, (uintmax_t)address);
#if __GCC_ATOMIC_INT_LOCK_FREE == 2
  /* Some processors carry out misaligned loads, but no misaligned atomic operations. */
  if (!strcmp(fault, "misaligned")) (void)__atomic_fetch_add((uint32_t *)address, 1, __ATOMIC_RELAXED);
#endif
}

/* As with a drive that was pulled: spate/port.h. */
static bool survives_an_absent_register(void) {
  const uintptr_t address = board_absent_register();
  print("accessing 0x%jx, where no device is\n", (uintmax_t)address);
  const uint32_t value = spate_port_read32(address);
  spate_port_write32(address, 1);
  print("read 0x%08x\n", (unsigned)value);
  return value == UINT32_MAX;
}

static bool reads(const char *when, uintptr_t address, uint32_t wanted) {
  const uint32_t value = spate_port_read32(address);
  print("read 0x%08x %s\n", (unsigned)value, when);
  return value == wanted;
}

/* The error of an earlier write must not spoil a read, and the error of a read must not pass for its value. */
static bool survives_late_errors(void) {
  static uint32_t word = 0x89abcdef;
  const uintptr_t address = (uintptr_t)&word;
  bool survived = true;
  if (!board_provoke_late_error(NULL)) {
    print("this board, or its start, has no way to provoke an error that comes late\n");
    return true;
  }
  survived &= reads("after a write that failed", address, word);
  (void)board_provoke_late_error(&word);
  survived &= reads("from a read that failed", address, UINT32_MAX);
  survived &= reads("after that", address, word);
  return survived;
}

static const char *plural(unsigned count) { return count == 1 ? "" : "s"; }

static void list(struct spate_pcie_host *host) {
  print("%u bridge%s, %u endpoint%s, %u left out\n", host->bridge_count, plural(host->bridge_count), host->device_count,
        plural(host->device_count), host->left_out);
  for (unsigned i = 0; i < host->device_count; i++) {
    const struct spate_pcie_device *device = &host->devices[i];
    print("  %02x:%02x.%x %04x:%04x class %06x  BAR 0 %ju KiB at 0x%jx  %u.%u GT/s x%u (of %u.%u x%u)  payload %u, "
          "reads %u\n",
          device->address.bus, device->address.device, device->address.function, device->vendor_id, device->device_id,
          (unsigned)device->class_code, (uintmax_t)(device->bar0_bytes / 1024), (uintmax_t)device->bar0,
          (unsigned)spate_pcie_speed_mts(device->link.speed) / 1000,
          (unsigned)spate_pcie_speed_mts(device->link.speed) % 1000 / 100, device->link.width,
          (unsigned)spate_pcie_speed_mts(device->link.speed_max) / 1000,
          (unsigned)spate_pcie_speed_mts(device->link.speed_max) % 1000 / 100, device->link.width_max,
          device->payload_bytes, device->read_request_bytes);
  }
}

int app_main(void) {
  struct spate_exfat_time now;
  board_now(NULL, &now);
  print("%s, %04u-%02u-%02u %02u:%02u:%02u, %ju ticks/s, random %016jx\n", board_name(), now.year, now.month, now.day,
        now.hour, now.minute, now.second, (uintmax_t)spate_port_ticks_per_second(), (uintmax_t)board_random());

  /* All later deadlines depend on the clock. */
  if (spate_clock_check() != SPATE_OK) {
    print("clock: %s\n", spate_error_help(SPATE_E_CLOCK));
    return 1;
  }

  const char *fault = board_argument("fault", NULL);
  if (fault && !strcmp(fault, "register")) {
    if (!survives_an_absent_register()) return 1;
  } else if (fault && !strcmp(fault, "serror")) {
    if (!survives_late_errors()) return 1;
  } else if (fault) {
    provoke(fault);
  }

  static struct spate_pcie_host host;
  enum spate_error error = board_pcie_bring_up(&host);
  if (error) return fail(host.failed_at, error);
  list(&host);

  struct spate_pcie_device *found = &host.devices[0];
  error = spate_pcie_find(&host, SPATE_PCIE_CLASS_NVME, 0, &found);
  if (error) return fail(found->address, error);
  struct spate_pcie_device drive = *found;
  error = link_look(&host, &drive);
  if (error) return fail(drive.address, error);
  const uint32_t version = spate_port_read32(drive.bar0 + NVME_VS);
  print("NVMe VS 0x%08x\n", (unsigned)version);
  return version == UINT32_MAX ? fail(drive.address, SPATE_E_GONE) : 0;
}
