/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_pci.h"

#include <spate/port.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ACCESS_TICKS 1000u /* 1 µs */
#define RELAX_TICKS  10000u

struct fake_pci fake;

void fake_reset(void) {
  memset(&fake, 0, sizeof fake);
  fake.now_ticks = 1000 * FAKE_MS;
  fake.background = UINT32_MAX;
}

static struct fake_function *add(struct fake_function *parent, unsigned device, unsigned function,
                                 uint32_t class_code) {
  assert_true(fake.count < FAKE_FUNCTIONS_MAX);
  struct fake_function *added = &fake.functions[fake.count++];
  added->parent = parent;
  added->device = (uint8_t)device;
  added->function = (uint8_t)function;
  added->config[0x00 / 4] = 0x00101b36u;
  added->config[0x04 / 4] = 0xf9100007u; /* a capability list, stale error bits, and all that firmware turned on */
  added->writable[0x04 / 4] = 0x0547u;
  added->status[0x04 / 4] = 0xf9000000u;
  added->config[0x08 / 4] = class_code << 8;
  added->config[0x34 / 4] = 0x40u;
  added->config[FAKE_POWER / 4] = 0x01u | FAKE_EXPRESS << 8; /* power management comes first */
  added->config[FAKE_EXPRESS / 4] = 0x00020010u;
  added->writable[(FAKE_EXPRESS + 0x08) / 4] = 0xffffu;
  added->status[(FAKE_EXPRESS + 0x08) / 4] = 0x000f0000u;
  added->config[(FAKE_EXPRESS + 0x08) / 4] = 0x000f2810u;
  added->writable[(FAKE_EXPRESS + 0x10) / 4] = 0x0fffu;
  added->config[(FAKE_EXPRESS + 0x10) / 4] = 0xc0000003u; /* ASPM on, stale link status */
  added->status[(FAKE_EXPRESS + 0x10) / 4] = 0xc0000000u;
  return added;
}

struct fake_function *fake_endpoint(struct fake_function *parent, unsigned device, unsigned function,
                                    uint32_t class_code) {
  struct fake_function *endpoint = add(parent, device, function, class_code);
  fake_express(endpoint, 1, 3, 4, 3, 4);
  return endpoint;
}

struct fake_function *fake_bridge(struct fake_function *parent, unsigned device, enum fake_type type) {
  struct fake_function *bridge = add(parent, device, 0, 0x060400);
  bridge->config[0x0c / 4] = 0x00010000u;
  bridge->writable[0x18 / 4] = 0x00ffffffu;
  bridge->writable[0x1c / 4] = 0xf0f0u;
  bridge->status[0x1c / 4] = 0xf9000000u;
  bridge->config[0x1c / 4] = 0xf9000000u;
  bridge->writable[0x20 / 4] = 0xfff0fff0u;
  bridge->writable[0x24 / 4] = 0xfff0fff0u;
  bridge->config[0x24 / 4] = 0x00010001u; /* 64-bit */
  bridge->writable[0x28 / 4] = bridge->writable[0x2c / 4] = UINT32_MAX;
  bridge->config[FAKE_EXPRESS / 4] |= (uint32_t)type << 20;
  bridge->config[(FAKE_EXPRESS + 0x1c) / 4] = 0x00010000u; /* can make "retry" visible */
  bridge->writable[(FAKE_EXPRESS + 0x1c) / 4] = 0x1fu;
  fake_express(bridge, 2, 3, 4, 3, 4);
  if (type != FAKE_UPSTREAM) *fake_express_register(bridge, 0x0c) |= 1u << 20; /* link active reporting */
  return bridge;
}

void fake_bar(struct fake_function *function, unsigned index, uint64_t bytes, uint32_t flags) {
  uint32_t fixed = flags & 1 ? 0x3u : 0xfu;
  uint64_t mask = ~(bytes - 1) & ~(uint64_t)fixed;
  unsigned at = 0x10 / 4 + index;
  function->bar_bytes[index] = bytes;
  function->config[at] = flags;
  function->writable[at] = (uint32_t)mask;
  if (flags & 4) function->writable[at + 1] = (uint32_t)(mask >> 32);
}

