// SPDX-License-Identifier: Apache-2.0
//
// The admin queue and its commands, and the side commands.
#include "drive.h"

#include "check.h"

#include <algorithm>

namespace testbench {

namespace {

constexpr uint16_t kSideBit = 0x0100; // of an identifier

Behaviour next_of(std::deque<Behaviour> &behaviours) {
  if (behaviours.empty()) return kNormal;
  const Behaviour first = behaviours.front();
  behaviours.pop_front();
  return first;
}

// Completions come at random, one every ten cycles.
std::optional<Completion> some_of(std::deque<Completion> &done, Random &random) {
  if (done.empty() || !random.percent(10)) return {};
  const Completion first = done.front();
  done.pop_front();
  return first;
}

uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }

} // namespace

std::size_t AdminDrive::admin_commands(uint8_t opcode) const {
  return static_cast<std::size_t>(std::count_if(admin_log.begin(), admin_log.end(),
                                                [=](const Entry &entry) { return opcode_of(entry) == opcode; }));
}

// ---- the queue ----

void AdminDrive::see_queues_reset() {
  check(!(at(registers_, kCc) & 1) || !link_up_, "the queues are reset while the controller is enabled");
  drop_completions();
}

void AdminDrive::drop_completions() {
  admin_done_.clear();
  late_.reset();
  flood_.reset();
  side_done_.clear();
}

void AdminDrive::doorbell(uint32_t address, uint32_t data) {
  const uint32_t step = 4u << profile.stride;
  const uint32_t number = (address - kDoorbells) / step;
  check((address - kDoorbells) % step == 0 && number < 2, "a doorbell at 0x%x", address);
  if (number == 0) {
    check(data == ((admin_head_ + 1) & 3) && (at(registers_, kCsts) & 1), "admin submission tail %u", data);
    after(random_.between(5, 60), [this, life = life_] {
      if (life == life_) fetch();
    });
  } else {
    admin_heads_rung++;
    admin_rung_++;
    check(data == (admin_rung_ & 3) && admin_rung_ <= admin_given_, "admin completion head %u", data);
  }
}

void AdminDrive::fetch() {
  check(core.entry_valid && core.entry_index == admin_head_, "the doorbell was rung before the entry was shown");
  admin_head_ = (admin_head_ + 1) & 3;
  const Entry entry = entries[0];
  const uint16_t cid = cid_of(entry);
  check(!(cid & kSideBit) && cid >> 15 == core.epoch, "admin identifier 0x%x", cid);
  admin_log.push_back(entry);
  const Behaviour behaviour = next_of(faults[opcode_of(entry)]);
  if (behaviour.kind == Behaviour::Lost) return;
  if (behaviour.kind == Behaviour::Flood) {
    flood_ = Completion{static_cast<uint16_t>(cid ^ 1), 0, 0};
    return;
  }
  Result result = {behaviour.status, 0};
  if (behaviour.kind != Behaviour::Status) result = execute(entry, behaviour.kind != Behaviour::NoData);
  const Completion completion = {cid, result.status, result.dword_0};
  if (late_) admin_done_.push_back(*late_);
  late_.reset();
  admin_done_.push_back(completion);
  if (behaviour.kind == Behaviour::Double) admin_done_.push_back(completion);
  if (behaviour.kind == Behaviour::Late) late_ = completion;
}

std::optional<Completion> AdminDrive::admin_completion() {
  const auto completion = flood_ ? flood_ : some_of(admin_done_, random_);
  if (completion) admin_given_++;
  return completion;
}

// ---- the side command ----

void AdminDrive::side() {
  check(core.ready, "a side command was pushed while the drive is not ready");
  const Entry entry = entries[1];
  const uint16_t cid = cid_of(entry);
  check((cid & 0xff00) == (kSideBit | core.epoch << 15), "side identifier 0x%x", cid);
  check(side_log.empty() || cid_of(side_log.back()) != cid, "two commands in a row have the same identifier");
  side_log.push_back(entry);
  const Behaviour behaviour = next_of(side_faults);
  if (behaviour.kind == Behaviour::Lost) return;
  after(random_.between(1, 80), [this, life = life_, cid, status = behaviour.status] {
    if (life == life_) side_done_.push_back({cid, status, 0x51de});
  });
}

std::optional<Completion> AdminDrive::side_completion() { return some_of(side_done_, random_); }

// ---- the commands ----

