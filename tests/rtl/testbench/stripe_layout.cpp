// SPDX-License-Identifier: Apache-2.0
#include "stripe_layout.h"

#include <spate/block.h>
// A function with the name of a structure, as in C: in C++ it hides the constructor.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <spate/stripe.h>
#pragma GCC diagnostic pop

#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>

extern "C" {
#include <spate/port.h>

// The port's function: there is nothing to wait for here.
void host_relax(void) {}
}

namespace testbench {

namespace {

constexpr uint32_t kBlockBytes = 512;
constexpr uint8_t kBlockShift = 9;

// A member that stores written blocks and remembers the last read.
struct Member {
  spate_block block{}; // first: a member is a block device
  std::map<uint64_t, std::vector<uint8_t>> contents;
  std::deque<spate_io *> ended;
  uint64_t read_lba = 0;
  uint32_t reads = 0;
};

spate_error submit(spate_block *block, spate_io *io) {
  Member &member = *reinterpret_cast<Member *>(block);
  uint8_t *data = static_cast<uint8_t *>(io->buffer);
  if (io->op == SPATE_READ) {
    member.read_lba = io->lba;
    member.reads++;
  }
  for (uint32_t number = 0; number < io->blocks; number++) {
    std::vector<uint8_t> &kept = member.contents[io->lba + number];
    kept.resize(kBlockBytes);
    if (io->op == SPATE_READ) std::memcpy(data + number * kBlockBytes, kept.data(), kBlockBytes);
    if (io->op == SPATE_WRITE) std::memcpy(kept.data(), data + number * kBlockBytes, kBlockBytes);
  }
  io->error = SPATE_OK;
  member.ended.push_back(io);
  return SPATE_OK;
}

void kick(spate_block *) {}

unsigned poll(spate_block *block, unsigned max) {
  Member &member = *reinterpret_cast<Member *>(block);
  unsigned reaped = 0;
  for (; reaped < max && !member.ended.empty(); reaped++) {
    spate_io *io = member.ended.front();
    member.ended.pop_front();
    io->done(io);
  }
  return reaped;
}

const spate_block_ops kOps = {submit, kick, poll};

void check(spate_error error, const char *what) {
  if (error != SPATE_OK) throw std::runtime_error(std::string("the library's ") + what + " failed");
}

} // namespace

StripeLayout::StripeLayout(unsigned members, uint32_t chunk_bytes, uint64_t member_drive_blocks, uint64_t array_blocks)
    : numbers_(members) {
  std::vector<Member> drives(members);
  std::vector<spate_block *> blocks;
  for (Member &drive : drives) {
    drive.block.ops = &kOps;
    drive.block.blocks = member_drive_blocks;
    drive.block.block_shift = kBlockShift;
    drive.block.depth = 8;
    drive.block.command_bytes_max = 1u << 20;
    drive.block.request_blocks_max = 1u << 16;
    blocks.push_back(&drive.block);
  }
  std::vector<spate_stripe_part> parts(4 * members);
  static uint8_t scratch[SPATE_STRIPE_SCRATCH_BYTES] __attribute__((aligned(SPATE_DMA_ALIGN)));
  spate_stripe_config config{};
  config.members = blocks.data();
  config.member_count = static_cast<uint8_t>(members);
  config.parts = parts.data();
  config.part_count = static_cast<uint16_t>(parts.size());
  config.scratch = scratch;
  struct spate_stripe_create create {};
  create.uuid[0] = 1;
  create.chunk_bytes = chunk_bytes;
  check(spate_stripe_create(&config, &create), "stripe_create");
  spate_stripe stripe;
  check(spate_stripe_open(&stripe, &config), "stripe_open");
  for (unsigned member = 0; member < members; member++)
    data_lbas_.push_back(stripe.members[member].data_lba);
  member_blocks_ = stripe.block.blocks / members;

  const uint32_t chunk_blocks = chunk_bytes / kBlockBytes;
  std::vector<uint8_t> data(chunk_bytes + SPATE_DMA_ALIGN);
  uint8_t *aligned = data.data() + (SPATE_DMA_ALIGN - reinterpret_cast<uintptr_t>(data.data()) % SPATE_DMA_ALIGN);
  for (uint64_t lba = 0; lba < array_blocks; lba += chunk_blocks) {
    for (Member &drive : drives)
      drive.reads = 0;
    check(spate_block_read(&stripe.block, lba, chunk_blocks, aligned), "read");
    for (unsigned member = 0; member < members; member++) {
      // The array orders its members by their superblocks, in the order in which they were given.
      const Member &drive = *reinterpret_cast<Member *>(stripe.members[member].block);
      if (drive.reads == 0) continue;
      for (uint32_t number = 0; number < chunk_blocks; number++) {
        places_.push_back({member, drive.read_lba + number});
        numbers_[member][drive.read_lba + number] = lba + number;
      }
    }
    if (places_.size() != lba + chunk_blocks) throw std::runtime_error("a chunk is not on one member");
  }
}

uint64_t StripeLayout::number(unsigned member, uint64_t lba) const {
  const auto found = numbers_[member].find(lba);
  return found == numbers_[member].end() ? UINT64_MAX >> 32 : found->second;
}

} // namespace testbench
