// SPDX-License-Identifier: Apache-2.0
#include "board.h"

#include "verilated.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>

namespace testbench {

Board::Board(const BoardConfig &config) : config_(config), random_(config.seed) {
  context_ = std::make_unique<VerilatedContext>();
  // Memories and registers without a reset begin with random values.
  context_->randReset(2);
  context_->randSeed(static_cast<int>(random_.next() & 0x7fffffff));
  model_ = std::make_unique<Model>(context_.get(), "top");
  const std::array<uint32_t, 3> periods_ps = {config.core_ps, config.axi_ps, config.user_ps};
  for (std::size_t index = 0; index < domains_.size(); index++) {
    domains_[index].period_ps = periods_ps[index];
    domains_[index].next_ps = periods_ps[index];
  }
  set_clocks(false);
  model_->rst_ni = 0;
  model_->app_rst_ni = 0;
  model_->axi_aresetn_i = 0;
  model_->eval();
}

Board::~Board() { model_->final(); }

void Board::attach(Clock clock, Part &part) { domains_[static_cast<std::size_t>(clock)].parts.push_back(&part); }

void Board::run_axi_clock(bool runs) {
  Domain &axi = domains_[static_cast<std::size_t>(Clock::Axi)];
  if (runs && !axi.runs) axi.next_ps = (now_ps_ / axi.period_ps + 1) * axi.period_ps;
  axi.runs = runs;
}

void Board::reset() {
  model_->rst_ni = 0;
  model_->app_rst_ni = 0;
  model_->axi_aresetn_i = 0;
  run(16);
  model_->rst_ni = 1;
  model_->app_rst_ni = 1;
  model_->axi_aresetn_i = 1;
  run(16);
}

void Board::set_clocks(bool high) {
  if (!high || domains_[0].rises) model_->clk_i = high;
  if (!high || domains_[1].rises) model_->axi_aclk_i = high;
  if (!high || domains_[2].rises) model_->app_clk_i = high;
}

void Board::step() {
  uint64_t next_ps = UINT64_MAX;
  for (const Domain &domain : domains_)
    if (domain.runs) next_ps = std::min(next_ps, domain.next_ps);
  now_ps_ = next_ps;
  for (Domain &domain : domains_) {
    domain.rises = domain.runs && domain.next_ps == next_ps;
    if (!domain.rises) continue;
    domain.next_ps += domain.period_ps;
    for (Part *part : domain.parts)
      part->sample();
  }
  set_clocks(true);
  model_->eval();
  for (const Domain &domain : domains_)
    if (domain.rises)
      for (Part *part : domain.parts)
        part->drive();
  // Nothing in the core uses falling edges: the clocks fall at once, and the new inputs settle meanwhile.
  set_clocks(false);
  model_->eval();
  cycles_ += domains_[0].rises;
}

void Board::fail(const char *format, ...) {
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  char where[128];
  std::snprintf(where, sizeof where, " (seed %llu, cycle %llu)", static_cast<unsigned long long>(config_.seed),
                static_cast<unsigned long long>(cycles_));
  throw Failure(std::string(sentence) + where);
}

} // namespace testbench
