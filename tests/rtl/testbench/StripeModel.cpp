// SPDX-License-Identifier: Apache-2.0
#include "StripeModel.h"

#include <cstring>

namespace {

// The bytes of a pin. This program and Verilator both use a little-endian machine.
template <typename Value> unsigned char *bytes_of(Value &value) { return reinterpret_cast<unsigned char *>(&value); }
template <std::size_t Words> unsigned char *bytes_of(VlWide<Words> &value) {
  return reinterpret_cast<unsigned char *>(value.data());
}

// One drive's part of a vector over all drives. A part that does not begin at a byte fits into 64 bits.
template <unsigned Bits, typename Vector, typename Pin> void pack(Vector &vector, unsigned index, Pin &pin) {
  if constexpr (Bits % 8 == 0) {
    std::memcpy(bytes_of(vector) + index * (Bits / 8), bytes_of(pin), Bits / 8);
  } else {
    const uint64_t mask = (UINT64_C(1) << Bits) - 1;
    const unsigned shift = index * Bits;
    vector = static_cast<Vector>((vector & ~(mask << shift)) | (pin & mask) << shift);
  }
}

template <unsigned Bits, typename Vector, typename Pin> void unpack(Vector &vector, unsigned index, Pin &pin) {
  if constexpr (Bits % 8 == 0)
    std::memcpy(bytes_of(pin), bytes_of(vector) + index * (Bits / 8), Bits / 8);
  else
    pin = static_cast<Pin>(vector >> index * Bits & ((UINT64_C(1) << Bits) - 1));
}

} // namespace

StripeModel::StripeModel() = default;
StripeModel::~StripeModel() = default;

StripeModel::StripeModel(VerilatedContext *context, const char *name)
    : whole_(std::make_unique<Vstripe>(context, name)), other_(new StripeModel()) {}

void StripeModel::eval() {
  Vstripe &whole = *whole_;
  whole.axi_aclk_i = axi_aclk_i ? (1u << kDrives) - 1 : 0;
#define SPATE_STRIPE_PIN(name) whole.name = name;
  SPATE_STRIPE_SHARED_INPUTS(SPATE_STRIPE_PIN)
#undef SPATE_STRIPE_PIN
#define SPATE_STRIPE_PIN(name, bits) pack<bits>(whole.name, index, member(index).name);
  for (unsigned index = 0; index < kDrives; index++) {
    SPATE_STRIPE_DRIVE_INPUTS(SPATE_STRIPE_PIN)
  }
#undef SPATE_STRIPE_PIN
  whole.eval();
#define SPATE_STRIPE_PIN(name) name = whole.name;
  SPATE_STRIPE_SHARED_OUTPUTS(SPATE_STRIPE_PIN)
#undef SPATE_STRIPE_PIN
#define SPATE_STRIPE_PIN(name, bits) unpack<bits>(whole.name, index, member(index).name);
  for (unsigned index = 0; index < kDrives; index++) {
    SPATE_STRIPE_DRIVE_OUTPUTS(SPATE_STRIPE_PIN)
  }
#undef SPATE_STRIPE_PIN
}
