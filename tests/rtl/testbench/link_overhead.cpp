// SPDX-License-Identifier: Apache-2.0
// The overhead of a link: acknowledgements that are due, and ordered sets at their rate. The expected values are those
// of the PCI Express base specification, so that a link model without them fails here instead of flattering the core.
#include "dllp.h"
#include "link.h"
#include "wire.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace testbench;

void check(bool holds, const std::string &what) {
  if (!holds) throw std::runtime_error(what);
}

bool near(double value, double wanted) { return std::fabs(value - wanted) < 1e-6 * wanted + 1e-9; }

// PCI Express base specification 4.0, 3.6.3.1: the table for 2.5 GT/s, column x4, in symbols of 4 ns, rounded down.
void limit_is_that_of_the_table() {
  const struct {
    uint32_t payload_bytes;
    double symbols;
  } kTable[] = {{128, 73}, {256, 118}, {512, 154}};
  for (const auto &row : kTable) {
    LinkConfig config;
    config.generation = 1;
    config.payload_bytes = row.payload_bytes;
    check(std::floor(dllp_limit_ps(config) / 4000) == row.symbols, "the latency limit is not the table's");
  }
}

void dllp_for_two_packets_or_at_the_limit() {
  std::vector<uint32_t> sent;
  Dllps dllps([&sent](uint32_t amount) { sent.push_back(amount); });
  dllps.set_limit(100);
  dllps.tick(1000);
  check(sent.empty(), "a DLLP for no packet");
  dllps.add(1000, 3);
  dllps.tick(1099);
  check(sent.empty(), "a DLLP before two packets came and before the limit");
  dllps.tick(1100);
  check(sent == std::vector<uint32_t>{3}, "no DLLP at the limit");
  dllps.add(2000, 4);
  dllps.add(2001, 5);
  check(sent == std::vector<uint32_t>({3, 9}), "no DLLP for two packets, or not for both");
  dllps.tick(9000);
  check(sent.size() == 2, "a second DLLP for the same packets");
  dllps.add(9000, 1);
  dllps.clear();
  dllps.tick(99000);
  check(sent.size() == 2, "a DLLP for packets of before the link went down");
}

// A wire of 1 ps per byte, with an ordered set of 10 bytes every 1000.
constexpr Wire::Time kTime{1, 0, 1000, 10};

double arrival_ps(Wire &wire, uint32_t bytes, uint64_t ready_ps) {
  bool arrived = false;
  wire.push(1, {bytes, ready_ps, [&arrived] { arrived = true; }});
  uint64_t now_ps = ready_ps;
  while (!arrived)
    wire.tick(now_ps++);
  return static_cast<double>(now_ps - 1);
}

void busy_wire_loses_the_share_of_ordered_sets() {
  Wire wire(kTime);
  uint64_t arrived = 0;
  for (unsigned packet = 0; packet < 10000; packet++)
    wire.push(1, {100, 0, [&arrived] { arrived++; }});
  for (uint64_t now_ps = 0; now_ps <= 990'000; now_ps += 100)
    wire.tick(now_ps);
  check(arrived >= 9799 && arrived <= 9801, "a busy wire carries other than 99 % of its bytes");
}

void idle_wire_sends_ordered_sets_too() {
  Wire wire(kTime);
  // The ordered set of 5000 ends at 5010: a packet within it waits, a later one does not wait for any of the five.
  check(near(arrival_ps(wire, 100, 5005), 5110), "a packet does not wait for the ordered set on the wire");
  check(near(arrival_ps(wire, 100, 5500), 5600), "a packet waits for ordered sets of the past");
  // An ordered set that falls due during a packet waits for its end, and the next packet waits for the ordered set.
  check(near(arrival_ps(wire, 900, 5950), 6850), "an ordered set breaks a packet");
  check(near(arrival_ps(wire, 100, 6850), 6960), "an ordered set that was due is left out");
}

void rates_are_those_of_the_specification() {
  LinkConfig config;
  check(near(link_packet_bytes_per_s(config) / link_bytes_per_s(config), 1 - (4 * 16 + 4) / (4 * 370.0 * 16)),
        "Gen3: other than one SKP ordered set in 370 blocks");
  config.generation = 2;
  check(near(link_packet_bytes_per_s(config) / link_bytes_per_s(config), 1 - 4 / 1180.0),
        "Gen2: other than one SKP ordered set in 1180 symbols");
}

} // namespace

int main() {
  try {
    limit_is_that_of_the_table();
    dllp_for_two_packets_or_at_the_limit();
    busy_wire_loses_the_share_of_ordered_sets();
    idle_wire_sends_ordered_sets_too();
    rates_are_those_of_the_specification();
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "FAILED: %s\n", failure.what());
    return 1;
  }
  std::puts("link_overhead: holds");
  return 0;
}
