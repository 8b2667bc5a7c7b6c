// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <utility>

namespace testbench {

namespace {

constexpr unsigned kResetCycles = 4;
constexpr uint64_t kLostAccessCycles = 200; // then the adapter reports an error
constexpr uint64_t kGoneCycles = 400'000;

} // namespace

AdminBench::AdminBench(const Profile &profile, uint64_t seed)
    : random(seed), drive(profile, random), context_(std::make_unique<VerilatedContext>()) {
  context_->randReset(2); // registers without a reset begin with random values
  context_->randSeed(static_cast<int>(seed & 0x7fff'ffff));
  model_ = std::make_unique<Vadmin_model>(context_.get());
  reset();
}

AdminBench::~AdminBench() { model_->final(); }

void AdminBench::reset() {
  Vadmin_model &m = *model_;
  m.clk_i = m.rst_ni = 0;
  m.enable_i = 1;
  m.ms_tick_i = m.link_up_i = m.mmio_ready_i = m.mmio_done_i = m.page_done_i = m.recover_i = m.retired_i = 0;
  m.admin_completion_valid_i = m.side_push_ready_i = m.side_completion_valid_i = m.command_valid_i = 0;
  m.response_ready_i = 0;
  m.mmio_result_i = 0;
  m.page_data_i = m.raw_data_i = 0;
  m.adapter_quiet_i = m.slots_idle_i = 1;
  m.written_blocks_i = 0;
  for (unsigned left = kResetCycles; left != 0; left--) {
    m.eval();
    m.clk_i = 1;
    m.eval();
    m.clk_i = 0;
  }
  m.rst_ni = 1;
}

// ---- a clock cycle ----

void AdminBench::cycle() {
  model_->eval();
  sample();
  model_->clk_i = 1;
  model_->eval();
  set_pins();
  model_->clk_i = 0;
  if (on_cycle) on_cycle();
}

void AdminBench::sample() {
  drive.next_cycle();
  see_core();
  see_entries();
  drive.see_perst(!model_->perst_no);
  drive.run_due();
  see_access();
  see_page();
  see_side_push();
  if (command_shown_ && model_->command_ready_o) {
    commands_.pop_front();
    command_shown_ = false;
  }
  see_response();
  admin_completion_ = drive.admin_completion();
  side_completion_ = drive.side_completion();
}

void AdminBench::see_core() {
  shown_ = records::get<records::drive_t>(model_->drive_o);
  recoveries += model_->recovery_o;
  drive.core.ready = shown_.ready != 0;
  drive.core.epoch = shown_.epoch != 0;
  drive.core.entry_valid = model_->admin_entry_valid_o != 0;
  drive.core.entry_index = model_->admin_entry_o;
}

void AdminBench::see_entries() {
  if (model_->queues_reset_o) drive.see_queues_reset();
  if (!model_->sqe_write_o) return;
  const auto written_dword = records::get<records::sqe_dword_t>(model_->sqe_o);
  drive.entries[written_dword.side][written_dword.dword] = static_cast<uint32_t>(written_dword.data);
}

void AdminBench::see_access() {
  access_done_.reset();
  if (access_) {
    access_->cycles--;
    if (access_->cycles == 0) {
      access_done_ = access_->answer;
      access_.reset();
    }
  } else if (model_->mmio_valid_o && model_->mmio_ready_i) {
    const auto asked = records::get<records::mmio_access_t>(model_->mmio_access_o);
    const auto answer = drive.access({static_cast<Space>(asked.space), asked.write != 0,
                                      static_cast<uint32_t>(asked.address), static_cast<uint32_t>(asked.data)});
    access_ = answer ? Waiting{random.between(1, 12), *answer} : Waiting{kLostAccessCycles, {true, 0}};
  }
}

void AdminBench::see_page() {
  page_data_.reset();
  if (page_wait_) {
    --*page_wait_;
    if (*page_wait_ == 0) {
      page_data_ = drive.page[model_->page_dword_o];
      page_wait_.reset();
    }
  } else if (model_->page_valid_o && !model_->page_done_i) {
    page_wait_ = random.between(1, 5);
  }
}

void AdminBench::see_side_push() {
  if (model_->side_push_o && model_->side_push_ready_i) drive.side();
}

void AdminBench::see_response() {
  if (!model_->response_valid_o) {
    check(!held_, "a response vanished");
    return;
  }
  const auto shown = records::get<records::response_t>(model_->response_o);
  if (held_) expect_record("a response changed before it was taken", shown, *held_);
  held_ = shown;
  if (!model_->response_ready_i) return;
  responses.push_back(shown);
  held_.reset();
}

void AdminBench::set_pins() {
  Vadmin_model &m = *model_;
  m.ms_tick_i = drive.cycle() % kMs == 0;
  m.link_up_i = drive.shown_link_up();
  m.raw_data_i = raw[m.raw_dword_o]; // a register's output: the registers answer in the same cycle
  m.adapter_quiet_i = quiet;
  m.slots_idle_i = idle;
  m.written_blocks_i = written;
  m.side_push_ready_i = drive.core.ready && random.percent(30);
  m.response_ready_i = !random.percent(response_stall_percent);
  set_access();
  set_page();
  set_completion(m.admin_completion_valid_i, m.admin_completion_i, admin_completion_);
  set_completion(m.side_completion_valid_i, m.side_completion_i, side_completion_);
  set_command();
}

void AdminBench::set_access() {
  model_->mmio_ready_i = random.percent(50);
  model_->mmio_done_i = access_done_.has_value();
  if (!access_done_) return;
  records::mmio_result_t result;
  result.error = access_done_->error;
  result.data = access_done_->data;
  records::put(model_->mmio_result_i, result);
}

void AdminBench::set_page() {
  model_->page_done_i = page_data_.has_value();
  model_->page_data_i = page_data_ ? *page_data_ : static_cast<uint32_t>(random.next());
}

template <typename Bus>
void AdminBench::set_completion(CData &valid, Bus &bus, const std::optional<Completion> &completion) {
  valid = completion.has_value();
  if (!completion) return;
  records::completion_t record;
  record.result = completion->result;
  record.sq_head = random.below(0x10000);
  record.cid = completion->cid;
  record.status = completion->status;
  records::put(bus, record);
}

void AdminBench::set_command() {
  if (!command_shown_ && !commands_.empty()) {
    const Command &next = commands_.front();
    records::command_t record;
    record.from_registers = next.from_registers;
    record.tag = next.tag;
    record.op = static_cast<uint64_t>(next.op);
    record.source = static_cast<uint64_t>(next.source);
    record.fua = next.fua;
    record.address = next.address;
    record.lba = next.lba;
    record.blocks = next.blocks;
    records::put(model_->command_i, record);
    command_shown_ = true;
  }
  model_->command_valid_i = command_shown_;
}

// ---- for tests ----

records::bring_up_t AdminBench::bring_up() const { return records::get<records::bring_up_t>(model_->bring_up_o); }
records::health_t AdminBench::health() const { return records::get<records::health_t>(model_->health_o); }
records::power_t AdminBench::power() const { return records::get<records::power_t>(model_->power_o); }

void AdminBench::cycles(uint64_t count) {
  while (count-- != 0)
    cycle();
}

void AdminBench::until(const std::function<bool()> &holds, const char *what, uint64_t limit) {
  for (uint64_t left = limit; left != 0; left--) {
    if (holds()) return;
    cycle();
  }
  const auto seen = bring_up();
  fail("not in %" PRIu64 " cycles: %s; step %u, error %u, detail 0x%x", limit, what, static_cast<unsigned>(seen.step),
       static_cast<unsigned>(seen.error), static_cast<unsigned>(seen.error_detail));
}

// The response to this command, which is the next one.
records::response_t AdminBench::respond(const Command &command, uint64_t limit) {
  const std::size_t before = responses.size();
  put(command);
  until_responses(before + 1, limit);
  expect("the number of responses", responses.size(), before + 1);
  return responses.back();
}

void AdminBench::pulse(CData &pin) {
  pin = 1;
  cycle();
  pin = 0;
}

void AdminBench::until_ready(const char *what) {
  until([this] { return is_ready(); }, what);
}

void AdminBench::until_not_ready() {
  until([this] { return !is_ready(); }, "not ready");
}

void AdminBench::until_responses(std::size_t count, uint64_t limit) {
  until([=] { return responses.size() >= count; }, "a response", limit);
}

void AdminBench::expect_gone(Step step, Error error) {
  cycles(8);
  until([this] { return is_gone() || is_ready(); }, "gone", kGoneCycles);
  check(is_gone() && !is_ready(), "a drive that should have been refused is ready");
  expect("the step", bring_up().step, step);
  expect_error(error);
}

void AdminBench::expect_error(Error error) const { expect("the error", bring_up().error, error); }

} // namespace testbench
