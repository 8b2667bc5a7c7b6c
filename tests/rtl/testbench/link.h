// SPDX-License-Identifier: Apache-2.0
//
// A PCIe link between the bridge and the drive, timed packet by packet.
//
// Each direction is a wire that carries one packet after the other (header, data and framing) at the rate of the
// generation and lanes after line coding. A packet arrives `latency_ns` after its last byte has left. "Up" is drive to
// host. The drive's writes are split into packets of MPS bytes, its reads into requests of MRRS bytes. The host answers
// them with completions that end at multiples of MPS, so at multiples of any read completion boundary. No packet
// crosses 4 KiB. A completion leaves when all of its bytes are there: the bridge does not wait for the rest of the
// request.
//
// Sizes (PCI Express base specification 4.0, 2.2 and 3.6): a memory request has a header of 16 bytes, or 12 if its
// address is below 4 GiB, a completion one of 12; each also has 4 bytes of STP with the sequence number, and 4 of LCRC.
//
// Link overhead (dllp.h): each packet is acknowledged, and a flow-control update returns the room that a request or a
// write took. Completions need no update: both ends advertise infinite credits for them, as the specification demands
// (2.6.1). SKP ordered sets take their share of both wires.
//
// Order: writes stay in order among themselves. Read requests go between them when the bridge can take them, urgent
// ones first. A completion of a register read does not pass a write that began before it; writes that have not begun
// are still in the drive and come after it. Register accesses go before completions.
//
// With generation 0 nothing takes time and nothing is counted: for tests in which time does not matter.
#ifndef SPATE_BENCH_LINK_H
#define SPATE_BENCH_LINK_H

#include "bridge.h"
#include "device.h"
#include "dllp.h"
#include "wire.h"

#include <cstdint>
#include <memory>

namespace testbench {

struct LinkConfig {
  unsigned generation = 3; // 1 … 5; 0: no time
  unsigned lanes = 4;
  uint32_t payload_bytes = 256;         // MPS
  uint32_t read_request_bytes = 512;    // MRRS
  uint32_t latency_ns = 250;            // one way
  uint32_t tags = 64;                   // read requests that the drive can have in flight
  uint32_t posted_buffer_bytes = 16384; // buffer of the bridge for writes; when it is full, the wire waits
};

// Bytes per second in one direction, after line coding; and the rest after SKP ordered sets.
double link_bytes_per_s(const LinkConfig &config);
double link_packet_bytes_per_s(const LinkConfig &config);
// Packets on the wire.
constexpr uint32_t kFramingBytes = 8;
constexpr uint32_t request_header_bytes(uint64_t address) { return address >> 32 ? 16 : 12; }
constexpr uint32_t kCompletionHeaderBytes = 12;
constexpr uint32_t kCompletionEntryBytes = 16; // of NVMe: a write of this length is not data

class Link : public HostMemory, public Downstream {
public:
  // Bridge and device outlive it.
  Link(Board &board, Bridge &bridge, const LinkConfig &config);
  void connect(Device &device);
  // Changes the configuration. Nothing may be in flight.
  void configure(const LinkConfig &config);
  const LinkConfig &config() const { return config_; }

  // ---- HostMemory, for the drive ----
  void read(uint64_t address, uint32_t bytes, bool urgent, ReadDone done) override;
  void write(uint64_t address, const uint8_t *data, uint32_t bytes, WriteDone done) override;

  // ---- Downstream, for the bridge ----
  void tick(uint64_t now_ps) override;
  bool link_up() const override;
  void perst(bool asserted) override;
  void memory_write(uint64_t bus_address, uint32_t value) override;
  void memory_read(uint64_t bus_address, Answer done) override;
  void config_write(uint32_t offset, uint32_t value, Answer done) override;
  void config_read(uint32_t offset, Answer done) override;

  // ---- totals ----
  uint64_t up_bytes() const { return up_.wire.bytes(); }
  uint64_t down_bytes() const { return down_.wire.bytes(); }
  // Data of commands, without entries, lists and completions. Packets that have begun count.
  uint64_t read_data_bytes() const { return read_data_bytes_; }
  uint64_t written_data_bytes() const { return written_data_bytes_; }
  // No write of the drive waits for its acknowledgement, and no read for its data.
  bool idle() const;

private:
  struct Transfer; // one read() of the drive
  struct Request;  // one read request of it
  enum class Type { Posted, NonPosted, Completion };
  struct Way { // one direction, and the DLLPs of its receiver in the other
    Way(const Wire::Time &time, Dllps::Send send_ack, Dllps::Send send_posted, Dllps::Send send_non_posted)
        : wire(time), acks(std::move(send_ack)), posted(std::move(send_posted)),
          non_posted(std::move(send_non_posted)) {}
    void set_time(const Wire::Time &time, double limit_ps);
    void tick(uint64_t now_ps);
    void clear();
    Wire wire;
    Dllps acks, posted, non_posted;
  };

  void send(Way &way, unsigned queue, Type type, uint32_t bytes, std::function<void()> arrive);
  void send_dllp(Way &way, std::function<void()> arrive);
  void send_request(const std::shared_ptr<Request> &request, bool urgent);
  void request_arrived(const std::shared_ptr<Request> &request);
  void data_arrived(const std::shared_ptr<Request> &request, const Bridge::Read &read);
  void completion_arrived(const std::shared_ptr<Request> &request, uint32_t bytes);
  void answer(uint32_t bytes, std::function<void()> arrive);
  void freed(uint32_t wire_bytes, uint64_t training);
  void drop(); // the link went down

  Board &board_;
  Bridge &bridge_;
  LinkConfig config_;
  Device *device_ = nullptr;
  Way up_, down_;
  bool was_up_ = false;
  uint64_t training_ = 0; // counts link drops: work that began before the last one is dropped
  uint64_t now_ps_ = 0;
  uint32_t tags_used_ = 0;
  uint32_t posted_bytes_ = 0;
  uint64_t read_data_bytes_ = 0, written_data_bytes_ = 0;
};

} // namespace testbench

#endif
