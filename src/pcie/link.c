/* SPDX-License-Identifier: Apache-2.0 */
/* Links: payload and read request sizes, power management, speed and width. */
#include "internal.h"

#define READ_REQUEST_CODE UINT32_C(2) /* 128 << 2 = PCIE_READ_REQUEST_BYTES */
#define PAYLOAD_CODE_MAX  5u          /* 4096 bytes; 6 and 7 are reserved */

_Static_assert(128u << READ_REQUEST_CODE == PCIE_READ_REQUEST_BYTES, "one read request size");

static uint32_t payload_set(const struct pcie_function *function) {
  const uint32_t control = spate_pcie_read(function, function->express + EXPRESS_DEVICE_CONTROL);
  return (control & EXPRESS_DEVICE_PAYLOAD_MASK) >> 5;
}

static struct pcie_function *top_of(struct pcie_function *function) {
  while (function->parent != NULL)
    function = function->parent;
  return function;
}

/* A drive that marks its completion entries with relaxed ordering lets them pass the data of their commands. No Snoop
 * lets data bypass a cache that the port takes for coherent. */
static void set_control(const struct pcie_function *function) {
  spate_pcie_change(function, function->express + EXPRESS_DEVICE_CONTROL,
                    EXPRESS_DEVICE_PAYLOAD_MASK | EXPRESS_DEVICE_READ_REQUEST_MASK | EXPRESS_DEVICE_RELAXED_ORDERING |
                        EXPRESS_DEVICE_NO_SNOOP,
                    (uint32_t)function->payload_code << 5 | READ_REQUEST_CODE << 12);
}

/* Turns L0s and L1 off: leaving them costs microseconds in a stream. An integrated endpoint has no link. */
static void keep_awake(const struct pcie_function *function) {
  if (function->express && function->express_type != EXPRESS_INTEGRATED_ENDPOINT)
    spate_pcie_change(function, function->express + EXPRESS_LINK_CONTROL, EXPRESS_LINK_ASPM_MASK, 0);
}

/*
 * A receiver fails if it gets a larger payload than it supports (2.2.2). So everything below a root port has one size,
 * the smallest that any function there supports. Some root ports ignore the size that is written, and keep a smaller
 * one: then a second turn gives it to all.
 */
static void set_payloads(struct pcie_tree *tree) {
  for (unsigned i = 0; i < tree->function_count; i++) {
    struct pcie_function *function = &tree->functions[i];
    function->payload_code = top_of(function)->payload_least;
    if (function->express) set_control(function);
  }
  for (unsigned i = 0; i < tree->function_count; i++) {
    const struct pcie_function *function = &tree->functions[i];
    struct pcie_function *top = top_of(&tree->functions[i]);
    if (function->express && payload_set(function) < top->payload_least)
      top->payload_least = (uint8_t)payload_set(function);
  }
}

void spate_pcie_match_payload(struct pcie_tree *tree) {
  for (unsigned i = 0; i < tree->function_count; i++) {
    struct pcie_function *function = &tree->functions[i];
    struct pcie_function *top = top_of(function); /* itself, or listed before it */
    if (top == function) top->payload_least = PAYLOAD_CODE_MAX;
    if (function->express && function->payload_code < top->payload_least) top->payload_least = function->payload_code;
  }
  for (unsigned turn = 0; turn < 2; turn++)
    set_payloads(tree);
  /* L1 is turned off at the downstream end of a link first (5.4.1.3). Functions below a port are listed after it. */
  for (unsigned i = tree->function_count; i-- > 0;)
    keep_awake(&tree->functions[i]);
}

void spate_pcie_read_speed(const struct pcie_function *function, struct spate_pcie_link *link) {
  uint32_t capabilities = spate_pcie_read(function, function->express + EXPRESS_LINK_CAPABILITIES);
  uint32_t status = spate_pcie_read(function, function->express + EXPRESS_LINK_CONTROL) >> 16;
  link->speed = status & 0xf;
  link->width = (status >> 4) & 0x3f;
  link->speed_max = capabilities & 0xf;
  link->width_max = (capabilities >> 4) & 0x3f;
}

/* The lower of both ends. Some switches leave the fields 0, and these do not count. */
static uint8_t lower(uint8_t own, uint8_t other) { return other && other < own ? other : own; }

void spate_pcie_read_link(const struct pcie_function *function, struct spate_pcie_link *link) {
  *link = (struct spate_pcie_link){.up = true};
  if (!function->express || function->express_type == EXPRESS_INTEGRATED_ENDPOINT) return;
  spate_pcie_read_speed(function, link);

  const struct pcie_function *port = function->parent;
  if (port == NULL || !port->express) return;
  struct spate_pcie_link other;
  spate_pcie_read_speed(port, &other);
  link->speed_max = lower(link->speed_max, other.speed_max);
  link->width_max = lower(link->width_max, other.width_max);
}

enum spate_error spate_pcie_link_check(struct spate_pcie_host *host, struct spate_pcie_device *device) {
  struct spate_pcie_link *link = &device->link;
  struct pcie_function function = {.host = host, .at = device->address};
  struct spate_pcie_link bridge = {.up = true};
  enum spate_error error = host->ops->link(host, &bridge);
  if (error && error != SPATE_E_UNSUPPORTED) return error;
  /* The id also shows a device that was reset and does not respond although its link is up again. */
  link->up = bridge.up && !spate_pcie_is_silence(spate_pcie_read(&function, PCI_ID));
  if (!link->up) return SPATE_E_LINK_DOWN;
  if (link->speed_max == 0) return SPATE_OK; /* no link of its own, or nothing is known about it */

  function.express = spate_pcie_find_express(&function);
  if (!function.express) return SPATE_E_LINK_DOWN; /* it had one when it was enumerated */
  struct spate_pcie_link now;
  spate_pcie_read_speed(&function, &now);
  link->speed = now.speed;
  link->width = now.width;
  return link->speed < link->speed_max || link->width < link->width_max ? SPATE_E_LINK_DEGRADED : SPATE_OK;
}

enum spate_error spate_pcie_phy(struct spate_pcie_host *host, struct spate_pcie_phy *phy) {
  *phy = (struct spate_pcie_phy){0};
  return host->ops != NULL && host->ops->phy != NULL ? host->ops->phy(host, phy) : SPATE_E_UNSUPPORTED;
}

uint32_t spate_pcie_speed_mts(uint8_t speed) {
  static const uint16_t mts[] = {0, 2500, 5000, 8000, 16000, 32000, 64000};
  return speed < sizeof mts / sizeof mts[0] ? mts[speed] : 0;
}
