/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BARs and bridge windows: find all sizes, lay out each bus from the leaves up, assign addresses from the root down.
 *
 * On each bus the range with the largest alignment goes first. BARs are powers of two and bridge windows are multiples
 * of 1 MiB, so the gaps are small. Whatever fits in another order also fits in this one, except in contrived trees.
 *
 * If not everything fits, BARs are left out, the largest first. The BAR 0 of an endpoint is left out only when no other
 * BAR remains: the driver needs only BAR 0, and an unused controller memory buffer or neighbour must not displace it.
 */
#include "internal.h"

const struct spate_pcie_window *spate_pcie_host_window(const struct spate_pcie_host *host, unsigned window) {
  return window == PCIE_PREFETCH ? &host->prefetchable : &host->memory;
}

/* The table has room for all possible BARs and windows. */
static struct pcie_resource *add_resource(struct pcie_tree *tree, struct pcie_function *function, unsigned window,
                                          uint64_t bytes, uint64_t align) {
  struct pcie_resource *resource = &tree->resources[tree->resource_count++];
  *resource = (struct pcie_resource){.bytes = bytes, .align = align, .function = function, .window = (uint8_t)window};
  return resource;
}

/* A 64-bit prefetchable address needs all bridges above to forward it. Everything else goes below 4 GiB, because the
 * other window of a bridge has 32 bits (7.5.1.3.8). */
static enum pcie_window choose_window(const struct pcie_function *function, uint32_t flags, bool wide) {
  bool reachable = function->parent == NULL || function->parent->wide_prefetch;
  bool prefetchable = flags & 0x8;
  return function->host->prefetchable.bytes && wide && prefetchable && reachable ? PCIE_PREFETCH : PCIE_MEMORY;
}

/* The size of a BAR follows from its writable address bits (7.5.1.2.1). */
static uint32_t writable_bits(const struct pcie_function *function, unsigned offset) {
  spate_pcie_write(function, offset, 0xffffffff);
  return spate_pcie_read(function, offset);
}

static void size_bars(struct pcie_tree *tree, struct pcie_function *function) {
  unsigned end = PCI_BAR0 + (function->bridge ? 2 : 6) * 4;
  for (unsigned offset = PCI_BAR0; offset < end; offset += 4) {
    uint32_t before = spate_pcie_read(function, offset);
    uint32_t low = writable_bits(function, offset);
    if (low & 1) spate_pcie_write(function, offset, before); /* I/O space: not used */
    if (low == 0 || (low & 1)) continue;

    bool wide = (low & 0x6) == 0x4 && offset + 4 < end;
    uint32_t high = wide ? writable_bits(function, offset + 4) : 0xffffffff;
    uint64_t bytes = ~((uint64_t)high << 32 | (low & ~UINT32_C(0xf))) + 1;
    enum pcie_window window = choose_window(function, low, wide);
    /* This also catches 0, the size of a BAR without a writable address bit. */
    if (bytes - 1 >= spate_pcie_host_window(tree->host, window)->bytes) window = PCIE_NO_PLACE;
    struct pcie_resource *resource = add_resource(tree, function, window, bytes, bytes);
    resource->bar = (uint8_t)offset;
    resource->wide = wide;
    if (wide) offset += 4;
  }
}

static uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) & ~(align - 1); }

/* Lays out one kind of window on the bus below `parent` from `start`. Returns its end; `align` is the largest used. */
static uint64_t lay_out(struct pcie_tree *tree, const struct pcie_function *parent, unsigned window, uint64_t start,
                        uint64_t *align) {
  uint64_t end = start;
  *align = 1;
  for (uint64_t size = UINT64_C(1) << 63; size; size >>= 1) {
    for (unsigned i = 0; i < tree->resource_count; i++) {
      struct pcie_resource *resource = &tree->resources[i];
      if (resource->align != size || resource->window != window || resource->function->parent != parent) continue;
      if (*align < size) *align = size;
      resource->address = align_up(end, size);
      end = resource->address + resource->bytes;
    }
  }
  return end;
}

/* Everything below a bridge becomes one resource of each kind on the bus above it. */
static void lay_out_bridge(struct pcie_tree *tree, struct pcie_function *bridge) {
  for (unsigned window = PCIE_MEMORY; window <= PCIE_PREFETCH; window++) {
    uint64_t align;
    uint64_t bytes = lay_out(tree, bridge, window, 0, &align);
    if (bytes == 0) continue;
    (void)add_resource(tree, bridge, window, align_up(bytes, PCIE_MIB), align < PCIE_MIB ? PCIE_MIB : align);
  }
}

static const struct pcie_resource *window_of(const struct pcie_tree *tree, const struct pcie_function *bridge,
                                             unsigned window) {
  for (unsigned i = 0; i < tree->resource_count; i++) {
    const struct pcie_resource *resource = &tree->resources[i];
    if (resource->function == bridge && resource->window == window && !resource->bar) return resource;
  }
  return NULL;
}

static void program_bar(const struct pcie_resource *resource) {
  spate_pcie_write(resource->function, resource->bar, (uint32_t)resource->address);
  if (resource->wide) spate_pcie_write(resource->function, resource->bar + 4u, (uint32_t)(resource->address >> 32));
}

