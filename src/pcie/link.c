/* SPDX-License-Identifier: Apache-2.0 */
/* What concerns the links: payload and read request sizes, power management, speed and width. */
#include "internal.h"

#define READ_REQUEST_CODE UINT32_C(2) /* 128 << 2 = PCIE_READ_REQUEST_BYTES */
#define PAYLOAD_CODE_MAX  5u          /* 4096 bytes; 6 and 7 are reserved */

_Static_assert(128u << READ_REQUEST_CODE == PCIE_READ_REQUEST_BYTES, "one read request size");

static unsigned top_of(const struct pcie_tree *tree, unsigned index) {
  while (tree->functions[index].parent != PCIE_ABOVE_ROOT)
    index = (unsigned)tree->functions[index].parent;
  return index;
}

static void set_control(struct pcie_tree *tree, const struct pcie_function *function, unsigned payload_code) {
  struct spate_pcie_host *host = tree->host;
  pcie_change(host, &function->at, function->express + EXPRESS_DEVICE_CONTROL,
              EXPRESS_DEVICE_PAYLOAD_MASK | EXPRESS_DEVICE_READ_REQUEST_MASK,
              payload_code << 5 | READ_REQUEST_CODE << 12);
  /* Leaving L0s or L1 costs microseconds in the middle of a stream. An integrated endpoint has no link. */
  if (function->express_type != EXPRESS_INTEGRATED_ENDPOINT)
    pcie_change(host, &function->at, function->express + EXPRESS_LINK_CONTROL, EXPRESS_LINK_ASPM_MASK, 0);
}

/*
 * A port that may send larger payloads than some receiver below it can take makes that receiver fail (2.2.2), so one
 * size holds for everything below a root port: the least that any function there supports.
 */
void pcie_match_payload(struct pcie_tree *tree) {
  uint8_t code[PCIE_FUNCTIONS_MAX];
  for (unsigned i = 0; i < tree->function_count; i++) {
    const struct pcie_function *function = &tree->functions[i];
    unsigned top = top_of(tree, i); /* ≤ i, so code[top] is set by the time it is read */
    if (top == i) code[i] = PAYLOAD_CODE_MAX;
    if (function->express && function->payload_code < code[top]) code[top] = function->payload_code;
  }
  for (unsigned i = 0; i < tree->function_count; i++) {
    struct pcie_function *function = &tree->functions[i];
    function->payload_code = code[top_of(tree, i)];
    if (function->express) set_control(tree, function, function->payload_code);
  }
}

static void read_speed_and_width(struct spate_pcie_host *host, const struct spate_pcie_address *at, uint16_t express,
                                 struct spate_pcie_link *link) {
  uint32_t capabilities = pcie_read(host, at, express + EXPRESS_LINK_CAPABILITIES);
  uint32_t status = pcie_read(host, at, express + EXPRESS_LINK_CONTROL) >> 16;
  link->speed = status & 0xf;
  link->width = (status >> 4) & 0x3f;
  link->speed_max = capabilities & 0xf;
  link->width_max = (capabilities >> 4) & 0x3f;
}

/* The other end's ability counts where it tells: some switches leave the fields 0. */
static uint8_t lower(uint8_t own, uint8_t other) { return other && other < own ? other : own; }

void pcie_read_link(struct pcie_tree *tree, const struct pcie_function *function, struct spate_pcie_link *link) {
  *link = (struct spate_pcie_link){.up = true};
  if (!function->express || function->express_type == EXPRESS_INTEGRATED_ENDPOINT) return;
  read_speed_and_width(tree->host, &function->at, function->express, link);
  if (function->parent == PCIE_ABOVE_ROOT) return;

  const struct pcie_function *port = &tree->functions[function->parent];
  if (!port->express) return;
  struct spate_pcie_link other;
  read_speed_and_width(tree->host, &port->at, port->express, &other);
  link->speed_max = lower(link->speed_max, other.speed_max);
  link->width_max = lower(link->width_max, other.width_max);
}

enum spate_error spate_pcie_link_check(struct spate_pcie_host *host, struct spate_pcie_device *device) {
  struct spate_pcie_link *link = &device->link;
  struct spate_pcie_link bridge = {.up = true};
  enum spate_error error = host->ops->link(host, &bridge);
  if (error && error != SPATE_E_UNSUPPORTED) return error;
  /* A vendor id of all ones: the request ended nowhere. Also asked after a link came back to a device that was reset.
   */
  link->up = bridge.up && pcie_read(host, &device->address, PCI_ID) != PCI_ID_ABSENT;
  if (!link->up) return SPATE_E_LINK_DOWN;
  if (link->speed_max == 0) return SPATE_OK; /* no link of its own, or nothing known about it */

  uint16_t express = pcie_find_express(host, &device->address);
  if (!express) return SPATE_E_LINK_DOWN; /* it had one when it was enumerated */
  struct spate_pcie_link now;
  read_speed_and_width(host, &device->address, express, &now);
  link->speed = now.speed;
  link->width = now.width;
  return link->speed < link->speed_max || link->width < link->width_max ? SPATE_E_LINK_DEGRADED : SPATE_OK;
}

uint32_t spate_pcie_speed_mts(uint8_t speed) {
  static const uint16_t mts[] = {0, 2500, 5000, 8000, 16000, 32000};
  return speed < sizeof mts / sizeof mts[0] ? mts[speed] : 0;
}