uint32_t *fake_express_register(struct fake_function *function, unsigned offset) {
  return &function->config[(FAKE_EXPRESS + offset) / 4];
}

void fake_express(struct fake_function *function, unsigned payload_code, unsigned speed_max, unsigned width_max,
                  unsigned speed, unsigned width) {
  *fake_express_register(function, 0x04) = payload_code;
  uint32_t *link = fake_express_register(function, 0x0c);
  *link = (*link & (1u << 20)) | speed_max | width_max << 4;
  uint32_t *control = fake_express_register(function, 0x10);
  *control = (*control & 0xc000ffffu) | (speed | width << 4) << 16;
}

static bool is_bridge(const struct fake_function *function) { return function->config[0x0c / 4] & 0x00010000u; }

/* The bus that a function is on, according to the bus numbers written so far. */
static unsigned bus_of(const struct fake_function *function) {
  return function->parent ? function->parent->config[0x18 / 4] >> 8 & 0xff : 0;
}

static bool link_is_up(const struct fake_function *port) {
  return (port->config[0x3c / 4] & port->writable[0x3c / 4] & 0x00400000u) == 0 && fake.now_ticks >= port->link_ticks &&
         (port->drop_ticks == 0 || fake.now_ticks < port->drop_ticks);
}

/* Does every bridge above this function's parent forward a request for the bus below that parent? The bridge whose
 * secondary bus it is ends the path. */
static bool is_routed(const struct fake_function *function, unsigned bus) {
  for (const struct fake_function *bridge = function->parent; bridge; bridge = bridge->parent) {
    uint32_t numbers = bridge->config[0x18 / 4];
    unsigned secondary = numbers >> 8 & 0xff, subordinate = numbers >> 16 & 0xff;
    bool ends_here = bus == secondary, ends_below = bus > secondary && bus <= subordinate;
    if (secondary == 0 || !link_is_up(bridge)) return false;
    if (bridge == function->parent ? !ends_here : !ends_below) return false;
  }
  for (const struct fake_function *bridge = function->parent; bridge; bridge = bridge->parent)
    /* completions are routed by the primary number */
    assert_int_equal(bridge->config[0x18 / 4] & 0xff, bus_of(bridge));
  return true;
}

static struct fake_function *find(unsigned bus, unsigned device, unsigned number) {
  struct fake_function *found = NULL;
  for (unsigned i = 0; i < fake.count; i++) {
    struct fake_function *function = &fake.functions[i];
    bool alias = function->parent ? function->parent->answers_all : fake.first_bus_answers_all;
    if (function->removed || bus_of(function) != bus || function->function != number) continue;
    if (function->device != device && !(alias && function->device == 0)) continue;
    if (!is_routed(function, bus)) continue;
    assert_null(found); /* two functions would answer: bus numbers overlap */
    found = function;
  }
  return found;
}

/* A slot records that its link went down or came up since the last access. A link that bounced may be up again. */
static void change_links(void) {
  for (unsigned i = 0; i < fake.count; i++) {
    struct fake_function *port = &fake.functions[i];
    if ((port->clears[(FAKE_EXPRESS + 0x18) / 4] & FAKE_LINK_CHANGED) == 0) continue;
    const bool bounced = port->bounce_ticks != 0 && fake.now_ticks >= port->bounce_ticks;
    if (bounced) fake_link_drop(port, port->bounce_ticks + FAKE_BOUNCE_MS * FAKE_MS);
    if (bounced) port->bounce_ticks = 0;
    const bool is_up = link_is_up(port);
    if (bounced || is_up != port->was_up) *fake_express_register(port, 0x18) |= FAKE_LINK_CHANGED;
    port->was_up = is_up;
  }
}

