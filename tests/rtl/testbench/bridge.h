// SPDX-License-Identifier: Apache-2.0
//
// An AXI-PCIe bridge in root port mode, as the core sees it:
//
//   s_axi   its master port reads and writes the core's windows for the drive: full-width bursts within 4 KiB,
//   unaligned
//           heads and tails with strobes, several outstanding. A read waits until the writes before it are
//           acknowledged.
//   m_axi   its slave port reaches the drive's BAR: the address is translated to the bus
//   c_axil  its control port: ECAM. Offset 0 is the root port itself, 0x100000 is bus 1
//
// Every answer of the core is checked: identifiers, order, RLAST, OKAY, and that what is valid stays until it is taken.
//
// In memory mode what lies outside the core's aperture goes to a memory beside it (memory.h).
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

// What is below the root port: the link (link.h). Requests are answered when they come back, or never.
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

// What the bridge does with an access to a device that is not there. Bridges differ.
enum class NoLink {
  Error, // SLVERR, all ones; at once, or after the completion time-out when the link goes down meanwhile
  Zeros, // the same, but OKAY and zeros
  Hang,  // no answer until the bridge is reset
};

struct BridgeConfig {
  unsigned stall_percent = 0;       // of the cycles, for each channel, in which it holds still
  unsigned bursts_outstanding = 32; // reads of the core that it has under way at once
  uint32_t burst_bytes = 4096;      // longest burst
  bool reset_with_perst = false;    // axi_aresetn follows PERST#
  bool perst_wired = true;          // otherwise only the root port's bus reset reaches the drive
  uint32_t link_fall_us = 100;      // how long it shows a link whose other end fell silent
  NoLink no_link = NoLink::Error;
  uint32_t completion_timeout_us = 1000;
  uint64_t bar_axi_base = 0; // where m_axi shows the bus address …
  uint64_t bar_bus_base = 0; // … this one
  // Memory mode. The aperture of the core; other addresses are the memory's. 0 bits: everything is the core's.
  uint64_t window_base = 0;
  unsigned window_bits = 0;
};

class Bridge : public Part {
public:
  // A read that the drive asked for. `data` fills up from the front.
  struct Read {
    uint64_t address = 0;
    uint32_t bytes = 0;   // 0: one beat is read all the same, and thrown away
    uint32_t arrived = 0; // bytes that are there
    std::vector<uint8_t> data;
    std::function<void(const Read &)> progress; // after each beat
  };
  struct Write {
    uint64_t address = 0;
    std::vector<uint8_t> data;
    std::function<void()> done; // acknowledged; may be empty
  };

  // `pins`: of its drive, if the board has several.
  Bridge(Board &board, const BridgeConfig &config, Model *pins = nullptr);
  void connect(Downstream &below) { below_ = &below; }
  void connect(Memory &memory) { memory_ = &memory; }

  // ---- for the link: requests as they arrive, in order. None crosses 4 KiB ----
  void read(Read read);
  void write(Write write);
  bool idle() const { return reads_.empty() && writes_.empty(); }

  void set_stall(unsigned percent) { config_.stall_percent = percent; }
  // Everything under way is forgotten, axi_aresetn is low for some cycles. What the link sends meanwhile is dropped.
  void reset();

  void sample() override;
  void drive() override;

  const RootPort &root_port() const { return root_port_; }
  uint64_t read_beats() const { return read_beats_; }   // that the core gave
  uint64_t write_beats() const { return write_beats_; } // that it took
  // Called in the cycle in which it happens, with the address: for latencies.
  enum class Seen {
    ReadAddress,  // taken by the core
    ReadBeat,     // the first of a read
    WriteBeat,    // the last of a write
    Acknowledged, // a write
    RegisterWrite // of the core's: address and data are there
  };
  std::function<void(Seen seen, uint64_t address)> on_seen;

private:
  struct Burst {
    uint64_t address = 0; // of its first byte
    uint32_t bytes = 0;   // that are wanted, 0 …
    uint32_t beats = 0;
    uint32_t offset = 0; // of its first byte in its request
    uint32_t beat = 0;   // next
    uint8_t id = 0;
    bool last = false; // of its request
    bool to_memory = false;
    bool acknowledged = false;
  };
  struct PendingRead {
    Read read;
    uint64_t after_writes = 0; // bursts that must have been acknowledged
    uint32_t asked = 0;        // bytes for which bursts were made
    bool all_asked = false;
  };
  struct PendingWrite {
    Write write;
    uint32_t bursts = 0; // not yet acknowledged
  };
  // An access of the core's to registers or configuration space: one at a time of each kind.
  struct Access {
    enum { Idle, Waiting, Answering } state = Idle;
    bool write = false;
    bool address_taken = false, data_taken = false;
    bool address_ready = false, data_ready = false; // the bridge's side of the handshakes
    uint64_t address = 0;
    uint32_t data = 0;
    bool ok = true;
    uint64_t number = 0; // answers to another one are dropped
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
  void forget();

  Board &board_;
  Model &pins_;
  BridgeConfig config_;
  RootPort root_port_;
  Downstream *below_ = nullptr;
  Memory *memory_ = nullptr;
  bool perst_ = false; // asserted
  bool perst_seen_ = false;
  std::optional<bool> told_reset_; // below_, the last time
  bool was_up_ = false, link_shown_ = false;
  uint64_t shows_until_ps_ = 0, hides_until_ps_ = 0;
  unsigned reset_cycles_ = 0;
  bool was_in_reset_ = false;

  std::deque<PendingRead> reads_;
  std::size_t reads_asked_ = 0;   // of reads_, from the front
  std::deque<Burst> read_bursts_; // asked, or at the pins; in order
  bool ar_valid_ = false, r_ready_ = false;
  uint64_t read_beats_ = 0;

  std::deque<PendingWrite> writes_;      // not yet acknowledged, in order
  std::deque<Burst> write_bursts_;       // the same
  std::size_t aw_next_ = 0, w_next_ = 0; // in write_bursts_: whose address, whose data go next
  std::size_t w_write_ = 0;              // in writes_: whose data go next
  bool aw_valid_ = false, w_valid_ = false, b_ready_ = false;
  bool memory_aw_ready_ = false, memory_b_valid_ = false; // on the way to the memory
  uint8_t memory_b_id_ = 0;
  uint64_t bursts_made_ = 0, bursts_acknowledged_ = 0;
  uint64_t write_beats_ = 0;

  Access bar_write_, bar_read_, config_write_, config_read_;

  Stable<Beat> stable_r_, stable_m_w_;
  Stable<uint64_t> stable_b_, stable_m_aw_, stable_m_ar_, stable_c_aw_, stable_c_w_, stable_c_ar_;
};

} // namespace testbench

#endif
