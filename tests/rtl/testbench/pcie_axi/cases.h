// SPDX-License-Identifier: Apache-2.0
//
// The promises of spate_pcie_axi, as functions that fail when one is broken.
#ifndef SPATE_BENCH_PCIE_AXI_CASES_H
#define SPATE_BENCH_PCIE_AXI_CASES_H

#include "bench.h"

namespace testbench {

// traffic_cases.cpp
void what_was_written_is_read(Bench &bench);
void fixed_bursts_stay_at_their_address(Bench &bench);
void outside_the_aperture_is_stray(Bench &bench);
void bursts_of_512_bytes_leave_no_gap(Bench &bench);
void responses_that_are_not_taken_wait(Bench &bench);
void adapter_is_not_quiet_during_an_access(Bench &bench);

// register_cases.cpp
void registers_and_configuration(Bench &bench);
void adapter_reset_gives_up_a_silent_read(Bench &bench);
void adapter_reset_gives_up_a_silent_write(Bench &bench);
void adapter_reset_at_any_moment_ends_a_request(Bench &bench);

// reset_cases.cpp
void adapter_reset_answers_and_drops(Bench &bench);
void bridge_is_reset_in_mid_burst(Bench &bench);
void bridge_is_reset_while_its_clock_is_stopped(Bench &bench);
void clock_that_stops_without_a_reset_is_waited_for(Bench &bench);
void core_is_reset_alone_while_quiet(Bench &bench);

} // namespace testbench

#endif
