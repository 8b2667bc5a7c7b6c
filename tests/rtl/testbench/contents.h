// SPDX-License-Identifier: Apache-2.0
//
// The contents of the ideal drive: for each block the version that was written last (pattern.h). The bytes follow from
// it. Blocks beyond the tracked ones always have version 0.
#ifndef SPATE_BENCH_CONTENTS_H
#define SPATE_BENCH_CONTENTS_H

#include <cstdint>
#include <vector>

namespace testbench {

class Contents {
public:
  explicit Contents(std::size_t tracked_blocks) : versions_(tracked_blocks) {}
  uint32_t version(uint64_t lba) const { return lba < versions_.size() ? versions_[lba] : 0; }
  // Returns false if a block that is not tracked would need a version of its own.
  bool set(uint64_t lba, uint32_t version) {
    if (lba >= versions_.size()) return version == 0;
    versions_[lba] = version;
    return true;
  }
  uint64_t tracked() const { return versions_.size(); }

private:
  std::vector<uint32_t> versions_;
};

} // namespace testbench

#endif
