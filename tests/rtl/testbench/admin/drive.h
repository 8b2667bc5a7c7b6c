// SPDX-License-Identifier: Apache-2.0
//
// A root port and a drive as spate_admin sees them: behind its register port, its two submission entries, the admin
// page and the side queue. It follows the specifications until a test asks for a fault. It knows nothing of pins:
// AdminBench connects it.
#ifndef SPATE_ADMIN_DRIVE_H
#define SPATE_ADMIN_DRIVE_H

#include "names.h"
#include "profile.h"
#include "random.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace testbench {

constexpr uint64_t kMs = 3; // cycles of a millisecond
// The parameters of the model.
constexpr uint64_t kWindowBase = UINT64_C(0x12'4000'0000);
constexpr unsigned kWindowBits = 22;
constexpr uint32_t kBarBase = 0xa000'0000;

using Entry = std::array<uint32_t, 16>; // of a submission queue
inline uint8_t opcode_of(const Entry &entry) { return static_cast<uint8_t>(entry[0]); }
inline uint16_t cid_of(const Entry &entry) { return static_cast<uint16_t>(entry[0] >> 16); }
inline uint64_t prp1_of(const Entry &entry) { return entry[6] | static_cast<uint64_t>(entry[7]) << 32; }
inline uint64_t prp2_of(const Entry &entry) { return entry[8] | static_cast<uint64_t>(entry[9]) << 32; }
inline uint64_t lba_of(const Entry &entry) { return entry[10] | static_cast<uint64_t>(entry[11]) << 32; }

// What becomes of one command.
struct Behaviour {
  enum Kind { Normal, Status, Lost, Double, Late, NoData, Flood } kind = Normal;
  uint16_t status = 0;
};
constexpr Behaviour kNormal = {};
constexpr Behaviour kLost = {Behaviour::Lost, 0};
constexpr Behaviour kDouble = {Behaviour::Double, 0}; // it completes twice
constexpr Behaviour kLate = {Behaviour::Late, 0};     // it completes again with the next command
constexpr Behaviour kFlood = {Behaviour::Flood, 0};   // completions of another command come without end, and no other
constexpr Behaviour kNoData = {Behaviour::NoData, 0}; // it succeeds without writing its data
constexpr Behaviour failed_with(unsigned status) { return {Behaviour::Status, static_cast<uint16_t>(status)}; }

enum class AccessFault { Error, Zeros, Ones, Lost };

struct Access {
  Space space = Space::Local;
  bool write = false;
  uint32_t address = 0;
  uint32_t data = 0;
};
struct Answer {
  bool error = false;
  uint32_t data = 0;
};
struct Completion {
  uint16_t cid = 0;
  uint16_t status = 0;
  uint32_t result = 0;
};
// A command's result: what its completion says.
struct Result {
  uint16_t status = 0;
  uint32_t dword_0 = 0;
};
using Dwords = std::map<uint32_t, uint32_t>; // of a page: those that are not 0

// What the core shows at its pins in this cycle.
struct CoreView {
  bool ready = false;
  bool epoch = false;
  bool entry_valid = false; // of the admin queue
  unsigned entry_index = 0;
};

class AdminDrive {
public:
  AdminDrive(const Profile &properties, Random &random);
  AdminDrive(const AdminDrive &) = delete;
  AdminDrive &operator=(const AdminDrive &) = delete;

  // ---- what a test changes ----

  Profile profile;                                 // holds from the next use
  std::map<uint8_t, std::deque<Behaviour>> faults; // by admin opcode; each is used once
  std::deque<Behaviour> side_faults;               // of the side commands; each is used once
  std::map<std::pair<Space, uint32_t>, AccessFault> access_faults;
  bool fatal_now = false;               // CSTS.CFS
  std::optional<uint32_t> sanitize_end; // the state in the log, instead of success
  void after(uint64_t cycles, std::function<void()> action);
  // The link drops. After `cycles` it is up again, with a drive that was reset; without, it stays down.
  void drop_link(std::optional<uint64_t> cycles);
  void power_up();
  void restart(); // of its firmware: the link and the configuration space stay

  // ---- what a test reads ----

  struct Queues {
    uint32_t cq = 0, sq = 0; // entries; 0: there is none
  };
  std::vector<Entry> admin_log, side_log; // commands in their order
  std::vector<Access> write_log;
  unsigned admin_heads_rung = 0;
  unsigned sanitize_polls = 0;            // of the log, until the sanitize operation ends
  uint64_t base() const { return base_; } // of the half of the window that is in use
  uint64_t cycle() const { return cycle_; }
  unsigned generation() const { return generation_; } // counts power-ups
  uint64_t trained_at() const { return trained_at_; }
  uint64_t first_access_at() const { return first_access_at_; } // since this training
  const Queues &queues() const { return queues_; }
  uint32_t configured(Space space, uint32_t address) const;
  std::size_t admin_commands(uint8_t opcode) const; // in the log

  // ---- what AdminBench connects to the pins ----

  CoreView core;
  std::array<Entry, 2> entries{}; // composed in advance: the admin queue's, the side command's
  std::array<uint32_t, 2048> page{};
  void next_cycle() { cycle_++; }
  void run_due();
  void see_perst(bool low);
  bool shown_link_up() const;
  // Without a value: no answer before the deadline, which becomes an error later.
  std::optional<Answer> access(const Access &access);
  void side();
  void see_queues_reset();
  std::optional<Completion> admin_completion();
  std::optional<Completion> side_completion();

private:
  enum Reset : unsigned { PerstReset = 1, BusReset = 2 };
  using Registers = std::map<uint32_t, uint32_t>;

  void silence();
  void train_in(uint64_t cycles);
  void see_reset(Reset kind, bool held);
  void reset_controller();
  void reset_configuration();
  Registers &configuration(Space space) { return space == Space::Local ? local_ : device_; }
  Answer access_device(const Access &access);
  Answer configure(const Access &access);
  Answer access_controller(const Access &access);
  void write_cc(uint32_t old, uint32_t data);
  void check_enable();
  void enable();
  void disable();
  void drop_completions();
  void doorbell(uint32_t address, uint32_t data);
  void fetch();
  Result execute(const Entry &entry, bool writes_data);
  Result identify(const Entry &entry, bool writes_data);
  Result get_log(const Entry &entry);
  void create_cq(const Entry &entry);
  void create_sq(const Entry &entry);
  void write_page(const Entry &entry, const Dwords &dwords);
  Dwords controller_page() const;
  Dwords namespace_page() const;
  static uint32_t at(const Registers &registers, uint32_t address);

  Random &random_;
  uint64_t cycle_ = 0;
  std::multimap<uint64_t, std::function<void()>> later_;
  bool link_up_ = false;
  unsigned resets_ = 0; // the causes that hold the drive in reset
  unsigned generation_ = 0;
  unsigned life_ = 0; // counts resets of the controller
  uint64_t falls_at_ = 0, trained_at_ = 0, device_since_ = 0, first_access_at_ = 0;
  Registers local_, device_, registers_;
  Queues queues_;
  uint64_t base_ = 0;
  uint32_t admin_head_ = 0, admin_given_ = 0, admin_rung_ = 0;
  std::deque<Completion> admin_done_, side_done_;
  std::optional<Completion> late_;  // of a behaviour kLate
  std::optional<Completion> flood_; // of a behaviour kFlood
};

} // namespace testbench

#endif
