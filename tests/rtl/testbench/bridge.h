// SPDX-License-Identifier: Apache-2.0
//
// An AXI-PCIe bridge in root port mode, as the core sees it:
//
//   s_axi   its master port reads and writes the core's windows for the drive, in full-width bursts within 4 KiB with
//           unaligned heads and tails, several outstanding. A read waits for the writes before it.
//   m_axi   its slave port leads to the drive's BAR: the address is translated to a bus address
//   c_axil  its control port: ECAM. Offset 0 is the root port itself, 0x100000 is bus 1
//
// Every response of the core is checked: identifiers, order, RLAST, OKAY, and that valid outputs stay until they are
// taken.
//
// In memory mode, accesses outside the core's aperture go to a memory beside it (memory.h).
#ifndef SPATE_BENCH_BRIDGE_H
#define SPATE_BENCH_BRIDGE_H

#include "board.h"
#include "root_port.h"
#include "stable.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace testbench {

class Memory;

// What is below the root port: the link (link.h). Requests are answered when their completion arrives, or never.
class Downstream {
public:
  using Answer = std::function<void(bool ok, uint32_t value)>;

  virtual ~Downstream() = default;
  virtual void tick(uint64_t now_ps) = 0;
  virtual bool link_up() const = 0;
  virtual void perst(bool asserted) = 0;
  virtual void memory_write(uint64_t bus_address, uint32_t value) = 0;
  virtual void memory_read(uint64_t bus_address, Answer done) = 0;
  virtual void config_write(uint32_t offset, uint32_t value, Answer done) = 0;
  virtual void config_read(uint32_t offset, Answer done) = 0;
};

// The bridge's response to an access to a device that is absent. Bridges differ.
enum class NoLink {
  Error, // SLVERR, all ones; at once, or after the completion timeout if the link drops during the access
  Zeros, // the same, but OKAY and zeros
  Hang,  // no response until the bridge is reset
};

struct BridgeConfig {
  unsigned stall_percent = 0;       // percentage of cycles in which each channel stalls
  unsigned bursts_outstanding = 32; // reads of the core in flight at once
  uint32_t burst_bytes = 4096;      // longest burst
  bool reset_with_perst = false;    // axi_aresetn follows PERST#
  bool perst_wired = true;          // otherwise only the root port's bus reset reaches the drive
  uint32_t link_fall_us = 100;      // how long it reports a link whose other end is silent as up
  NoLink no_link = NoLink::Error;
  uint32_t completion_timeout_us = 1000;
  uint64_t bar_axi_base = 0; // the address at m_axi …
  uint64_t bar_bus_base = 0; // … of this bus address
  // Memory mode. The aperture of the core; other addresses belong to the memory. 0 bits: all addresses are the core's.
  uint64_t window_base = 0;
  unsigned window_bits = 0;
};

class Bridge : public Part {
public:
  // A read of the drive. `data` fills from the front.
  struct Read {
    uint64_t address = 0;
    uint32_t bytes = 0;   // 0: one beat is read and discarded
    uint32_t arrived = 0; // bytes that have arrived
    std::vector<uint8_t> data;
    std::function<void(const Read &)> progress; // after each beat
  };
  struct Write {
    uint64_t address = 0;
    std::vector<uint8_t> data;
    std::function<void()> done; // called when acknowledged; may be empty
  };

  // `pins`: those of its drive, if the board has several.
  Bridge(Board &board, const BridgeConfig &config, Model *pins = nullptr);
  void connect(Downstream &below) { below_ = &below; }
  void connect(Memory &memory) { memory_ = &memory; }

  // ---- for the link: requests in the order of arrival. None crosses 4 KiB ----
  void read(Read read);
  void write(Write write);
  bool idle() const { return reads_.empty() && writes_.empty(); }

  void set_stall(unsigned percent) { config_.stall_percent = percent; }
  // Everything in flight is dropped, and axi_aresetn is low for some cycles. What the link sends meanwhile is
  // discarded.
  void reset();

  void sample() override;
  void drive() override;

