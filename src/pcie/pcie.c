/* SPDX-License-Identifier: Apache-2.0 */
/* Enumeration: from a bridge to a list of endpoints that are ready for DMA. */
#include "internal.h"

#define READY_MS           3000u /* how long a device may return "retry": 1 s (6.6.1), and some take longer */
#define WINDOW_ALIGN_BYTES 4096u /* of a host's window. Windows of bridges are multiples of 1 MiB */

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
  return a - b < b_bytes || b - a < a_bytes;
}

bool spate_pcie_windows_valid(const struct spate_pcie_window *memory, const struct spate_pcie_window *prefetchable,
                              uint64_t cpu_last) {
  /* Larger than any real window, and small enough that sums of sizes in a window do not overflow. */
  const uint64_t bytes_max = UINT64_C(1) << 48, address_end = UINT64_MAX - bytes_max + 1;
  const struct spate_pcie_window *windows[] = {memory, prefetchable};
  for (unsigned i = 0; i < 2; i++) {
    const struct spate_pcie_window *window = windows[i];
    if (window->bytes == 0) continue;
    if (window->bytes > bytes_max || window->bus_address >= address_end) return false;
    if ((window->bus_address | window->bytes) % WINDOW_ALIGN_BYTES != 0) return false;
    if (window->cpu_address > cpu_last || window->bytes - 1 > cpu_last - window->cpu_address) return false;
  }
  if (prefetchable->bytes != 0 &&
      (overlap(memory->bus_address, memory->bytes, prefetchable->bus_address, prefetchable->bytes) ||
       overlap(memory->cpu_address, memory->bytes, prefetchable->cpu_address, prefetchable->bytes)))
    return false;
  return memory->bytes != 0 && memory->bus_address + memory->bytes <= UINT64_C(1) << 32;
}

static void list_endpoint(const struct pcie_tree *tree, const struct pcie_function *function) {
  struct spate_pcie_host *host = tree->host;
  struct spate_pcie_device *device = &host->devices[host->device_count++];
  uint32_t id = spate_pcie_read(function, PCI_ID);
  *device = (struct spate_pcie_device){
      .address = function->at,
      .vendor_id = (uint16_t)id,
      .device_id = (uint16_t)(id >> 16),
      .class_code = spate_pcie_read(function, PCI_CLASS) >> 8,
      .payload_bytes = (uint16_t)(128u << function->payload_code),
      .read_request_bytes = PCIE_READ_REQUEST_BYTES,
  };
  spate_pcie_save(function, &device->saved);
  spate_pcie_read_link(function, &device->link);
  for (unsigned i = 0; i < tree->resource_count; i++) {
    const struct pcie_resource *resource = &tree->resources[i];
    if (resource->function != function || resource->bar != PCI_BAR0) continue;
    device->bar0_bytes = resource->bytes;
    if (resource->window == PCIE_NO_PLACE || function->memory_off) continue;
    const struct spate_pcie_window *window = spate_pcie_host_window(host, resource->window);
    device->bar0 = (uintptr_t)(window->cpu_address + (resource->address - window->bus_address));
  }
}

static bool is_left_out(const struct pcie_function *function) {
  for (; function != NULL; function = function->parent)
    if (function->left_out) return true;
  return false;
}

/* Turns on memory decoding and DMA, when every BAR and window has its place. The library does not use interrupts. */
static void enable(const struct pcie_function *function) {
  uint32_t memory = function->memory_off ? 0 : PCI_COMMAND_MEMORY;
  spate_pcie_change(function, PCI_COMMAND, 0, memory | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
}

/* The error of a scan that found no endpoint. */
static enum spate_error nothing_found(const struct pcie_tree *tree) {
  if (tree->first_error) return tree->first_error; /* failed_at is set */
  if (!tree->link_is_down) return SPATE_E_NO_DEVICE;
  tree->host->failed_at = tree->down_at;
  return SPATE_E_LINK_DOWN;
}

static void take_into_use(struct pcie_tree *tree) {
  struct spate_pcie_host *host = tree->host;
  for (unsigned i = 0; i < tree->function_count; i++) {
    struct pcie_function *function = &tree->functions[i];
    if (is_left_out(function)) continue;
    enable(function);
    if (function->bridge) {
      spate_pcie_save(function, &host->bridges[host->bridge_count]);
      function->saved = ++host->bridge_count;
    } else {
      list_endpoint(tree, function);
    }
  }
}

/* For a bridge that reports its own link: waits until 100 ms after the link was first seen up. */
static void settle_link(struct spate_pcie_host *host, uint64_t reset_ticks) {
  if (!reset_ticks) return;
  if (host->link_seen_ticks <= reset_ticks) host->link_seen_ticks = spate_port_ticks();
  spate_pcie_settle(host->link_seen_ticks);
}

enum spate_error spate_pcie_enumerate(struct spate_pcie_host *host, uint64_t perst_released_ticks) {
  host->device_count = 0;
  host->bridge_count = 0;
  host->left_out = 0;
  host->changes = 0;
  host->failed_at = (struct spate_pcie_address){.bus = host->first_bus};
  if (perst_released_ticks) spate_pcie_settle(perst_released_ticks);

  struct spate_pcie_link link = {.up = true};
  enum spate_error error = host->ops->link(host, &link);
  if (error && error != SPATE_E_UNSUPPORTED) return error;
  if (!link.up) return SPATE_E_LINK_DOWN;
  if (host->ops->forward != NULL) host->ops->forward(host); /* first, so that a later link drop is noticed */

  struct pcie_tree tree;
  tree.host = host;
  tree.ready_ticks = spate_ticks_of_ms(host->ready_timeout_ms == 0 ? READY_MS : host->ready_timeout_ms);
  tree.function_count = tree.resource_count = tree.endpoint_count = tree.bridge_count = 0;
  tree.last_bus = host->first_bus;
  if (!error) settle_link(host, perst_released_ticks);
  tree.link_by_ticks = spate_port_ticks() + spate_ticks_of_ms(PCIE_LINK_MS);
  tree.ready_by_ticks = spate_port_ticks() + tree.ready_ticks;
  tree.reset_ticks = perst_released_ticks;
  tree.first_error = SPATE_OK;
  tree.host_link_is_up = !error;
  tree.link_is_down = false;
  spate_pcie_scan(&tree);
  if (tree.endpoint_count == 0) return nothing_found(&tree);
  spate_pcie_place(&tree);
  spate_pcie_match_payload(&tree);
  take_into_use(&tree);
  return host->device_count ? SPATE_OK : nothing_found(&tree);
}

enum spate_error spate_pcie_find(struct spate_pcie_host *host, uint32_t class_code, unsigned n,
                                 struct spate_pcie_device **device) {
  for (unsigned i = 0; i < host->device_count; i++) {
    if (host->devices[i].class_code != class_code || n-- > 0) continue;
    *device = &host->devices[i];
    return (*device)->bar0_bytes && !(*device)->bar0 ? SPATE_E_WINDOW : SPATE_OK;
  }
  return host->device_count ? SPATE_E_WRONG_CLASS : SPATE_E_NO_DEVICE;
}
