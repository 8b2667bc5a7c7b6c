// SPDX-License-Identifier: Apache-2.0
//
// spate_admin with a drive: what a test case is written with. One call of cycle() is one clock cycle: the core's
// outputs are read when they are settled, and answered after the edge.
#ifndef SPATE_ADMIN_BENCH_H
#define SPATE_ADMIN_BENCH_H

#include "Vadmin_model.h"
#include "check.h"
#include "drive.h"
#include "names.h"
#include "random.h"
#include "records.h"
#include "records_fields.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace testbench {

struct Command {
  Op op = Op::Flush;
  uint64_t lba = 0;
  uint32_t blocks = 0;
  Source source = Source::Mailbox;
  bool fua = false;
  uint64_t address = 0;
  uint16_t tag = 0;
  bool from_registers = false;
};
// A command without other fields, and with an address.
inline Command command(Op op, uint64_t address = 0) {
  Command made;
  made.op = op;
  made.address = address;
  return made;
}
inline Command on_blocks(Op op, uint64_t lba, uint32_t blocks) {
  Command made;
  made.op = op;
  made.lba = lba;
  made.blocks = blocks;
  return made;
}

constexpr uint64_t kLimit = 60'000; // cycles, unless a test waits for longer

class AdminBench {
public:
  AdminBench(const Profile &profile, uint64_t seed);
  ~AdminBench();

  Random random;
  AdminDrive drive;
  Vadmin_model &pins() { return *model_; }

  // ---- what a test changes ----

  bool quiet = true;    // adapter_quiet_i
  bool idle = true;     // slots_idle_i
  uint64_t written = 0; // written_blocks_i
  unsigned response_stall_percent = 0;
  Entry raw{};                    // the raw command in the registers
  std::function<void()> on_cycle; // called in each cycle

  // ---- what a test reads ----

  std::vector<records::response_t> responses;
  unsigned recoveries = 0;
  bool is_ready() const { return drive.core.ready; }
  bool is_gone() const { return shown_.gone != 0; }
  const records::drive_t &shown() const { return shown_; } // drive_o
  records::bring_up_t bring_up() const;
  records::health_t health() const;
  records::power_t power() const;

  // ---- what a test does ----

  void cycle();
  void cycles(uint64_t count);
  void until(const std::function<bool()> &holds, const char *what, uint64_t limit = kLimit);
  void put(const Command &command) { commands_.push_back(command); }
  records::response_t respond(const Command &command, uint64_t limit = kLimit);
  uint16_t status_of(const Command &command) { return static_cast<uint16_t>(respond(command).status); }
  void pulse(CData &pin);
  void until_ready(const char *what = "ready");
  void until_not_ready();
  void until_responses(std::size_t count, uint64_t limit = kLimit);
  // Waits until the drive is given up, at this step and with this error.
  void expect_gone(Step step, Error error);
  void expect_error(Error error) const;

private:
  struct Waiting {
    uint64_t cycles;
    Answer answer;
  };

  void reset();
  void sample();
  void see_core();
  void see_entries();
  void see_access();
  void see_page();
  void see_side_push();
  void see_response();
  void set_pins();
  void set_access();
  void set_page();
  void set_command();
  template <typename Bus> void set_completion(CData &valid, Bus &bus, const std::optional<Completion> &completion);

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vadmin_model> model_;
  records::drive_t shown_;
  std::optional<Waiting> access_;
  std::optional<Answer> access_done_;
  std::optional<uint64_t> page_wait_;
  std::optional<uint32_t> page_data_;
  std::optional<Completion> admin_completion_, side_completion_;
  std::optional<records::response_t> held_; // shown, not yet taken
  std::deque<Command> commands_;
  bool command_shown_ = false;
};

} // namespace testbench

#endif
