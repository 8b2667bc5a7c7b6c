// SPDX-License-Identifier: Apache-2.0
//
// The Verilated `spate_pcie_axi` in the form that the board expects of a top. The adapter has no clock of a user.
#ifndef SPATE_BENCH_ADAPTER_MODEL_H
#define SPATE_BENCH_ADAPTER_MODEL_H

#include "Vpcie_axi_model.h"

class AdapterModel : public Vpcie_axi_model {
public:
  using Vpcie_axi_model::Vpcie_axi_model;
  CData app_clk_i = 0, app_rst_ni = 0;
};

#endif