/* A bridge forwards addresses from base to limit, both in MiB. A base above the limit closes the window (7.5.1.3.8). */
static void program_bridge(const struct pcie_tree *tree, const struct pcie_function *bridge) {
  spate_pcie_write(bridge, PCI_IO_WINDOW, 0x000000f0);
  for (unsigned window = PCIE_MEMORY; window <= PCIE_PREFETCH; window++) {
    const struct pcie_resource *resource = window_of(tree, bridge, window);
    uint64_t base = resource ? resource->address : UINT64_C(0xfff00000);
    uint64_t limit = resource ? resource->address + resource->bytes - 1 : 0;
    spate_pcie_write(bridge, window == PCIE_PREFETCH ? PCI_PREFETCH_WINDOW : PCI_MEMORY_WINDOW,
                     ((uint32_t)(base >> 16) & 0xfff0) | ((uint32_t)limit & 0xfff00000));
    if (window == PCIE_MEMORY) continue;
    spate_pcie_write(bridge, PCI_PREFETCH_BASE_UPPER, (uint32_t)(base >> 32));
    spate_pcie_write(bridge, PCI_PREFETCH_LIMIT_UPPER, (uint32_t)(limit >> 32));
  }
}

/*
 * Turns offsets into addresses, outermost windows first: the windows of a bridge were added after everything inside
 * them. Only BARs have to be within the host's window. The last MiB of a bridge's window may reach beyond it, because
 * nothing there is accessed. Returns a window that is too small, or PCIE_NO_PLACE if all are large enough.
 */
static unsigned settle_addresses(struct pcie_tree *tree) {
  for (unsigned i = tree->resource_count; i-- > 0;) {
    struct pcie_resource *resource = &tree->resources[i];
    if (resource->window == PCIE_NO_PLACE) continue;
    const struct spate_pcie_window *window = spate_pcie_host_window(tree->host, resource->window);
    const struct pcie_function *parent = resource->function->parent;
    if (parent != NULL) resource->address += window_of(tree, parent, resource->window)->address;
    if (resource->bar && resource->address + resource->bytes > window->bus_address + window->bytes)
      return resource->window;
  }
  return PCIE_NO_PLACE;
}

/* Assigns all addresses. Returns the same as settle_addresses(). */
static unsigned lay_out_all(struct pcie_tree *tree) {
  for (unsigned i = tree->function_count; i-- > 0;)
    if (tree->functions[i].bridge) lay_out_bridge(tree, &tree->functions[i]);
  for (unsigned window = PCIE_MEMORY; window <= PCIE_PREFETCH; window++) {
    uint64_t start = spate_pcie_host_window(tree->host, window)->bus_address;
    uint64_t align;
    /* Not 0: devices and bridges treat a BAR of 0 as one that was never set. */
    (void)lay_out(tree, NULL, window, start ? start : PCIE_MIB, &align);
  }
  return settle_addresses(tree);
}

static bool is_needed(const struct pcie_resource *resource) {
  return resource->bar == PCI_BAR0 && !resource->function->bridge;
}

static void leave_one_out(struct pcie_tree *tree, unsigned window) {
  struct pcie_resource *out = NULL;
  for (unsigned i = 0; i < tree->resource_count; i++) {
    struct pcie_resource *resource = &tree->resources[i];
    if (resource->window != window) continue;
    bool is_better =
        out == NULL || (is_needed(out) == is_needed(resource) ? resource->bytes >= out->bytes : is_needed(out));
    if (is_better) out = resource;
  }
  if (out != NULL) out->window = PCIE_NO_PLACE;
}

/*
 * A BAR without a place keeps the ones that sizing wrote to it. It is therefore at the end of the 32- or 64-bit address
 * space. If no window of the host reaches there, no request of the CPU does, and the BAR may be decoded there.
 */
static bool is_outside_windows(const struct pcie_resource *resource) {
  const struct spate_pcie_host *host = resource->function->host;
  uint64_t last = resource->wide ? UINT64_MAX : UINT32_MAX;
  uint64_t first = last - (resource->bytes - 1);
  for (unsigned i = PCIE_MEMORY; i <= PCIE_PREFETCH; i++) {
    const struct spate_pcie_window *window = spate_pcie_host_window(host, i);
    uint64_t end = align_up(window->bus_address + window->bytes, PCIE_MIB); /* bridges count in MiB */
    if (window->bytes && first < end && last >= window->bus_address) return false;
  }
  return true;
}

static void program(struct pcie_tree *tree, const struct pcie_resource *resource) {
  struct pcie_function *function = resource->function;
  if (resource->window != PCIE_NO_PLACE) {
    program_bar(resource);
  } else if (!is_outside_windows(resource) && !function->memory_off) {
    function->memory_off = true;
    if (!function->bridge) return;
    function->left_out = true; /* a bridge with memory decoding off does not forward either */
    spate_pcie_leave_out(tree, function, SPATE_E_WINDOW);
  }
}

void spate_pcie_place(struct pcie_tree *tree) {
  for (unsigned i = 0; i < tree->function_count; i++)
    size_bars(tree, &tree->functions[i]);

  const uint8_t bars = tree->resource_count;
  for (unsigned turn = 0; turn <= bars; turn++) { /* each turn except the last leaves out one BAR */
    const unsigned too_small = lay_out_all(tree);
    if (too_small == PCIE_NO_PLACE) break;
    tree->resource_count = bars;
    leave_one_out(tree, too_small);
  }

  for (unsigned i = 0; i < bars; i++)
    program(tree, &tree->resources[i]);
  for (unsigned i = 0; i < tree->function_count; i++)
    if (tree->functions[i].bridge) program_bridge(tree, &tree->functions[i]);
}