static struct fake_function *access_at(uintptr_t address, unsigned *offset) {
  assert_in_range(address, FAKE_ECAM_BASE, FAKE_ECAM_BASE + 0xfffffff);
  assert_int_equal(address % 4, 0);
  fake.now_ticks += ACCESS_TICKS;
  if (fake.stop_access != 0 && fake.accesses == fake.stop_access) {
    fake.bounces->bounce_ticks = fake.now_ticks;
    fake.now_ticks += 2 * FAKE_BOUNCE_MS * FAKE_MS;
  }
  change_links();
  if (!fake.first_access_ticks) fake.first_access_ticks = fake.now_ticks;
  fake.accesses++;
  uint64_t at = address - FAKE_ECAM_BASE;
  *offset = at & 0xfff;
  struct fake_function *function = find((unsigned)(at >> 20), at >> 15 & 0x1f, at >> 12 & 0x7);
  if (at >> 20 != 0 && !fake.first_below_ticks) fake.first_below_ticks = fake.now_ticks;
  return function;
}

uint32_t host_read32(uintptr_t address) {
  unsigned offset;
  struct fake_function *function = access_at(address, &offset);
  if (!function || fake.now_ticks < function->silent_ticks) return fake.background;
  if (fake.now_ticks < function->ready_ticks) return offset == 0 ? 0xffff0001u : UINT32_MAX;
  uint32_t value = function->config[offset / 4];
  bool port = is_bridge(function);
  if (port && offset == FAKE_EXPRESS + 0x10 && link_is_up(function)) value |= 1u << 29;
  const bool phy_dropped = fake.phy_drop_ticks && fake.now_ticks >= fake.phy_drop_ticks;
  if (offset == 0x144 && (fake.now_ticks < fake.phy_ticks || phy_dropped)) value &= ~UINT32_C(0x800);
  if (offset == 0x154 && function->fifo_left[0]) value |= 1u << 18;
  if (offset == 0x158 && function->fifo_left[1]) value |= 1u << 31;
  return value;
}

/* From D3hot to D0 it loses its configuration, does not answer for 10 ms, and then asks for retries for a while. What
 * is below a bridge is reset, and its link trains again. */
static void wake(struct fake_function *function) {
  for (unsigned at = 0; at < 1024; at++)
    function->config[at] &= ~function->writable[at];
  function->silent_ticks = fake.now_ticks + 10 * FAKE_MS;
  function->ready_ticks = fake.now_ticks + function->wake_ms * FAKE_MS;
  if (is_bridge(function)) fake_link_drop(function, fake.now_ticks + function->train_ms * FAKE_MS);
}

void host_write32(uintptr_t address, uint32_t value) {
  unsigned offset;
  struct fake_function *function = access_at(address, &offset);
  if (!function || fake.now_ticks < function->ready_ticks || fake.now_ticks < function->silent_ticks) return;
  function->writes++;
  if (value & function->status[offset / 4]) fake.status_offences++;
  if (offset >= 0x10 && offset < (is_bridge(function) ? 0x18 : 0x28) && (function->config[0x04 / 4] & 3))
    fake.decoding_offences++;
  if (offset == FAKE_EXPRESS + 0x10 && (function->config[offset / 4] & 3) && !(value & 3))
    function->awake_ticks = fake.now_ticks;
  function->config[offset / 4] &= ~(value & function->status[offset / 4]);
  function->config[offset / 4] &= ~(value & function->clears[offset / 4]);
  uint32_t writable = function->writable[offset / 4];
  const uint32_t before = function->config[offset / 4];
  function->config[offset / 4] = (before & ~writable) | (value & writable);
  if (offset == 0x3c && is_bridge(function) && (before & ~function->config[offset / 4] & 0x00400000u) != 0)
    fake_link_drop(function, fake.now_ticks + function->train_ms * FAKE_MS);
  if (offset == FAKE_POWER + 4 && (before & 3) != 0 && (function->config[offset / 4] & 3) == 0) wake(function);
  if (offset == 0x154 && function->fifo_left[0] != UINT32_MAX && function->fifo_left[0]) function->fifo_left[0]--;
  if (offset == 0x158 && function->fifo_left[1] != UINT32_MAX && function->fifo_left[1]) function->fifo_left[1]--;
  if (offset == 0x148 && value & 1) function->config[0x138 / 4] |= function->decoded;
}

