// SPDX-License-Identifier: Apache-2.0
//
// An NVMe 1.4 drive with ideal media: every command takes the same time, any number of them run at once, and the link
// is never idle while there is something to move. The host core is measured with it: any loss is the core's.
//
// It posts completions, polls nothing and has no interrupts. A violation by the host is a failure with the reason
// (Board::fail). Data that are written are checked block by block as they arrive (pattern.h); data that are read are
// generated.
//
// It misbehaves on request: struct Faults.
#ifndef SPATE_BENCH_IDEAL_DRIVE_H
#define SPATE_BENCH_IDEAL_DRIVE_H

#include "board.h"
#include "config_space.h"
#include "contents.h"
#include "device.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace testbench {

// Status fields (4.6.1).
constexpr uint16_t kDoNotRetry = 0x4000;
constexpr uint16_t kInvalidOpcode = 0x01 | kDoNotRetry, kInvalidField = 0x02 | kDoNotRetry;

struct DriveConfig {
  uint8_t block_shift = 9; // 9 or 12
  uint64_t blocks = UINT64_C(1) << 31;
  uint64_t tracked_blocks = 0; // blocks whose versions are tracked
  uint32_t read_ns = 80000;    // from the command's arrival to its first data
  uint32_t write_ns = 10000;   // from the arrival of all of its data to its completion
  uint32_t admin_ns = 2000;
  unsigned commands_max = 256;   // commands that run at once
  unsigned fetch_entries = 8;    // most submission entries in one read
  uint8_t mdts = 0;              // as in Identify; 0: no limit
  uint8_t doorbell_stride = 0;   // CAP.DSTRD
  uint16_t queue_entries = 1024; // CAP.MQES + 1
  bool volatile_cache = true;
  uint32_t train_ns = 20000;                    // from PERST# to link-up
  uint32_t config_retry_ns = 20000;             // from link-up: configuration request retry status
  uint32_t ready_ns = 20000;                    // from CC.EN to CSTS.RDY, in both directions
  unsigned link_generation = 3, link_lanes = 4; // as in its registers
};

// One in this many I/O commands; 0: none. A fault that costs a recovery does not come a third time in a row before the
// oldest command has ended: the core promises no more attempts for a command.
struct Faults {
  uint32_t hold = 0;        // completed after later commands
  uint32_t late = 0;        // completed after 64 times the usual time
  uint32_t retry = 0;       // a transient error (DNR clear), nothing carried out
  uint32_t refuse = 0;      // a permanent error (DNR set)
  uint32_t wrong_id = 0;    // a completion with an identifier of no command, and no other completion
  uint32_t wrong_phase = 0; // its completion has the old phase, and is not written again
  uint32_t twice = 0;       // completed twice
  uint32_t stuck = 0;       // never completed
  uint32_t fatal = 0;       // CSTS.CFS, nothing works until the controller is disabled
  uint32_t drop = 0;        // the link drops for a while; the drive comes back as after PERST#
  uint32_t reread = 0;      // its entry is read again, and must not change until the host knows that it was taken
  uint32_t stray_read = 0;  // a read anywhere in the windows: zero bytes, odd dwords, past the tail, past a list's end
  bool stale = false;       // after a reset, work in flight continues: reads, data, completions
};

class IdealDrive : public Device {
public:
  struct Counters {
    uint64_t reads = 0, writes = 0, flushes = 0, deallocates = 0, admin = 0;
    uint64_t read_bytes = 0, written_bytes = 0;
    uint64_t fetches = 0; // reads of the submission queues
    uint64_t lists = 0;   // reads of PRP lists
    uint64_t list_bytes = 0;
    uint64_t doorbells = 0;
    uint64_t enables = 0, drops = 0, faults = 0, stale_completions = 0;
    uint32_t in_flight_max = 0;
  };

  IdealDrive(Board &board, HostMemory &host, const DriveConfig &config);

  void tick(uint64_t now_ps) override;
  void perst(bool asserted) override;
  bool link_up() const override { return link_up_; }
  uint32_t config_read(uint32_t offset) override;
  void config_write(uint32_t offset, uint32_t value) override { config_space_.write(offset, value); }
  std::optional<uint32_t> decode(uint64_t bus_address) const override { return config_space_.decode(bus_address); }
  uint32_t register_read(uint32_t offset) override;
  void register_write(uint32_t offset, uint32_t value) override;

