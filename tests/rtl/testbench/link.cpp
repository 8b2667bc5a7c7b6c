// SPDX-License-Identifier: Apache-2.0
#include "link.h"

#include <algorithm>

namespace testbench {

namespace {

// In order of priority: first the receiver's DLLPs. Then, up: urgent read requests, read requests, responses to the
// host, the drive's writes. Down: register accesses, completions.
constexpr unsigned kDllp = 0;
constexpr unsigned kUpUrgent = 1, kUpRead = 2, kUpAnswer = 3, kUpPosted = 4;
constexpr unsigned kDownRegister = 1, kDownCompletion = 2;

// Requests for configuration space have 12 bytes of header, and a dword when they write.
constexpr uint32_t kConfigBytes = 12 + kFramingBytes;

// SKP ordered sets as often as the specification allows (4.2.7.3): every 1180 symbols, or every 370 blocks of 16. A set
// is 4 symbols on each lane, or a block on each after a token of 4 bytes that announces it (EDS).
double skip_every_bytes(const LinkConfig &config) {
  return config.lanes * (config.generation <= 2 ? 1180.0 : 370.0 * 16);
}
double skip_bytes(const LinkConfig &config) {
  return config.generation <= 2 ? config.lanes * 4 : config.lanes * 16 + 4;
}

Wire::Time wire_time(const LinkConfig &config) {
  if (config.generation == 0) return {};
  const double ps_per_byte = 1e12 / link_bytes_per_s(config);
  return {ps_per_byte, config.latency_ns * 1e3, skip_every_bytes(config) * ps_per_byte,
          skip_bytes(config) * ps_per_byte};
}

} // namespace

double link_bytes_per_s(const LinkConfig &config) {
  static constexpr double kGigaTransfers[] = {0, 2.5, 5, 8, 16, 32};
  const double coding = config.generation <= 2 ? 8.0 / 10 : 128.0 / 130;
  return kGigaTransfers[config.generation] * 1e9 * config.lanes * coding / 8;
}

double link_packet_bytes_per_s(const LinkConfig &config) {
  return link_bytes_per_s(config) * (1 - skip_bytes(config) / skip_every_bytes(config));
}

struct Link::Transfer {
  std::vector<uint8_t> data;
  uint32_t missing = 0; // bytes that have not arrived
  uint32_t requests = 0;
  ReadDone done;
};

struct Link::Request {
  std::shared_ptr<Transfer> transfer;
  uint64_t training = 0;
  uint64_t address = 0;
  uint32_t offset = 0, bytes = 0; // relative to the transfer
  uint32_t sent = 0;              // given to the wire as completions
  uint32_t arrived = 0;           // at the drive
  bool urgent = false;            // an entry or a list: not data
};

Link::Link(Board &board, Bridge &bridge, const LinkConfig &config)
    : board_(board), bridge_(bridge), config_(config),
      up_(
          wire_time(config), [this](uint32_t) { send_dllp(down_, [] {}); },
          [this](uint32_t bytes) { send_dllp(down_, [this, bytes] { posted_bytes_ -= bytes; }); },
          [this](uint32_t) { send_dllp(down_, [] {}); }),
      down_(
          wire_time(config), [this](uint32_t) { send_dllp(up_, [] {}); }, [this](uint32_t) { send_dllp(up_, [] {}); },
          [this](uint32_t) { send_dllp(up_, [] {}); }) {
  const auto take_tag = [this](const Wire::Packet &) {
    // Requests on their way count, because the bridge reserves room for each.
    if (tags_used_ >= config_.tags) return false;
    tags_used_++;
    return true;
  };
  up_.wire.set_credit(kUpUrgent, take_tag);
  up_.wire.set_credit(kUpRead, take_tag);
  up_.wire.set_credit(kUpPosted, [this](const Wire::Packet &packet) {
    if (posted_bytes_ + packet.bytes > config_.posted_buffer_bytes) return false;
    posted_bytes_ += packet.bytes;
    return true;
  });
  configure(config);
  bridge.connect(*this);
}

void Link::connect(Device &device) { device_ = &device; }

void Link::configure(const LinkConfig &config) {
  if (!idle()) board_.fail("the link is reconfigured while it is in use");
  config_ = config;
  for (Way *way : {&up_, &down_})
    way->set_time(wire_time(config), config.generation == 0 ? 0 : dllp_limit_ps(config));
}

void Link::Way::set_time(const Wire::Time &time, double limit_ps) {
  wire.set_time(time);
  for (Dllps *dllps : {&acks, &posted, &non_posted})
    dllps->set_limit(limit_ps);
}

void Link::Way::tick(uint64_t now_ps) {
  for (Dllps *dllps : {&acks, &posted, &non_posted})
    dllps->tick(now_ps);
  wire.tick(now_ps);
}

void Link::Way::clear() {
  wire.clear();
  for (Dllps *dllps : {&acks, &posted, &non_posted})
    dllps->clear();
}

// Sends a packet that its receiver acknowledges on arrival. The receiver returns the room at the same time, but for the
// drive's writes only when the bridge has carried them out (freed).
void Link::send(Way &way, unsigned queue, Type type, uint32_t bytes, std::function<void()> arrive) {
  way.wire.push(queue, {bytes, now_ps_, [this, &way, type, arrive = std::move(arrive)] {
                          if (config_.generation != 0) {
                            way.acks.add(now_ps_, 0);
                            if (type == Type::NonPosted) way.non_posted.add(now_ps_, 0);
                            if (type == Type::Posted && &way == &down_) way.posted.add(now_ps_, 0);
                          }
                          arrive();
                        }});
}

void Link::send_dllp(Way &way, std::function<void()> arrive) {
  way.wire.push(kDllp, {kDllpBytes, now_ps_, std::move(arrive)});
}

// The bridge has room again for writes of the drive.
void Link::freed(uint32_t wire_bytes, uint64_t training) {
  if (training != training_) return;
  if (config_.generation == 0)
    posted_bytes_ -= wire_bytes;
  else
    up_.posted.add(now_ps_, wire_bytes);
}

void Link::tick(uint64_t now_ps) {
  now_ps_ = now_ps;
  device_->tick(now_ps);
  if (was_up_ && !device_->link_up()) drop();
  was_up_ = device_->link_up();
  up_.tick(now_ps);
  down_.tick(now_ps);
}

bool Link::link_up() const { return was_up_; }

void Link::perst(bool asserted) { device_->perst(asserted); }

void Link::drop() {
  training_++;
  up_.clear();
  down_.clear();
  tags_used_ = 0;
  posted_bytes_ = 0;
}

bool Link::idle() const { return up_.wire.idle() && down_.wire.idle() && tags_used_ == 0 && posted_bytes_ == 0; }

// ---- the drive reads ----

void Link::read(uint64_t address, uint32_t bytes, bool urgent, ReadDone done) {
  const auto transfer = std::make_shared<Transfer>();
  transfer->data.resize(bytes);
  transfer->missing = bytes;
  transfer->done = std::move(done);
  uint32_t offset = 0;
  do {
    const auto request = std::make_shared<Request>();
    request->transfer = transfer;
    request->training = training_;
    request->address = address + offset;
    request->offset = offset;
    // Requests end at multiples of MRRS, as drives split them, and so do their completions.
    const uint32_t to_boundary =
        config_.read_request_bytes - static_cast<uint32_t>(request->address % config_.read_request_bytes);
    request->bytes = std::min(bytes - offset, to_boundary);
    offset += request->bytes;
    transfer->requests++;
    send_request(request, urgent);
  } while (offset < bytes);
}

void Link::send_request(const std::shared_ptr<Request> &request, bool urgent) {
  const uint32_t wire_bytes = request_header_bytes(request->address) + kFramingBytes;
  request->urgent = urgent;
  send(up_, urgent ? kUpUrgent : kUpRead, Type::NonPosted, wire_bytes, [this, request] { request_arrived(request); });
}

void Link::request_arrived(const std::shared_ptr<Request> &request) {
  if (!bridge_.root_port().forwards_upstream())
    board_.fail("the drive reads 0x%llx while bus mastering is off at the root port",
                static_cast<unsigned long long>(request->address));
  Bridge::Read read;
  read.address = request->address;
  read.bytes = request->bytes;
  read.progress = [this, request](const Bridge::Read &progress) { data_arrived(request, progress); };
  bridge_.read(std::move(read));
}

// Sends completions as soon as all of their bytes are there.
void Link::data_arrived(const std::shared_ptr<Request> &request, const Bridge::Read &read) {
  if (request->training != training_) return;
  std::copy(read.data.begin() + request->sent, read.data.begin() + read.arrived,
            request->transfer->data.begin() + request->offset + request->sent);
  do {
    const uint64_t next = request->address + request->sent;
    const uint32_t to_boundary = config_.payload_bytes - static_cast<uint32_t>(next % config_.payload_bytes);
    const uint32_t bytes = std::min(request->bytes - request->sent, to_boundary);
    if (request->sent + bytes > read.arrived) return;
    request->sent += bytes;
    // A request for zero bytes is answered with one dword that has no valid byte.
    const uint32_t payload = std::max(bytes, 4u);
    send(down_, kDownCompletion, Type::Completion, kCompletionHeaderBytes + kFramingBytes + payload,
         [this, request, bytes] { completion_arrived(request, bytes); });
  } while (request->sent < request->bytes);
}

void Link::completion_arrived(const std::shared_ptr<Request> &request, uint32_t bytes) {
  Transfer &transfer = *request->transfer;
  if (!request->urgent) written_data_bytes_ += bytes;
  request->arrived += bytes;
  transfer.missing -= bytes;
  if (request->arrived == request->bytes) {
    tags_used_--;
    transfer.requests--;
  }
  if (transfer.missing == 0 && transfer.requests == 0 && transfer.done) {
    const ReadDone done = std::move(transfer.done);
    transfer.done = nullptr;
    done(transfer.data.data());
  }
}

// ---- the drive writes ----

void Link::write(uint64_t address, const uint8_t *data, uint32_t bytes, WriteDone done) {
  uint32_t offset = 0;
  while (offset < bytes) {
    Bridge::Write write;
    write.address = address + offset;
    const uint32_t to_boundary = config_.payload_bytes - static_cast<uint32_t>(write.address % config_.payload_bytes);
    const uint32_t packet_bytes = std::min(bytes - offset, to_boundary);
    write.data.assign(data + offset, data + offset + packet_bytes);
    offset += packet_bytes;
    const uint32_t wire_bytes = request_header_bytes(write.address) + kFramingBytes + packet_bytes;
    write.done = [this, wire_bytes, training = training_, done = offset == bytes ? done : nullptr] {
      freed(wire_bytes, training);
      if (done) done();
    };
    const uint32_t data_bytes = bytes == kCompletionEntryBytes ? 0 : packet_bytes;
    send(up_, kUpPosted, Type::Posted, wire_bytes, [this, data_bytes, write = std::move(write)] {
      if (!bridge_.root_port().forwards_upstream())
        board_.fail("the drive writes 0x%llx while bus mastering is off at the root port",
                    static_cast<unsigned long long>(write.address));
      read_data_bytes_ += data_bytes;
      bridge_.write(write);
    });
  }
}

// ---- the host's accesses ----

void Link::memory_write(uint64_t bus_address, uint32_t value) {
  const uint32_t wire_bytes = request_header_bytes(bus_address) + kFramingBytes + 4;
  send(down_, kDownRegister, Type::Posted, wire_bytes, [this, bus_address, value] {
    if (const auto offset = device_->decode(bus_address)) device_->register_write(*offset, value);
  });
}

void Link::answer(uint32_t bytes, std::function<void()> arrive) {
  send(up_, kUpAnswer, Type::Completion, kCompletionHeaderBytes + kFramingBytes + bytes, std::move(arrive));
}

void Link::memory_read(uint64_t bus_address, Answer done) {
  const uint32_t wire_bytes = request_header_bytes(bus_address) + kFramingBytes;
  send(down_, kDownRegister, Type::NonPosted, wire_bytes, [this, bus_address, done = std::move(done)] {
    const auto offset = device_->decode(bus_address);
    const uint32_t value = offset ? device_->register_read(*offset) : UINT32_MAX;
    answer(offset ? 4 : 0, [done, ok = offset.has_value(), value] { done(ok, value); });
  });
}

void Link::config_write(uint32_t offset, uint32_t value, Answer done) {
  send(down_, kDownRegister, Type::NonPosted, kConfigBytes + 4, [this, offset, value, done = std::move(done)] {
    device_->config_write(offset, value);
    answer(0, [done] { done(true, 0); });
  });
}

void Link::config_read(uint32_t offset, Answer done) {
  send(down_, kDownRegister, Type::NonPosted, kConfigBytes, [this, offset, done = std::move(done)] {
    const uint32_t value = device_->config_read(offset);
    answer(4, [done, value] { done(true, value); });
  });
}

} // namespace testbench