uint64_t fake_bar_address(const struct fake_function *function, unsigned index) {
  uint64_t address = function->config[0x10 / 4 + index] & ~UINT32_C(0xf);
  if (function->config[0x10 / 4 + index] & 4) address |= (uint64_t)function->config[0x10 / 4 + index + 1] << 32;
  return address;
}

static bool forwards(const struct fake_function *bridge, uint64_t address) {
  if ((bridge->config[0x04 / 4] & 2) == 0) return false;
  uint32_t memory = bridge->config[0x20 / 4], prefetch = bridge->config[0x24 / 4];
  uint64_t base = (uint64_t)(memory & 0xfff0) << 16, limit = (uint64_t)(memory >> 20) << 20 | 0xfffff;
  if (address >= base && address <= limit) return true;
  base = (uint64_t)bridge->config[0x28 / 4] << 32 | (uint64_t)(prefetch & 0xfff0) << 16;
  limit = (uint64_t)bridge->config[0x2c / 4] << 32 | (uint64_t)(prefetch >> 20) << 20 | 0xfffff;
  return bridge->writable[0x24 / 4] && address >= base && address <= limit;
}

static bool reaches(const struct fake_function *function, uint64_t address) {
  for (const struct fake_function *bridge = function->parent; bridge; bridge = bridge->parent)
    if (!forwards(bridge, address)) return false;
  return true;
}

static bool is_below(const struct fake_function *function, const struct fake_function *bridge) {
  for (function = function->parent; function; function = function->parent)
    if (function == bridge) return true;
  return false;
}

void fake_link_drop(struct fake_function *port, uint64_t up_ticks) {
  port->link_ticks = up_ticks;
  for (unsigned i = 0; i < fake.count; i++) {
    struct fake_function *function = &fake.functions[i];
    if (!is_below(function, port)) continue;
    for (unsigned at = 0; at < 1024; at++)
      function->config[at] &= ~function->writable[at];
    *fake_express_register(function, 0x08) |= 0x2810u;
    *fake_express_register(function, 0x10) |= 3u; /* ASPM on */
  }
}

struct fake_function *fake_decode(uint64_t bus_address, unsigned *bar) {
  struct fake_function *found = NULL;
  for (unsigned i = 0; i < fake.count; i++) {
    struct fake_function *function = &fake.functions[i];
    if ((function->config[0x04 / 4] & 2) == 0 || !reaches(function, bus_address)) continue;
    for (unsigned index = 0; index < 6; index++) {
      uint64_t bytes = function->bar_bytes[index], address = fake_bar_address(function, index);
      if (!bytes || (function->config[0x10 / 4 + index] & 1)) continue;
      if (bus_address < address || bus_address - address >= bytes) continue;
      assert_null(found); /* two BARs claim the same address */
      found = function;
      *bar = index;
    }
  }
  for (unsigned i = 0; i < fake.count && found; i++) {
    struct fake_function *bridge = &fake.functions[i];
    if (!is_bridge(bridge) || !reaches(bridge, bus_address) || !forwards(bridge, bus_address)) continue;
    assert_true(is_below(found, bridge)); /* a bridge beside the BAR claims the address too */
  }
  return found;
}

bool fake_can_dma(const struct fake_function *function) {
  for (; function; function = function->parent)
    if ((function->config[0x04 / 4] & 4) == 0) return false;
  return true;
}

uint64_t host_ticks(void) { return fake.now_ticks += 100; }
uint64_t host_ticks_per_second(void) { return 1000 * FAKE_MS; }
void host_relax(void) { fake.now_ticks += RELAX_TICKS; }

/* The rest of the port, which this layer does not use. */
void host_dma_write_barrier(void) {}
void host_dma_read_barrier(void) {}
void host_cache_clean(const void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
void host_cache_invalidate(void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
uint64_t host_dma_address(const volatile void *memory) { return (uintptr_t)memory; }
void host_log(const char *text, uint64_t value) {
  (void)text;
  (void)value;
}
