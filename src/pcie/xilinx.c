/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Xilinx soft and hard bridges as root port: AXI Memory Mapped to PCI Express (PG055, 7 series) and the bridge mode of
 * AXI PCIe Gen3 and DMA/Bridge for UltraScale and UltraScale+ (PG194). One AXI-Lite interface has ECAM from bus 0. The
 * bridge's own registers are in the configuration space of the root port:
 *
 *   0x138  interrupt decode     both; a bit is cleared by a 1
 *   0x13c  interrupt mask       both; 0: no interrupt reaches the CPU
 *   0x144  PHY status/control   both: 0 rate 5 GT/s, 2:1 width as a power of two, 11 link up.
 *                               PG194 adds 12 rate 8 GT/s (then bit 0 has no meaning) and 13 width 16
 *   0x148  root port status     both: 0 bridge enable. Memory requests end in a slave error until it is set, and again
 *                               after the link went down
 *   0x154  root port error FIFO both: bit 18 an entry is valid; any write removes it
 *   0x158  interrupt FIFO       PG055 and PG194 up to UltraScale: bit 31 an entry is valid; any write removes it.
 *                               UltraScale+ decodes MSIs at 0x160–0x17c instead and reads 0 here, which is "empty"
 *
 * If the logic is absent or in reset, the interface reads zeros or all ones. So the identity is checked first: the
 * header of a PCI-to-PCI bridge. The vendor id does not count, because a design may set any.
 */
#include "internal.h"

enum {
  BRIDGE_INTERRUPT_DECODE = 0x138,
  BRIDGE_INTERRUPT_MASK = 0x13c,
  BRIDGE_PHY_STATUS = 0x144,
  BRIDGE_ROOT_PORT = 0x148,
  BRIDGE_ERROR_FIFO = 0x154,
  BRIDGE_INTERRUPT_FIFO = 0x158,
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

static uint32_t config_read(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset) {
  return is_inbound_bar(at, offset) ? 0 : spate_pcie_ecam_read(host, at, offset);
}

static void config_write(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset, uint32_t value) {
  if (!is_inbound_bar(at, offset)) spate_pcie_ecam_write(host, at, offset, value);
}

/* Bus 0 has only the root port, which ignores the device number. The link below it has one device. */
static bool may_exist(struct spate_pcie_host *host, struct spate_pcie_address at) {
  (void)host;
  if (at.bus == 0) return at.device == 0 && at.function == 0;
  return at.bus != 1 || at.device == 0;
}

static enum spate_error read_link(struct spate_pcie_host *host, struct spate_pcie_link *link) {
  uint32_t phy = spate_pcie_ecam_read(host, root_port, BRIDGE_PHY_STATUS);
  *link = (struct spate_pcie_link){.up = phy != UINT32_MAX && (phy & PHY_LINK_UP)};
  if (!link->up) return SPATE_OK;
  link->speed = phy & PHY_RATE_8 ? 3 : phy & PHY_RATE_5 ? 2 : 1;
  link->width = (uint8_t)(phy & PHY_WIDTH_16 ? 16u : 1u << (phy >> 1 & 3));
  return SPATE_OK;
}

/* The class and the header type count. A design may set any vendor id. */
static enum spate_error check_identity(struct spate_pcie_host *host) {
  uint32_t id = spate_pcie_ecam_read(host, root_port, PCI_ID);
  uint32_t class_code = spate_pcie_ecam_read(host, root_port, PCI_CLASS) >> 16;
  uint32_t header = spate_pcie_ecam_read(host, root_port, PCI_HEADER_TYPE) & PCI_HEADER_TYPE_MASK;
  bool ours = !spate_pcie_is_silence(id) && class_code == PCI_CLASS_PCI_BRIDGE && header == PCI_HEADER_TYPE_1;
  return ours ? SPATE_OK : SPATE_E_NO_BRIDGE;
}

/* PHY Status/Control: bits 8:3 LTSSM state, bits 10:9 lane reversal (PG055). */
static enum spate_error read_phy(struct spate_pcie_host *host, struct spate_pcie_phy *phy) {
  const enum spate_error error = check_identity(host);
  if (error) return error;
  const uint32_t status = spate_pcie_ecam_read(host, root_port, BRIDGE_PHY_STATUS);
  phy->ltssm = status >> 3 & 0x3f;
  phy->lane_reversal = status >> 9 & 3;
  (void)read_link(host, &phy->link);
  phy->up = phy->link.up;
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

/* Removes entries of link training or of earlier firmware, which would otherwise look like new ones. */
static void drain(struct spate_pcie_host *host, uint16_t fifo, uint32_t valid) {
  for (unsigned i = 0; i < FIFO_ENTRIES_MAX && (spate_pcie_ecam_read(host, root_port, fifo) & valid); i++)
    spate_pcie_ecam_write(host, root_port, fifo, UINT32_MAX);
}

/* Sets Bridge Enable. The bridge clears it when its link goes down (PG194, Root Port Status/Control). */
static void forward(struct spate_pcie_host *host) {
  uint32_t control = spate_pcie_ecam_read(host, root_port, BRIDGE_ROOT_PORT);
  spate_pcie_ecam_write(host, root_port, BRIDGE_ROOT_PORT, control | ROOT_PORT_ENABLE);
}

static bool forwards(struct spate_pcie_host *host) {
  return spate_pcie_ecam_read(host, root_port, BRIDGE_ROOT_PORT) & ROOT_PORT_ENABLE;
}

static const struct spate_pcie_host_ops ops = {config_read, config_write, may_exist, read_link,
                                               forward,     forwards,     read_phy};

enum spate_error spate_pcie_xilinx_open(struct spate_pcie_host *host, const struct spate_pcie_xilinx_config *config) {
  if (config->control_base % PCIE_MIB || config->last_bus == 0) return SPATE_E_INVALID;
  if (!spate_pcie_windows_valid(&config->memory, &config->prefetchable)) return SPATE_E_INVALID;
  *host = (struct spate_pcie_host){
      .ops = &ops,
      .config_base = config->control_base,
      .last_bus = config->last_bus,
      .memory = config->memory,
      .prefetchable = config->prefetchable,
  };
  enum spate_error error = check_identity(host);
  if (error) return error;
  error = wait_for_link(host, config->link_timeout_ms ? config->link_timeout_ms : LINK_TIMEOUT_MS_DEFAULT);
  if (error) return error;
  spate_pcie_ecam_write(host, root_port, BRIDGE_INTERRUPT_MASK, 0);
  drain(host, BRIDGE_ERROR_FIFO, ERROR_FIFO_VALID);
  drain(host, BRIDGE_INTERRUPT_FIFO, INTERRUPT_FIFO_VALID);
  spate_pcie_ecam_write(host, root_port, BRIDGE_INTERRUPT_DECODE, UINT32_MAX);
  forward(host);
  return SPATE_OK;
}