  Faults faults;
  Counters counters;
  // Stray reads go anywhere in the core's aperture.
  uint64_t stray_base = 0, stray_bytes = 0;
  Contents &contents() { return contents_; }
  // The block of the pattern that a block has: its own number, unless the drive is a member of an array.
  std::function<uint64_t(uint64_t lba)> number_of = [](uint64_t lba) { return lba; };
  const ConfigSpace &config_space() const { return config_space_; }
  // Called when a command's entry has arrived, and when its completion has left: to measure latencies.
  std::function<void(uint64_t lba)> on_fetched;
  void set_times(uint32_t read_ns, uint32_t write_ns) { config_.read_ns = read_ns, config_.write_ns = write_ns; }
  // The link drops now, and the drive comes back as after PERST#.
  void drop_link(uint64_t for_ns) { counters.drops++, lose_link(for_ns); }
  bool shut_down() const { return shut_down_; }
  bool enabled() const { return ready_; }
  bool failed() const { return fatal_; }
  // Whether the oldest command was interrupted less than twice so far: see Faults.
  bool may_fail() const { return oldest_ended_ || !was_in_vain_; }

private:
  using Dwords = std::array<uint32_t, 16>;
  struct Queue { // a submission or completion queue
    bool exists = false;
    uint64_t base = 0;
    uint32_t entries = 0;
    uint32_t head = 0, tail = 0;
    // submission: `tail` from the doorbell, `head` the next entry to fetch, `taken` the next one whose entry is
    // expected
    uint32_t taken = 0;
    bool phase = true; // completion: phase of the next entry
  };
  struct Range {
    uint64_t address;
    uint32_t offset, bytes;
  };
  struct Command {
    uint64_t life = 0; // life of the controller in which it was fetched
    Dwords dwords{};
    uint32_t slot = 0; // its entry of the queue
    bool admin = false;
    uint64_t lba = 0;
    uint32_t bytes = 0;
    std::vector<Range> ranges;
    std::vector<uint8_t> data;
    uint32_t missing = 0;
    uint64_t cq_base = 0; // the queue of its completion, also after a reset
    bool twice = false, wrong_id = false, wrong_phase = false, stuck = false, hold = false;
    uint32_t extra_ns = 0;
    uint16_t refuse = 0; // status, if it is refused
  };
  using CommandPointer = std::shared_ptr<Command>;
  struct Completion {
    bool admin;
    uint32_t result;
    uint16_t id;
    uint16_t status;
    bool wrong_phase;
  };

  // ideal_drive.cpp: time, link, registers
  void at(uint64_t delay_ns, std::function<void()> act);
  void link_comes_up();
  void lose_link(uint64_t for_ns);
  void reset_controller();
  void control(uint32_t value);
  void enable();
  void disable();
  void doorbell(uint32_t number, uint32_t value);
  // ideal_drive_queues.cpp: entries in, completions out
  void fetch(bool admin);
  void fetched(bool admin, uint32_t slot, const uint8_t *data, uint32_t entries);
  void complete(const CommandPointer &command, uint16_t status, uint32_t result);
  void post();
  void post_one(const Completion &completion);
  void post_stale(const Command &command);
  // ideal_drive_io.cpp
  void begin(const CommandPointer &command);
  void choose_faults(const CommandPointer &pointer);
  void begin_data(const CommandPointer &command);
  void list_arrived(const CommandPointer &command, const uint8_t *list, uint32_t entries);
  void add_range(Command &command, uint64_t address, uint32_t bytes);
  void move_data(const CommandPointer &command);
  void send_data(const CommandPointer &command);
  void keep_data(const CommandPointer &command);
  void deallocate(const CommandPointer &command);
  void reread(const CommandPointer &command);
  void stray_read();
  void finish(const CommandPointer &command);
  bool current(const Command &command) const { return command.life == life_; }
  // ideal_drive_admin.cpp
  void begin_admin(const CommandPointer &command);
  void identify(const CommandPointer &command);
  void log_page(const CommandPointer &command);
  void create_queue(const CommandPointer &command);
  void give_page(const CommandPointer &command, const std::vector<uint8_t> &page);
  uint32_t block_bytes() const { return 1u << config_.block_shift; }

  Board &board_;
  HostMemory &host_;
  DriveConfig config_;
  ConfigSpace config_space_;
  Contents contents_;
  Random random_;
  uint64_t now_ps_ = 0;
  std::multimap<uint64_t, std::function<void()>> events_;
  uint64_t link_life_ = 0; // counts PERST# and drops: earlier events are void
  uint64_t life_ = 0;      // counts disables and similar events
  bool perst_ = true, link_up_ = false, config_ready_ = false;
  bool ready_ = false, fatal_ = false, shut_down_ = false;
  uint32_t cc_ = 0, aqa_ = 0, shutdown_status_ = 0, interrupt_mask_ = 0;
  uint64_t asq_ = 0, acq_ = 0;
  Queue sq_[2], cq_[2];         // 0: admin
  uint32_t known_head_[2] = {}; // the head that the host knows
  unsigned in_flight_ = 0, fetching_ = 0;
  CommandPointer oldest_;     // the first read or write since the last enable: the host has waited longest for it
  bool oldest_ended_ = false; // with a completion that the host accepts
  uint64_t oldest_ended_ps_ = 0;
  bool was_in_vain_ = false;           // it had not ended when the drive was enabled last
  std::deque<Completion> completions_; // completions that wait for room
  std::deque<CommandPointer> held_;
  uint64_t sanitized_ = 0;
};

} // namespace testbench

#endif
