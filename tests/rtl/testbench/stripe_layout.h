// SPDX-License-Identifier: Apache-2.0
//
// The places of an array's blocks according to the library: it opens an array of recording members, and each chunk is
// read to see which member gets the read.
#ifndef SPATE_BENCH_STRIPE_LAYOUT_H
#define SPATE_BENCH_STRIPE_LAYOUT_H

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace testbench {

class StripeLayout {
public:
  struct Place {
    unsigned member;
    uint64_t lba;
  };

  // Blocks of 512 bytes. The places of the first `array_blocks` blocks of the array are known.
  StripeLayout(unsigned members, uint32_t chunk_bytes, uint64_t member_drive_blocks, uint64_t array_blocks);

  Place place(uint64_t array_lba) const { return places_.at(array_lba); }
  // The array's number of a member's block. For a block beyond the known ones, a number that the array does not have.
  uint64_t number(unsigned member, uint64_t lba) const;
  uint64_t data_lba(unsigned member) const { return data_lbas_.at(member); }
  uint64_t member_blocks() const { return member_blocks_; } // in a data area
  uint64_t blocks() const { return places_.size(); }

private:
  std::vector<Place> places_;
  std::vector<std::unordered_map<uint64_t, uint64_t>> numbers_;
  std::vector<uint64_t> data_lbas_;
  uint64_t member_blocks_ = 0;
};

} // namespace testbench

#endif