Result AdminDrive::execute(const Entry &entry, bool writes_data) {
  const uint8_t opcode = opcode_of(entry);
  switch (opcode) {
  case kIdentify: return identify(entry, writes_data);
  case kGetLog: return get_log(entry);
  case kSetFeatures: expect("dword 11 of Set Features", entry[11], 0u); break;
  case kCreateCq: create_cq(entry); break;
  case kCreateSq: create_sq(entry); break;
  case kDeleteSq:
  case kDeleteCq: {
    uint32_t &queue = opcode == kDeleteSq ? queues_.sq : queues_.cq;
    check(entry[10] == 1 && queue != 0, "a queue is deleted that does not exist");
    queue = 0;
    break;
  }
  case kSanitize:
    if (sanitize_polls != 0) return {kSanitizeInProgress, 0};
    sanitize_polls = 3;
    sanitize_end.reset();
    break;
  default: break;
  }
  return {kOk, 0xabcd'0000u | opcode};
}

Result AdminDrive::identify(const Entry &entry, bool writes_data) {
  enum : uint32_t { Namespace, Controller, List };
  Dwords dwords;
  if (entry[10] == Controller) {
    dwords = controller_page();
  } else if (entry[10] == List) {
    if (!profile.namespace_list) return {kInvalidField | kDoNotRetry, 0};
    for (uint32_t nsid : profile.namespaces)
      dwords.emplace(static_cast<uint32_t>(dwords.size()), nsid);
  } else {
    expect("CNS", entry[10], static_cast<uint32_t>(Namespace));
    if (!profile.namespaces.empty() && entry[1] != profile.namespaces[0]) return {kInvalidNamespace | kDoNotRetry, 0};
    dwords = namespace_page();
  }
  if (writes_data) write_page(entry, dwords);
  return {};
}

Dwords AdminDrive::controller_page() const {
  Dwords dwords = {{19, profile.mdts << 8},    {22, 2'000'000},
                   {64, profile.oacs},         {66, profile.apsta ? 1u << 8 : 0},
                   {68, profile.hmpre},        {82, profile.sanicap},
                   {128, profile.entry_sizes}, {129, 1},
                   {130, profile.oncs},        {131, profile.volatile_cache ? 1u << 8 : 0}};
  std::string serial = profile.serial;
  serial.resize(20, ' ');
  for (uint32_t i = 0; i < serial.size(); i++)
    dwords[1 + i / 4] |= static_cast<uint32_t>(static_cast<unsigned char>(serial[i])) << 8 * (i % 4);
  return dwords;
}

Dwords AdminDrive::namespace_page() const {
  return {{0, low(profile.blocks)},        {1, high(profile.blocks)},
          {6, profile.format_index << 16}, {30, low(profile.eui64)},
          {31, high(profile.eui64)},       {32 + profile.format_index, profile.metadata | profile.block_shift << 16}};
}

Result AdminDrive::get_log(const Entry &entry) {
  const uint32_t log = entry[10] & 0xff;
  if (log == kSmartLog) {
    check(entry[10] == 0x007f'0002 && entry[1] == UINT32_MAX, "the SMART log is read with another length or namespace");
    write_page(entry, profile.smart);
  } else if (log == kSanitizeLog) {
    constexpr uint32_t kSucceeded = 1, kInProgress = 2;
    uint32_t state = sanitize_end.value_or(kSucceeded);
    if (sanitize_polls != 0) {
      state = kInProgress;
      sanitize_polls--;
    }
    write_page(entry, {{0, state << 16}});
  }
  return {kOk, 0xabcd'0000u | kGetLog};
}

void AdminDrive::create_cq(const Entry &entry) {
  const uint32_t entries_wanted = (entry[10] >> 16) + 1;
  check((entry[10] & 0xffff) == 1 && entry[11] == 1, "another completion queue than number 1 in one piece");
  expect("PRP1 of the completion queue", prp1_of(entry), base_ + kCqOffset);
  check(entries_wanted <= profile.mqes + 1 && (entries_wanted & (entries_wanted - 1)) == 0,
        "a completion queue of %u entries", entries_wanted);
  queues_.cq = entries_wanted;
}

void AdminDrive::create_sq(const Entry &entry) {
  expect("dword 11 of Create I/O Submission Queue", entry[11], 0x0001'0001u);
  expect("PRP1 of the submission queue", prp1_of(entry), base_ + kSqOffset);
  check(queues_.cq != 0 && (entry[10] >> 16) + 1 == queues_.cq, "a submission queue of another size");
  queues_.sq = queues_.cq;
}

void AdminDrive::write_page(const Entry &entry, const Dwords &dwords) {
  expect("PRP1 of a command with data", prp1_of(entry), base_ + kPageOffset);
  std::fill_n(page.begin(), 1024, 0);
  for (const auto &[dword, value] : dwords)
    page[dword] = value;
}

} // namespace testbench
