// SPDX-License-Identifier: Apache-2.0
//
// The interfaces between the link and a drive: a drive as the link sees it, and the host's memory as a drive sees it.
// Neither depends on pins and clocks.
#ifndef SPATE_BENCH_DEVICE_H
#define SPATE_BENCH_DEVICE_H

#include <cstdint>
#include <functional>
#include <optional>

namespace testbench {

// A drive at the end of the link: bus 1, device 0, function 0. Accesses arrive after the link's latency and are
// answered at once; the response takes the link's latency back.
class Device {
public:
  virtual ~Device() = default;
  // Called in each cycle of the bridge's clock.
  virtual void tick(uint64_t now_ps) = 0;
  // PERST#: `asserted` holds the drive in reset. Called when it changes, and before the first tick.
  virtual void perst(bool asserted) = 0;
  // Whether the link is trained. While it is not, only tick() and perst() are called.
  virtual bool link_up() const = 0;
  // `offset` is a multiple of 4, below 4096.
  virtual uint32_t config_read(uint32_t offset) = 0;
  virtual void config_write(uint32_t offset, uint32_t value) = 0;
  // The offset in BAR 0 of this bus address, if the device claims it now.
  virtual std::optional<uint32_t> decode(uint64_t bus_address) const = 0;
  virtual uint32_t register_read(uint32_t offset) = 0;
  virtual void register_write(uint32_t offset, uint32_t value) = 0;
};

// Memory of the host, as a bus master sees it. Any address and any length: the link below makes packets of it. Reads
// and writes are carried out at the host in the order of PCI Express: a write passes nothing, a read passes no write.
class HostMemory {
public:
  using ReadDone = std::function<void(const uint8_t *data)>;
  using WriteDone = std::function<void()>;

  virtual ~HostMemory() = default;
  // `done` gets all bytes; it is not called when the link drops first. `urgent` reads (entries, lists) leave before
  // other waiting reads. 0 bytes: a read whose byte enables are all off.
  virtual void read(uint64_t address, uint32_t bytes, bool urgent, ReadDone done) = 0;
  // The data are copied. `done`, if given, is called when the host's side has acknowledged the last of them. A real
  // drive does not learn that.
  virtual void write(uint64_t address, const uint8_t *data, uint32_t bytes, WriteDone done) = 0;
};

} // namespace testbench

#endif
