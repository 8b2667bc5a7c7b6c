/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BARs and bridge windows: size everything, lay each bus out from the leaves up, place it from the root down.
 *
 * On each bus what needs the coarsest alignment goes first. BARs are powers of two and bridge windows are multiples of
 * 1 MiB, so next to nothing is lost between them, and what fits at all fits this way in all but contrived trees.
 */
#include "internal.h"

const struct spate_pcie_window *pcie_host_window(const struct spate_pcie_host *host, unsigned window) {
  return window == PCIE_PREFETCH ? &host->prefetchable : &host->memory;
}

static enum spate_error fail(struct pcie_tree *tree, unsigned function, enum spate_error error) {
  tree->host->failed_at = tree->functions[function].at;
  return error;
}

static enum spate_error add_resource(struct pcie_tree *tree, struct pcie_resource resource) {
  if (tree->resource_count == PCIE_RESOURCES_MAX) return fail(tree, resource.function, SPATE_E_TOPOLOGY);
  tree->resources[tree->resource_count++] = resource;
  return SPATE_OK;
}

/* 64-bit prefetchable addresses need bridges that forward them all the way; everything else goes below 4 GiB, as a
 * bridge's other window has 32 bits (7.5.1.3.8). */
static uint8_t choose_window(const struct pcie_tree *tree, const struct pcie_function *function, uint32_t flags,
                             bool wide) {
  bool reachable = function->parent == PCIE_ABOVE_ROOT || tree->functions[function->parent].wide_prefetch;
  bool prefetchable = flags & 0x8;
  return tree->host->prefetchable.bytes && wide && prefetchable && reachable ? PCIE_PREFETCH : PCIE_MEMORY;
}

/* Which address bits can be written says how large a BAR is (7.5.1.2.1). */
static uint32_t writable_bits(struct spate_pcie_host *host, const struct spate_pcie_address *at, unsigned offset) {
  pcie_write(host, at, offset, 0xffffffff);
  return pcie_read(host, at, offset);
}

static enum spate_error size_bars(struct pcie_tree *tree, unsigned index) {
  struct spate_pcie_host *host = tree->host;
  const struct pcie_function *function = &tree->functions[index];
  unsigned end = PCI_BAR0 + (function->bridge ? 2 : 6) * 4;
  for (unsigned offset = PCI_BAR0; offset < end; offset += 4) {
    uint32_t before = pcie_read(host, &function->at, offset);
    uint32_t low = writable_bits(host, &function->at, offset);
    if (low & 1) pcie_write(host, &function->at, offset, before); /* I/O space: left alone */
    if (low == 0 || (low & 1)) continue;

    bool wide = (low & 0x6) == 0x4 && offset + 4 < end;
    uint32_t high = wide ? writable_bits(host, &function->at, offset + 4) : 0xffffffff;
    uint64_t bytes = ~((uint64_t)high << 32 | (low & ~UINT32_C(0xf))) + 1;
    uint8_t window = choose_window(tree, function, low, wide);
    /* Also refuses 0, which is what a BAR with no writable address bit comes to. */
    if (bytes - 1 >= pcie_host_window(host, window)->bytes) return fail(tree, index, SPATE_E_WINDOW);
    enum spate_error error = add_resource(tree, (struct pcie_resource){
                                                    .bytes = bytes,
                                                    .align = bytes,
                                                    .function = (uint8_t)index,
                                                    .bar = (uint8_t)offset,
                                                    .window = window,
                                                    .wide = wide,
                                                });
    if (error) return error;
    if (wide) offset += 4;
  }
  return SPATE_OK;
}

static uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) & ~(align - 1); }

/* Lay out one kind of window on the bus below `parent` from `start`. Returns its end; `align` is the coarsest used. */
static uint64_t lay_out(struct pcie_tree *tree, int parent, unsigned window, uint64_t start, uint64_t *align) {
  uint64_t end = start;
  *align = 1;
  for (uint64_t size = UINT64_C(1) << 63; size; size >>= 1) {
    for (unsigned i = 0; i < tree->resource_count; i++) {
      struct pcie_resource *resource = &tree->resources[i];
      if (resource->align != size || resource->window != window) continue;
      if (tree->functions[resource->function].parent != parent) continue;
      if (*align < size) *align = size;
      resource->address = align_up(end, size);
      end = resource->address + resource->bytes;
    }
  }
  return end;
}

