// SPDX-License-Identifier: Apache-2.0
//
// A port that the adapter accesses, with a memory behind it: the bridge's slave port (BarSlave) and its control port
// (ControlSlave). Each channel stalls by itself. It can answer with errors, or not at all. Checks that valid outputs
// stay until they are taken, that each access is of one dword, and that nothing is valid during the bridge's reset.
#ifndef SPATE_BENCH_SLAVE_H
#define SPATE_BENCH_SLAVE_H

#include "board.h"
#include "stable.h"
#include "stall.h"

#include <array>
#include <cstdint>
#include <vector>

namespace testbench {

class Slave : public Part {
public:
  using Around = std::array<uint32_t, 16>;

  // `base`: the address of its first byte.
  Slave(Board &board, const char *name, uint64_t base, uint64_t bytes, unsigned stall_percent);

  uint32_t get(uint64_t offset) const { return dwords_[offset / 4]; }
  void set(uint64_t offset, uint32_t value) { dwords_[offset / 4] = value; }
  Around around(uint64_t offset) const; // the 64 bytes that contain it
  uint64_t bytes() const { return dwords_.size() * 4; }
  uint8_t response = 0; // BRESP and RRESP
  bool silent = false;  // responses are held back
  // The bridge's reset: accesses are forgotten, and the pins are not valid. The memory stays.
  void drop();

  void sample() override;
  void drive() override;

protected:
  struct Requests {
    bool aw_valid, w_valid, ar_valid, b_ready, r_ready;
    unsigned aw_size, ar_size;
    uint64_t aw_address, ar_address;
    uint64_t strobes;
    Beat data;
  };
  struct Answers {
    bool aw_ready = false, w_ready = false, ar_ready = false, b_valid = false, r_valid = false;
    uint8_t b_response = 0, r_response = 0;
    uint32_t r_data = 0;
    uint64_t r_address = 0;
  };
  // The pins.
  virtual Requests requests() const = 0;
  virtual void show(const Answers &answers) = 0;
  virtual unsigned data_bytes() const = 0;

  Board &board_;
  Model &pins_;

private:
  struct Data {
    uint64_t strobes;
    Beat data;
    bool operator==(const Data &other) const { return strobes == other.strobes && data == other.data; }
  };

  void check(bool kept, const char *what);
  void check_stable(const Requests &seen);
  uint64_t offset_of(uint64_t address, unsigned size);
  void take_requests(const Requests &seen);
  void carry_out_write();

  const char *name_;
  uint64_t base_;
  std::vector<uint32_t> dwords_;
  Stall aw_stall_, w_stall_, ar_stall_, b_stall_, r_stall_;
  Answers pins_now_;
  bool aw_taken_ = false, w_taken_ = false, ar_taken_ = false;
  bool b_owed_ = false; // the write was carried out
  uint64_t aw_offset_ = 0, ar_offset_ = 0;
  Data w_{};
  uint32_t read_ = 0;
  Stable<uint64_t> stable_aw_, stable_ar_;
  Stable<Data> stable_w_;
};

// m_axi: the drive's BAR, 1 MiB.
class BarSlave : public Slave {
public:
  BarSlave(Board &board, unsigned stall_percent);

protected:
  Requests requests() const override;
  void show(const Answers &answers) override;
  unsigned data_bytes() const override { return kBeatBytes; }

private:
  bool r_shown_ = false; // the pins have read data that stay until they are taken
};

// c_axil: the configuration spaces, 2 MiB.
class ControlSlave : public Slave {
public:
  ControlSlave(Board &board, unsigned stall_percent);

protected:
  Requests requests() const override;
  void show(const Answers &answers) override;
  unsigned data_bytes() const override { return 4; }
};

} // namespace testbench

#endif
