// SPDX-License-Identifier: Apache-2.0
//
// The virtual drive (sim/drive/drive.h) behind the bridge, with its profile, the timing of its link, its faults and its
// checks.
//
// The drive acts in events of virtual time, the core answers in cycles of its clock. Writes of the drive are posted:
// they are handed to the bridge and proceed on their own, in order. For reads, the board runs for as many cycles as
// they take, and virtual time follows. So the times of the core and the drive differ by at most one read of the drive,
// and a drive never gets data before the core has given them.
//
// The core's milliseconds are shorter than real ones by UsPerMs / 1000, so that a wait of 100 ms can be simulated.
// While nothing moves, virtual time runs faster than the core's by the same factor, so that both have the same
// milliseconds. While data move, a cycle takes its real 4 ns, so rates are real and the core's deadlines come early.
#ifndef SPATE_RTL_SIM_DRIVE_H
#define SPATE_RTL_SIM_DRIVE_H

#include "bridge_master.h"

#include <cstdint>
#include <memory>
#include <vector>

extern "C" {
#include "drive/drive.h"
#include "machine/internal.h"
#include "machine/logic.h"
}

namespace testbench {

struct SimDriveConfig {
  uint64_t window_base = 0;
  uint64_t window_bytes = 0;
  uint64_t us_per_ms = 1000; // the core's UsPerMs
  uint32_t training_ms = 10; // from the end of PERST# to link-up
};

class SimDrive : public Downstream {
public:
  SimDrive(Board &board, Bridge &bridge, struct sim *sim, struct sim_drive *drive, const SimDriveConfig &config);

  // Advances to the board's next edge, then runs virtual time up to it.
  void step();
  // Virtual time, on the core's side.
  uint64_t now_ps() const { return core_ps_; }
  // Something moved at pins that the bridge does not see: the user's streams.
  void moved() { moved_ps_ = board_.now_ps(); }
  // From now on a cycle always takes its real time: for measurements.
  void keep_true_time() { slow_factor_ = 1; }
  // The link stays down, whatever PERST# does.
  void unplug();

  struct Counters {
    uint64_t posts, asks, perst;
  };
  const Counters &counters() const { return counters_; }
  const BridgeMaster &master() const { return master_; }

  void tick(uint64_t now_ps) override;
  bool link_up() const override;
  void perst(bool asserted) override;
  void memory_write(uint64_t bus_address, uint32_t value) override;
  void memory_read(uint64_t bus_address, Answer done) override;
  void config_write(uint32_t offset, uint32_t value, Answer done) override;
  void config_read(uint32_t offset, Answer done) override;

private:
  struct Ask {
    struct sim_logic_access access;
    Answer done;
    bool used;
  };
  void window_read(uint64_t address, uint8_t *data, uint64_t bytes);
  void window_write(uint64_t address, const uint8_t *data, uint64_t bytes);
  void ask(uint64_t address, bool write, uint32_t value, Answer done);
  void edge();
  void set_perst();

  Board &board_;
  Bridge &bridge_;
  BridgeMaster master_;
  struct sim *sim_;
  struct sim_drive *drive_;
  SimDriveConfig config_;
  uint64_t core_ps_ = 0;
  uint64_t board_ps_ = 0; // counted up to here
  uint64_t moved_ps_ = 0;
  uint64_t slow_factor_;
  uint32_t payload_bytes_ = 0;
  bool perst_ = true, unplugged_ = false;
  std::vector<std::unique_ptr<Ask>> asks_;
  Counters counters_{};
};

} // namespace testbench

#endif
