// SPDX-License-Identifier: Apache-2.0
//
// Records of rtl/spate_pkg.sv at the pins of a model. A pin of up to 64 bits is an integer, a wider one an array of
// words, lowest first. The structs themselves are in records_fields.h, which records_header.py writes.
#ifndef SPATE_BENCH_RECORDS_H
#define SPATE_BENCH_RECORDS_H

#include "verilated.h"

#include <cstddef>
#include <cstdint>

namespace testbench::records {

// The words of a pin.
template <std::size_t Words> uint32_t word(const VlWide<Words> &pin, unsigned index) { return pin[index]; }
inline uint32_t word(uint64_t pin, unsigned index) { return static_cast<uint32_t>(pin >> 32 * index); }
template <std::size_t Words> void set_word(VlWide<Words> &pin, unsigned index, uint32_t value) { pin[index] = value; }
template <typename Pin> void set_word(Pin &pin, unsigned index, uint32_t value) {
  const uint64_t others = static_cast<uint64_t>(pin) & ~(UINT64_C(0xffff'ffff) << 32 * index);
  pin = static_cast<Pin>(others | static_cast<uint64_t>(value) << 32 * index);
}

inline uint64_t mask(unsigned bits) { return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }

// The size of the pin that Verilator makes for a record.
constexpr std::size_t pin_bytes(unsigned bits) {
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 64 ? 8 : (bits + 31) / 32 * 4;
}

// The record that a pin shows.
template <typename Record, typename Pin> Record get(const Pin &pin) {
  static_assert(sizeof(Pin) == pin_bytes(Record::kBits), "the pin has another width");
  Record record;
  unsigned first = 0;
  record.each([&](uint64_t &field, unsigned bits) {
    field = 0;
    for (unsigned done = 0; done < bits;) {
      const unsigned shift = (first + done) % 32;
      field |= static_cast<uint64_t>(word(pin, (first + done) / 32) >> shift) << done;
      done += 32 - shift;
    }
    field &= mask(bits);
    first += bits;
  });
  return record;
}

// Shows a record on a pin. Bits of a value beyond its field are dropped.
template <typename Record, typename Pin> void put(Pin &pin, Record record) {
  static_assert(sizeof(Pin) == pin_bytes(Record::kBits), "the pin has another width");
  unsigned first = 0;
  record.each([&](const uint64_t &field, unsigned bits) {
    const uint64_t value = field & mask(bits);
    for (unsigned done = 0; done < bits;) {
      const unsigned index = (first + done) / 32, shift = (first + done) % 32;
      const uint32_t kept =
          word(pin, index) & ~static_cast<uint32_t>(mask(bits - done < 32 ? bits - done : 32) << shift);
      set_word(pin, index, kept | static_cast<uint32_t>(value >> done << shift));
      done += 32 - shift;
    }
    first += bits;
  });
}

} // namespace testbench::records

#endif
