// SPDX-License-Identifier: Apache-2.0
#include "load.h"

#include "pattern.h"

#include <vector>

namespace testbench {

namespace {

constexpr uint32_t kBlockBytes = 512;
constexpr std::size_t kAhead = 4;             // commands that wait at the core's command port
constexpr uint16_t kBuffers = 1024;           // memory mode: more than can be in flight
constexpr uint64_t kSpan = UINT64_C(1) << 30; // range of blocks
constexpr uint64_t kPatience = 10'000'000;    // cycles without a response

} // namespace

LoadRunner::LoadRunner(Testbench &testbench, bool memory_mode)
    : testbench_(testbench), memory_mode_(memory_mode), source_(kBlockBytes),
      sink_(testbench.board, kBlockBytes, [](uint64_t, uint32_t version) { return version == 0; }) {
  testbench.user.next_beat = [this](Beat &beat) { return source_.next(beat); };
  testbench.user.on_beat = [this](const Beat &beat, bool last, bool error) { sink_.take(beat, last, error); };
  testbench.user.on_response = [this](const UserResponse &response) { responded(response); };
}

bool LoadRunner::is_write(uint64_t number) const {
  if (load_.mix != Mix::Alternate) return load_.mix == Mix::Write;
  return number * load_.command_bytes / load_.run_bytes % 2 == 0;
}

// Memory mode: the address of a request's data.
uint64_t LoadRunner::buffer(uint16_t tag) const {
  return kMemoryBase + static_cast<uint64_t>(tag % kBuffers) * load_.command_bytes;
}

void LoadRunner::next_command() {
  UserCommand command;
  const bool write = is_write(submitted_);
  command.op = write ? Op::Write : Op::Read;
  command.tag = static_cast<uint16_t>(submitted_);
  command.blocks = blocks_;
  command.lba = load_.random ? testbench_.board.random().below(kSpan / blocks_) * blocks_ : next_lba_;
  next_lba_ = (command.lba + blocks_) % kSpan;
  if (memory_mode_) {
    command.source = Source::Address;
    command.address = buffer(command.tag);
    std::vector<uint8_t> data(load_.command_bytes);
    if (write)
      for (uint32_t block = 0; block < blocks_; block++)
        pattern_fill(data.data() + block * kBlockBytes, kBlockBytes, command.lba + block, 0);
    testbench_.memory.store(command.address, data.data(), load_.command_bytes);
  } else if (write) {
    source_.add(command.lba, blocks_, 0);
  } else {
    sink_.add(command.lba, blocks_, command.tag);
  }
  requests_.push_back({command.lba, write, command.tag});
  testbench_.user.submit(command);
  submitted_++;
}

void LoadRunner::responded(const UserResponse &response) {
  if (requests_.empty() || response.tag != requests_.front().tag)
    testbench_.board.fail("a response with tag %u out of order", response.tag);
  if (response.status != 0 || response.done != blocks_)
    testbench_.board.fail("a response with status 0x%x after %llu blocks", response.status,
                          static_cast<unsigned long long>(response.done));
  const Request request = requests_.front();
  requests_.pop_front();
  responses_++;
  if (!memory_mode_ || request.write) return;
  std::vector<uint8_t> data(load_.command_bytes);
  testbench_.memory.load(buffer(request.tag), data.data(), load_.command_bytes);
  for (uint32_t block = 0; block < blocks_; block++)
    if (pattern_version(data.data() + block * kBlockBytes, kBlockBytes, request.lba + block) != 0u)
      testbench_.board.fail("block %llu was answered for before its data were in memory",
                            static_cast<unsigned long long>(request.lba + block));
}

Rate LoadRunner::run(const Load &load) {
  load_ = load;
  blocks_ = load.command_bytes / kBlockBytes;
  submitted_ = responses_ = 0;
  const uint64_t warm = load.warm_bytes / load.command_bytes, measured = load.bytes / load.command_bytes;
  const auto advance = [&](uint64_t until) {
    const bool in_time = testbench_.board.run_until(
        [&] {
          // Commands continue after the last response that counts, so that the core is busy during the whole
          // measurement.
          while (testbench_.user.waiting() < kAhead)
            next_command();
          return responses_ >= until;
        },
        kPatience + measured * load.command_bytes);
    if (!in_time)
      testbench_.board.fail("no rate: %llu of %llu responses", static_cast<unsigned long long>(responses_),
                            static_cast<unsigned long long>(until));
  };
  advance(warm);
  const uint64_t start_ps = testbench_.board.now_ps();
  const uint64_t written = testbench_.link.written_data_bytes(), read = testbench_.link.read_data_bytes();
  advance(warm + measured);
  Rate rate;
  rate.seconds = static_cast<double>(testbench_.board.now_ps() - start_ps) * 1e-12;
  rate.written_bytes = testbench_.link.written_data_bytes() - written;
  rate.read_bytes = testbench_.link.read_data_bytes() - read;
  if (!testbench_.board.run_until([&] { return requests_.empty() && testbench_.user.waiting() == 0; }, kPatience))
    testbench_.board.fail("%zu requests without a response", requests_.size());
  return rate;
}

} // namespace testbench
