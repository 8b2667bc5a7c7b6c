// SPDX-License-Identifier: Apache-2.0
//
// The Verilated `spate_pcie_axi` in the form that the board expects of a top. The adapter has no clock of a user.
#ifndef SPATE_BENCH_ADAPTER_MODEL_H
#define SPATE_BENCH_ADAPTER_MODEL_H

#define SPATE_ADAPTER_QUOTE(text)        #text
#define SPATE_ADAPTER_HEADER(class_name) SPATE_ADAPTER_QUOTE(class_name.h)
#include SPATE_ADAPTER_HEADER(SPATE_ADAPTER_VERILATED)

class AdapterModel : public SPATE_ADAPTER_VERILATED {
public:
  using SPATE_ADAPTER_VERILATED::SPATE_ADAPTER_VERILATED;
  CData user_clk_i = 0, user_rst_ni = 0;
};

#endif
