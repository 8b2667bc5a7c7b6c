/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Xilinx bridges as root port: AXI Memory Mapped to PCI Express (PG055, 7 series), the bridge mode of AXI PCIe Gen3 and
 * DMA/Bridge for UltraScale and UltraScale+ (PG194), and on Versal QDMA in logic (PG302, PG344) and CPM4 and CPM5
 * (PG347). One interface has ECAM from bus 0. The bridge's own registers are in the configuration space of the root
 * port (PG055, PG194, CPM4), or in a region of their own (QDMA, CPM5), and on Versal 0xcd8 further on (PG302 and PG347,
 * "Bridge Register Space": from 0xe00 on; Linux pcie-xilinx-dma-pl.c, QDMA_BRIDGE_BASE_OFF; pcie-xilinx-cpm.c, 0xe10 to
 * 0xe3c). The offsets are those of PG194, each "(Offset 0x...)" a section of it:
 *
 *   0x138  interrupt decode     a bit is cleared by a 1, bits 9 to 11 only while the error FIFO is empty
 *   0x13c  interrupt mask       0: no interrupt reaches the CPU
 *   0x144  PHY status/control   0 rate 5 GT/s, 2:1 width as a power of two, 8:3 LTSSM, 10:9 lane reversal (PG055;
 *                               reserved in PG194), 11 link up. PG194 adds 12 rate 8 GT/s (then bit 0 has no
 *                               meaning) and 13 width 16. There is no bit for 16 GT/s and more
 *   0x148  root port status     0 bridge enable. Memory requests end in a slave error until it is set, and again after
 *                               the link went down
 *   0x14c  MSI base, upper      of a page (4 KiB). What the drive writes there is taken for an MSI and does not reach
 *   0x150  MSI base, lower      memory (PG194, "MSI Interrupt")
 *   0x154  error FIFO           18 an entry is valid; any write removes it
 *   0x158  interrupt FIFO       PG055, and PG194 up to UltraScale: 31 an entry is valid; any write removes it.
 *                               UltraScale+ decodes MSIs at 0x170-0x17c instead and reads 0 here, which is "empty"
 *   0x164  interrupt mask 2     INTA to INTD. UltraScale+ and Versal; reserved in the others, which read 0
 *   0x178  MSI mask, 0 to 31    the same
 *   0x17c  MSI mask, 32 to 63   the same
 *
 * If the logic is absent or in reset, the interfaces read zeros or all ones, or abort. So the identity is checked
 * first: the header of a PCI-to-PCI bridge, and registers that are not all ones. The vendor id does not count, because
 * a design may set any.
 */
#include "internal.h"

enum {
  BRIDGE_INTERRUPT_DECODE = 0x138,
  BRIDGE_INTERRUPT_MASK = 0x13c,
  BRIDGE_PHY_STATUS = 0x144,
  BRIDGE_ROOT_PORT = 0x148,
  BRIDGE_MSI_BASE_UPPER = 0x14c,
  BRIDGE_MSI_BASE_LOWER = 0x150,
  BRIDGE_ERROR_FIFO = 0x154,
  BRIDGE_INTERRUPT_FIFO = 0x158,
  BRIDGE_INTX_MASK = 0x164,
  BRIDGE_MSI_LOW_MASK = 0x178,
  BRIDGE_MSI_HIGH_MASK = 0x17c,
};

#define PHY_RATE_5              UINT32_C(0x0001)
#define PHY_LINK_UP             UINT32_C(0x0800)
#define PHY_RATE_8              UINT32_C(0x1000)
#define PHY_WIDTH_16            UINT32_C(0x2000)
#define ROOT_PORT_ENABLE        UINT32_C(0x00000001)
#define ERROR_FIFO_VALID        UINT32_C(0x00040000)
#define INTERRUPT_FIFO_VALID    UINT32_C(0x80000000)
#define FIFO_ENTRIES_MAX        256u
#define LINK_TIMEOUT_MS_DEFAULT 1000u

static const struct spate_pcie_address root_port;

/* The root port's own BARs define which memory the device may access. They need no space in the window, and their reset
 * value is right. So enumeration reads 0 there, and does not change them. */
static bool is_inbound_bar(struct spate_pcie_address at, uint16_t offset) {
  return at.bus == 0 && (offset == PCI_BAR0 || offset == PCI_BAR0 + 4);
}

