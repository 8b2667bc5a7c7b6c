// SPDX-License-Identifier: Apache-2.0
//
// QEMU's NVMe drive below the bridge. The core's accesses to configuration space of bus 1 go to QEMU's controller,
// those to its BAR to QEMU's registers, both one after the other and between the board's steps. QEMU's reads and writes
// go through the mirror (qemu_mirror.h).
//
// The root port, the link's training and PERST# (a function-level reset here) are only modelled, so QEMU does not test
// them. Nothing takes time.
#ifndef SPATE_DEMO_QEMU_DRIVE_H
#define SPATE_DEMO_QEMU_DRIVE_H

#include "bridge_master.h"
#include "qemu_mirror.h"

#include <cstdint>
#include <deque>

namespace testbench {

class QemuDrive : public Downstream {
public:
  QemuDrive(Board &board, Bridge &bridge, struct qtest &qtest, uint64_t bar);

  // Advances to the board's next edge; then serves the core's accesses to the drive, and the drive's results.
  void step();
  // The same without an edge.
  void serve();
  const QemuMirror &mirror() const { return mirror_; }
  uint64_t accesses() const { return accesses_; }

  void tick(uint64_t now_ps) override;
  bool link_up() const override;
  void perst(bool asserted) override;
  void memory_write(uint64_t bus_address, uint32_t value) override;
  void memory_read(uint64_t bus_address, Answer done) override;
  void config_write(uint32_t offset, uint32_t value, Answer done) override;
  void config_read(uint32_t offset, Answer done) override;

private:
  enum class Kind { Reset, MemoryWrite, MemoryRead, ConfigWrite, ConfigRead };
  struct Access {
    Kind kind;
    uint64_t address;
    uint32_t value;
    Answer done;
  };
  void carry_out(const Access &access);
  void reset_function();

  Board &board_;
  struct qtest &qtest_;
  const uint64_t bar_;
  BridgeMaster master_;
  QemuMirror mirror_;
  std::deque<Access> waiting_;
  bool perst_ = true;
  uint64_t released_ps_ = 0, now_ps_ = 0;
  uint64_t accesses_ = 0;
};

} // namespace testbench

#endif
