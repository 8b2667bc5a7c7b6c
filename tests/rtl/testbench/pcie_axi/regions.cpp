// SPDX-License-Identifier: Apache-2.0
#include "regions.h"

#include <algorithm>

namespace testbench {

// An access of any shape within a region. A narrow one has fewer bytes, because each of its beats takes a request.
struct Shape {
  uint64_t offset, bytes;
  unsigned size;
};

namespace {

constexpr uint64_t kRegionBytes = 16384;

Shape any_shape(Random &random) {
  Shape shape{};
  const bool narrow = random.once_in(3);
  shape.size = narrow ? static_cast<unsigned>(random.below(kFullSize + 1)) : kFullSize;
  switch (random.below(6)) {
  case 0: shape.bytes = 4; break;
  case 1: shape.bytes = 16; break;
  case 2: shape.bytes = 64; break;
  case 3: shape.bytes = 512; break;
  case 4: shape.bytes = random.between(1, 300); break;
  default: shape.bytes = random.between(1, narrow ? 200 : 1200); break;
  }
  shape.offset = random.below(kRegionBytes - shape.bytes);
  if (random.percent(30)) shape.offset &= ~UINT64_C(15);
  if (random.percent(30) && shape.bytes <= 512) shape.offset &= ~UINT64_C(511);
  return shape;
}

} // namespace

class Regions::Worker {
public:
  Worker(Bench &bench, unsigned region, unsigned rounds)
      : bench_(bench), base_(region * kRegionBytes), left_(rounds),
        copy_(core_bytes(), core_bytes() + static_cast<std::ptrdiff_t>(kRegionBytes)) {}

  bool done() const { return left_ == 0 && bursts_ == 0; }
  bool equal() const { return std::equal(copy_.begin(), copy_.end(), core_bytes()); }

  void next() {
    if (bursts_ != 0 || left_ == 0) return;
    left_--;
    shape_ = any_shape(bench_.random());
    const std::vector<Burst> bursts = bursts_for(kAdapterWindowBase + base_ + shape_.offset, shape_.bytes, shape_.size);
    bursts_ = bursts.size();
    const bool writes = bench_.random().percent(50);
    sparse_ = bench_.random().percent(20);
    for (const Burst &burst : bursts)
      writes ? write(burst) : read(burst);
  }

private:
  std::vector<uint8_t>::const_iterator core_bytes() const {
    return bench_.core.memory.begin() + static_cast<std::ptrdiff_t>(base_);
  }
  // Calls each(place of a byte in the burst's data, its offset in the region) for the bytes that belong to the access.
  template <typename Each> void for_each_byte(const Burst &burst, Each each) {
    std::size_t place = 0;
    for (unsigned index = 0; index < burst.beats; index++) {
      const BurstBeat beat = beat_of(burst, index);
      for (unsigned byte = 0; byte < beat.bytes; byte++, place++) {
        const uint64_t offset = beat.address + byte - kAdapterWindowBase - base_;
        if (offset - shape_.offset < shape_.bytes) each(place, offset);
      }
    }
  }
  static std::size_t bytes_of(const Burst &burst) {
    std::size_t bytes = 0;
    for (unsigned index = 0; index < burst.beats; index++)
      bytes += beat_of(burst, index).bytes;
    return bytes;
  }
  void ended() {
    bursts_--;
    next();
  }
  void read(const Burst &burst) {
    bench_.master.read(burst, [this, burst](const Master::Bytes &data) {
      for_each_byte(burst, [&](std::size_t place, uint64_t offset) {
        if (data[place] != copy_[offset])
          bench_.board.fail("a read of %u bytes at 0x%x returned other bytes", static_cast<unsigned>(shape_.bytes),
                            static_cast<unsigned>(base_ + shape_.offset));
      });
      ended();
    });
  }
  void write(const Burst &burst) {
    Master::Bytes data(bytes_of(burst));
    for (uint8_t &byte : data)
      byte = static_cast<uint8_t>(bench_.random().next());
    std::vector<bool> written(data.size());
    for_each_byte(burst, [&](std::size_t place, uint64_t offset) {
      written[place] = !sparse_ || bench_.random().percent(50);
      if (written[place]) copy_[offset] = data[place];
    });
    bench_.master.write(burst, std::move(data), std::move(written), [this] { ended(); });
  }

  Bench &bench_;
  uint64_t base_;
  unsigned left_;
  std::vector<uint8_t> copy_;
  Shape shape_{};
  bool sparse_ = false;
  std::size_t bursts_ = 0; // of the access that is under way
};

Regions::Regions(Bench &bench, unsigned workers, unsigned rounds) : bench_(bench) {
  for (unsigned region = 0; region < workers; region++)
    workers_.push_back(std::make_unique<Worker>(bench, region, rounds));
  for (const std::unique_ptr<Worker> &worker : workers_)
    worker->next();
}

Regions::~Regions() = default;

bool Regions::done() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const auto &worker) { return worker->done(); });
}

void Regions::finish() {
  bench_.wait([this] { return done(); }, "accesses of the master do not end", 2'000'000);
  for (const std::unique_ptr<Worker> &worker : workers_)
    bench_.check(worker->equal(), "the core's memory differs from what was written");
}

} // namespace testbench