  const RootPort &root_port() const { return root_port_; }
  uint64_t read_beats() const { return read_beats_; } // given by the core
  // Called in the cycle of the event, with its address: to measure latencies.
  enum class Seen {
    ReadAddress,  // taken by the core
    ReadBeat,     // the first of a read
    WriteBeat,    // the last of a write
    Acknowledged, // a write
    RegisterWrite // of the core: address and data have arrived
  };
  std::function<void(Seen seen, uint64_t address)> on_seen;

private:
  struct Burst {
    uint64_t address = 0; // of its first byte
    uint32_t bytes = 0;   // bytes that are wanted, from 0 on
    uint32_t beats = 0;
    uint32_t offset = 0; // of its first byte in its request
    uint32_t beat = 0;   // the next one
    uint8_t id = 0;
    bool last = false; // of its request
    bool to_memory = false;
    bool acknowledged = false;
  };
  struct PendingRead {
    Read read;
    uint64_t after_writes = 0; // bursts that must be acknowledged first
    uint32_t asked = 0;        // bytes for which bursts were made
    bool all_asked = false;
  };
  struct PendingWrite {
    Write write;
    uint32_t bursts = 0; // not acknowledged yet
  };
  // An access of the core to registers or configuration space: one of each kind at a time.
  struct Access {
    enum { Idle, Waiting, Answering } state = Idle;
    bool write = false;
    bool address_taken = false, data_taken = false;
    bool address_ready = false, data_ready = false; // the bridge's side of the handshakes
    uint64_t address = 0;
    uint32_t data = 0;
    bool ok = true;
    uint64_t number = 0; // responses to another access are discarded
    uint64_t deadline_ps = 0;
  };

  // bridge_read.cpp
  void sample_read();
  void drive_read();
  void choose_read();
  void take_beat();
  // bridge_write.cpp
  void sample_write();
  void drive_write();
  void choose_write();
  void acknowledge(Burst &burst);
  // bridge_registers.cpp
  void sample_registers();
  void drive_registers();
  void sample_access(Access &access);
  void carry_out(Access &access);
  void carry_out_register(Access &access);
  void carry_out_config(Access &access);
  Downstream::Answer answer_to(Access &access);
  void no_answer(Access &access);
  void check_registers();

  static constexpr unsigned kIds = 16;
  static constexpr unsigned kBeatSize = kBeatBytes == 16 ? 4 : kBeatBytes == 32 ? 5 : 6;

  void reset_below();
  void look_at_link();
  bool in_reset() const;
  bool go() { return config_.stall_percent == 0 || !board_.random().percent(config_.stall_percent); }
  Burst cut(uint64_t address, uint32_t bytes) const;
  void check(bool kept, const char *what);
  void see(Seen seen, uint64_t address) {
    if (on_seen) on_seen(seen, address);
  }
  void drop();

  Board &board_;
  Model &pins_;
  BridgeConfig config_;
  RootPort root_port_;
  Downstream *below_ = nullptr;
  Memory *memory_ = nullptr;
  bool perst_ = false; // asserted
  bool perst_seen_ = false;
  std::optional<bool> passed_reset_; // the value last passed to below_
  bool was_up_ = false, link_shown_ = false;
  uint64_t shows_until_ps_ = 0, hides_until_ps_ = 0;
  unsigned reset_cycles_ = 0;
  bool was_in_reset_ = false;

  std::deque<PendingRead> reads_;
  std::size_t reads_asked_ = 0;   // number of reads_, from the front
  std::deque<Burst> read_bursts_; // issued, or at the pins; in order
  bool ar_valid_ = false, r_ready_ = false;
  uint64_t read_beats_ = 0;

  std::deque<PendingWrite> writes_;      // not acknowledged yet, in order
  std::deque<Burst> write_bursts_;       // likewise
  std::size_t aw_next_ = 0, w_next_ = 0; // indices in write_bursts_: whose address, whose data go next
  std::size_t w_write_ = 0;              // index in writes_: whose data go next
  bool aw_valid_ = false, w_valid_ = false, b_ready_ = false;
  bool memory_aw_ready_ = false, memory_b_valid_ = false; // at the memory
  uint8_t memory_b_id_ = 0;
  uint64_t bursts_made_ = 0, bursts_acknowledged_ = 0;

  Access bar_write_, bar_read_, config_write_, config_read_;

  Stable<Beat> stable_r_, stable_m_w_;
  Stable<uint64_t> stable_b_, stable_m_aw_, stable_m_ar_, stable_c_aw_, stable_c_w_, stable_c_ar_;
};

} // namespace testbench

#endif