/* The bridge's own registers. */
static uint32_t bridge_read(const struct spate_pcie_host *host, unsigned offset) {
  return spate_port_read32(host->bridge_base + offset);
}

static void bridge_write(const struct spate_pcie_host *host, unsigned offset, uint32_t value) {
  spate_port_write32(host->bridge_base + offset, value);
}

/* A request below a link that is down is not sent: XDMA needs a reset of the whole bridge after it (Linux
 * pcie-xilinx-dma-pl.c, valid_device()). The link can still drop between the question and the request. */
static bool is_reachable(const struct spate_pcie_host *host, struct spate_pcie_address at) {
  if (at.bus == 0) return true;
  const uint32_t phy = bridge_read(host, BRIDGE_PHY_STATUS);
  return phy != UINT32_MAX && (phy & PHY_LINK_UP);
}

static uint32_t config_read(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset) {
  if (is_inbound_bar(at, offset)) return 0;
  return is_reachable(host, at) ? spate_pcie_ecam_read(host, at, offset) : PCI_ID_ABSENT;
}

static void config_write(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset, uint32_t value) {
  if (!is_inbound_bar(at, offset) && is_reachable(host, at)) spate_pcie_ecam_write(host, at, offset, value);
}

/* Bus 0 has only the root port, which ignores the device number. The link below it has one device. */
static bool may_exist(struct spate_pcie_host *host, struct spate_pcie_address at) {
  (void)host;
  if (at.bus == 0) return at.device == 0 && at.function == 0;
  return at.bus != 1 || at.device == 0;
}

static struct spate_pcie_link link_of(uint32_t phy) {
  struct spate_pcie_link link = {.up = phy != UINT32_MAX && (phy & PHY_LINK_UP)};
  if (!link.up) return link;
  link.speed = phy & PHY_RATE_8 ? 3 : phy & PHY_RATE_5 ? 2 : 1;
  link.width = (uint8_t)(phy & PHY_WIDTH_16 ? 16u : 1u << (phy >> 1 & 3));
  return link;
}

static enum spate_error read_link(struct spate_pcie_host *host, struct spate_pcie_link *link) {
  *link = link_of(bridge_read(host, BRIDGE_PHY_STATUS));
  return SPATE_OK;
}

/* The class and the header type count. A design may set any vendor id. Reserved bits of PHY status read 0, so all ones
 * come from a second region in which nothing is. */
static enum spate_error check_identity(struct spate_pcie_host *host) {
  uint32_t id = spate_pcie_ecam_read(host, root_port, PCI_ID);
  uint32_t class_code = spate_pcie_ecam_read(host, root_port, PCI_CLASS) >> 16;
  uint32_t header = spate_pcie_ecam_read(host, root_port, PCI_HEADER_TYPE) & PCI_HEADER_TYPE_MASK;
  bool ours = !spate_pcie_is_silence(id) && class_code == PCI_CLASS_PCI_BRIDGE && header == PCI_HEADER_TYPE_1;
  return ours && bridge_read(host, BRIDGE_PHY_STATUS) != UINT32_MAX ? SPATE_OK : SPATE_E_NO_BRIDGE;
}

/* Speed and width come from Link Status if the root port has it: PHY status cannot say 16 GT/s. */
static enum spate_error read_phy(struct spate_pcie_host *host, struct spate_pcie_phy *phy) {
  const enum spate_error error = check_identity(host);
  if (error) return error;
  const uint32_t status = bridge_read(host, BRIDGE_PHY_STATUS);
  phy->ltssm = status >> 3 & 0x3f;
  phy->lane_reversal = status >> 9 & 3;
  phy->link = link_of(status);
  phy->up = phy->link.up;

  struct pcie_function port = {.host = host, .at = root_port};
  port.express = spate_pcie_find_express(&port);
  if (!port.express) return SPATE_OK;
  struct spate_pcie_link standard;
  spate_pcie_read_speed(&port, &standard);
  phy->link.speed_max = standard.speed_max;
  phy->link.width_max = standard.width_max;
  if (phy->up && standard.speed) phy->link.speed = standard.speed;
  if (phy->up && standard.width) phy->link.width = standard.width;
  return SPATE_OK;
}

/* A link that comes up during the wait is treated as one above 5 GT/s: to wait 100 ms once is simpler than to find out
 * its speed. */