/* What is below a bridge becomes one resource of the bus above it. */
static enum spate_error lay_out_bridge(struct pcie_tree *tree, unsigned index) {
  for (unsigned window = PCIE_MEMORY; window <= PCIE_PREFETCH; window++) {
    uint64_t align;
    uint64_t bytes = lay_out(tree, (int)index, window, 0, &align);
    if (bytes == 0) continue;
    enum spate_error error = add_resource(tree, (struct pcie_resource){
                                                    .bytes = align_up(bytes, PCIE_MIB),
                                                    .align = align < PCIE_MIB ? PCIE_MIB : align,
                                                    .function = (uint8_t)index,
                                                    .window = (uint8_t)window,
                                                });
    if (error) return error;
  }
  return SPATE_OK;
}

static const struct pcie_resource *window_of(const struct pcie_tree *tree, int bridge, unsigned window) {
  for (unsigned i = 0; i < tree->resource_count; i++) {
    const struct pcie_resource *resource = &tree->resources[i];
    if (resource->function == bridge && resource->window == window && !resource->bar) return resource;
  }
  return NULL;
}

static void program_bar(struct spate_pcie_host *host, const struct spate_pcie_address *at,
                        const struct pcie_resource *resource) {
  pcie_write(host, at, resource->bar, (uint32_t)resource->address);
  if (resource->wide) pcie_write(host, at, resource->bar + 4u, (uint32_t)(resource->address >> 32));
}

/* A bridge forwards from base to limit, both in MiB; base above limit closes the window (7.5.1.3.8). */
static void program_bridge(const struct pcie_tree *tree, unsigned index) {
  struct spate_pcie_host *host = tree->host;
  const struct spate_pcie_address *at = &tree->functions[index].at;
  pcie_write(host, at, PCI_IO_WINDOW, 0x000000f0);
  for (unsigned window = PCIE_MEMORY; window <= PCIE_PREFETCH; window++) {
    const struct pcie_resource *resource = window_of(tree, (int)index, window);
    uint64_t base = resource ? resource->address : UINT64_C(0xfff00000);
    uint64_t limit = resource ? resource->address + resource->bytes - 1 : 0;
    pcie_write(host, at, window == PCIE_PREFETCH ? PCI_PREFETCH_WINDOW : PCI_MEMORY_WINDOW,
               ((uint32_t)(base >> 16) & 0xfff0) | ((uint32_t)limit & 0xfff00000));
    if (window == PCIE_MEMORY) continue;
    pcie_write(host, at, PCI_PREFETCH_BASE_UPPER, (uint32_t)(base >> 32));
    pcie_write(host, at, PCI_PREFETCH_LIMIT_UPPER, (uint32_t)(limit >> 32));
  }
}

/*
 * Offsets become addresses, outermost windows first: a bridge's windows were added after all that is inside them. Only
 * BARs have to be within the host's window. A bridge's last MiB may reach past it, as nothing there is ever accessed.
 */
static enum spate_error settle_addresses(struct pcie_tree *tree) {
  for (unsigned i = tree->resource_count; i-- > 0;) {
    struct pcie_resource *resource = &tree->resources[i];
    const struct spate_pcie_window *window = pcie_host_window(tree->host, resource->window);
    int parent = tree->functions[resource->function].parent;
    if (parent != PCIE_ABOVE_ROOT) resource->address += window_of(tree, parent, resource->window)->address;
    if (resource->bar && resource->address + resource->bytes > window->bus_address + window->bytes)
      return fail(tree, resource->function, SPATE_E_WINDOW);
  }
  return SPATE_OK;
}

enum spate_error pcie_place(struct pcie_tree *tree) {
  enum spate_error error = SPATE_OK;
  for (unsigned i = 0; i < tree->function_count && !error; i++)
    error = size_bars(tree, i);
  for (unsigned i = tree->function_count; i-- > 0 && !error;)
    if (tree->functions[i].bridge) error = lay_out_bridge(tree, i);
  if (error) return error;

  for (unsigned window = PCIE_MEMORY; window <= PCIE_PREFETCH; window++) {
    uint64_t start = pcie_host_window(tree->host, window)->bus_address;
    uint64_t align;
    /* A BAR of 0 is taken for one that was never set, by devices and bridges alike. */
    (void)lay_out(tree, PCIE_ABOVE_ROOT, window, start ? start : PCIE_MIB, &align);
  }
  error = settle_addresses(tree);
  if (error) return error;

  for (unsigned i = 0; i < tree->resource_count; i++) {
    const struct pcie_resource *resource = &tree->resources[i];
    if (resource->bar) program_bar(tree->host, &tree->functions[resource->function].at, resource);
  }
  for (unsigned i = 0; i < tree->function_count; i++)
    if (tree->functions[i].bridge) program_bridge(tree, i);
  return SPATE_OK;
}
