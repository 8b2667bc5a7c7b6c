// SPDX-License-Identifier: Apache-2.0
//
// A PCIe link between the bridge and the drive, timed packet by packet.
//
// Each direction is a wire that carries one packet after the other: header, data and framing, at the rate of the
// generation and lanes after line coding, and each packet arrives `latency_ns` after its last byte has left. "Up" is
// drive to host. What the drive writes is cut into packets of MPS bytes; what it reads into requests of MRRS, which the
// host answers with completions that end at multiples of MPS (so at multiples of any read completion boundary). No
// packet crosses 4 KiB. A completion leaves when all of its bytes are there: the bridge does not wait for the rest of
// the request.
//
// Sizes (PCI Express base specification 4.0, 2.2 and 3.6): a memory request has 16 bytes of header, 12 when its address
// is below 4 GiB, a completion 12; each has 4 bytes of STP with the sequence number, and 4 of LCRC.
//
// What the two ends tell each other besides (dllp.h): each packet is acknowledged, and the room that a request or a
// write took is given back by a flow-control update. Completions need none: both ends advertise infinite credits for
// them, as the specification demands (2.6.1). SKP ordered sets take their share of both wires.
//
// Order: writes stay in order among themselves. Read requests go between them when the bridge can take them, the urgent
// ones first. An answer to a register read passes no write that has begun before it; those that have not are still in
// the drive, and come after it. Register accesses go before completions.
//
// With generation 0 nothing takes time, and nothing is counted: for tests in which time is not the matter.
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
  uint32_t tags = 64;                   // read requests that the drive can have under way
  uint32_t posted_buffer_bytes = 16384; // what the bridge takes of writes before the wire has to wait
};

// Bytes per second in one direction, after line coding; and what of them SKP ordered sets leave.
double link_bytes_per_s(const LinkConfig &config);
double link_packet_bytes_per_s(const LinkConfig &config);
// Packets on the wire.
constexpr uint32_t kFramingBytes = 8;
constexpr uint32_t request_header_bytes(uint64_t address) { return address >> 32 ? 16 : 12; }
constexpr uint32_t kCompletionHeaderBytes = 12;
constexpr uint32_t kCompletionEntryBytes = 16; // of NVMe: what the drive writes of this length is no data

class Link : public HostMemory, public Downstream {
public:
  // Bridge and device outlive it.
  Link(Board &board, Bridge &bridge, const LinkConfig &config);
  void connect(Device &device);
  // Other figures from now on. Nothing is under way.
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

  // ---- what went over it ----
  uint64_t up_bytes() const { return up_.wire.bytes(); }
  uint64_t down_bytes() const { return down_.wire.bytes(); }
  // Data of commands: without entries, lists and completions. Packets that have begun count.
  uint64_t read_data_bytes() const { return read_data_bytes_; }
  uint64_t written_data_bytes() const { return written_data_bytes_; }
  uint64_t doorbell_packets() const { return memory_writes_; }
  // Writes of the drive that have not yet been acknowledged, reads not yet answered.
  bool idle() const;

private:
  struct Transfer; // one read() of the drive
  struct Request;  // one read request of it
  enum class Type { Posted, NonPosted, Completion };
  struct Way { // one direction, and what its receiver sends back on the other
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
  uint64_t training_ = 0; // counts the link's downs: what began before the last one is forgotten
  uint64_t now_ps_ = 0;
  uint32_t tags_used_ = 0;
  uint32_t posted_bytes_ = 0;
  uint64_t memory_writes_ = 0;
  uint64_t read_data_bytes_ = 0, written_data_bytes_ = 0;
};

} // namespace testbench

#endif