static enum spate_error wait_for_link(struct spate_pcie_host *host, uint32_t timeout_ms) {
  uint64_t deadline = spate_port_ticks() + spate_ticks_of_ms(timeout_ms);
  for (bool was_down = false;; was_down = true) {
    struct spate_pcie_link now;
    enum spate_error error = read_link(host, &now);
    if (now.up) host->link_seen_ticks = spate_port_ticks();
    if (now.up && was_down) spate_pcie_settle(host->link_seen_ticks);
    if (error || now.up) return error;
    if (spate_port_ticks() >= deadline) return SPATE_E_LINK_DOWN;
    spate_port_relax();
  }
}

/* Earlier firmware may have left interrupts on, and the library answers none: a level would stay asserted on a line
 * that others may share. Bridges without a mask read 0 there, and nothing is written. */
static void mask_interrupts(const struct spate_pcie_host *host) {
  static const uint16_t masks[] = {BRIDGE_INTERRUPT_MASK, BRIDGE_INTX_MASK, BRIDGE_MSI_LOW_MASK, BRIDGE_MSI_HIGH_MASK};
  for (unsigned i = 0; i < sizeof masks / sizeof masks[0]; i++)
    if (bridge_read(host, masks[i])) bridge_write(host, masks[i], 0);
}

/*
 * The library uses no MSI, but the bridge takes each write of the drive to one page for an MSI. This page is at bus
 * address 0 after reset, or where earlier firmware put it: it may lie in the memory of queues or of a ring.
 * At the bus address of the window for BARs there is no memory, because a root port passes no such write upstream.
 */
static void put_msi_page_aside(const struct spate_pcie_host *host) {
  bridge_write(host, BRIDGE_MSI_BASE_UPPER, 0); /* the window is below 4 GiB */
  bridge_write(host, BRIDGE_MSI_BASE_LOWER, (uint32_t)host->memory.bus_address);
}

/* Removes entries of link training or of earlier firmware, which would otherwise look like new ones. */
static void drain(const struct spate_pcie_host *host, unsigned fifo, uint32_t valid) {
  for (unsigned i = 0; i < FIFO_ENTRIES_MAX && (bridge_read(host, fifo) & valid); i++)
    bridge_write(host, fifo, UINT32_MAX);
}

/* Sets Bridge Enable. The bridge clears it when its link goes down (PG194, Root Port Status/Control). A reset that took
 * the bridge with it moved the page of MSIs back as well. */
static void forward(struct spate_pcie_host *host) {
  put_msi_page_aside(host);
  bridge_write(host, BRIDGE_ROOT_PORT, bridge_read(host, BRIDGE_ROOT_PORT) | ROOT_PORT_ENABLE);
}

static bool forwards(struct spate_pcie_host *host) { return bridge_read(host, BRIDGE_ROOT_PORT) & ROOT_PORT_ENABLE; }

static const struct spate_pcie_host_ops ops = {config_read, config_write, may_exist, read_link,
                                               forward,     forwards,     read_phy};

enum spate_error spate_pcie_xilinx_open(struct spate_pcie_host *host, const struct spate_pcie_xilinx_config *config) {
  if (config->control_base % PCIE_MIB || config->bridge_base % 4 || config->last_bus == 0) return SPATE_E_INVALID;
  if (!spate_pcie_windows_valid(&config->memory, &config->prefetchable, UINTPTR_MAX)) return SPATE_E_INVALID;
  *host = (struct spate_pcie_host){
      .ops = &ops,
      .config_base = config->control_base,
      .bridge_base = config->bridge_base ? config->bridge_base : config->control_base,
      .last_bus = config->last_bus,
      .memory = config->memory,
      .prefetchable = config->prefetchable,
      .ready_timeout_ms = config->ready_timeout_ms,
  };
  enum spate_error error = check_identity(host);
  if (error) return error;
  error = wait_for_link(host, config->link_timeout_ms ? config->link_timeout_ms : LINK_TIMEOUT_MS_DEFAULT);
  if (error) return error;
  mask_interrupts(host);
  drain(host, BRIDGE_ERROR_FIFO, ERROR_FIFO_VALID);
  drain(host, BRIDGE_INTERRUPT_FIFO, INTERRUPT_FIFO_VALID);
  bridge_write(host, BRIDGE_INTERRUPT_DECODE, UINT32_MAX);
  forward(host);
  return SPATE_OK;
}
