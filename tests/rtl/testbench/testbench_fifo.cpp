// SPDX-License-Identifier: Apache-2.0
//
// Ten million cycles of spate_fifo with both sides stalling at random: each word comes out once, in order, and the
// count is what is inside. testbench_fifo [SEED [CYCLES]]

#include "Vfifo_model.h"

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

// Word number n, so that nothing needs to be remembered: a bijection, and neighbours differ in many bits.
std::uint64_t word(std::uint64_t n) { return (n + 1) * 0x9E3779B97F4A7C15u; }

struct Bench {
  Vfifo_model fifo;
  std::mt19937_64 random;
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;

  explicit Bench(std::uint64_t seed) : random(seed) {}

  void edge() {
    fifo.clk_i = 1;
    fifo.eval();
    fifo.clk_i = 0;
    fifo.eval();
  }

  void reset() {
    fifo.clk_i = 0;
    fifo.in_valid_i = 0;
    fifo.out_ready_i = 0;
    fifo.rst_ni = 0;
    edge();
    fifo.rst_ni = 1;
  }

  // One cycle; each side's chance to move comes from two bits that change every 64 cycles, so that it fills and
  // empties.
  bool cycle(std::uint64_t choice, unsigned mood) {
    fifo.in_valid_i = (choice & 3) >= (mood & 3);
    fifo.in_data_i = fifo.in_valid_i ? word(pushed) : choice;
    fifo.out_ready_i = ((choice >> 2) & 3) >= ((mood >> 2) & 3);
    fifo.eval();
    if (fifo.count_o != pushed - popped) {
      std::fprintf(stderr, "count is %u with %" PRIu64 " words inside\n", fifo.count_o, pushed - popped);
      return false;
    }
    if (fifo.out_valid_o && fifo.out_ready_i) {
      if (fifo.out_data_o != word(popped)) {
        std::fprintf(stderr, "word %" PRIu64 " came out wrong\n", popped);
        return false;
      }
      popped++;
    }
    pushed += fifo.in_valid_i && fifo.in_ready_o;
    edge();
    return true;
  }
};

} // namespace

int main(int argc, char **argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
  const std::uint64_t cycles = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 10'000'000;
  Bench bench(seed);
  bench.reset();
  const auto start = std::chrono::steady_clock::now();
  unsigned mood = 0;
  std::uint64_t choices = 0;
  for (std::uint64_t n = 0; n < cycles; n++) {
    choices = n % 16 == 0 ? bench.random() : choices >> 4;
    mood = n % 64 == 0 ? static_cast<unsigned>(bench.random()) : mood;
    if (!bench.cycle(choices, mood)) {
      std::fprintf(stderr, "seed %" PRIu64 ", cycle %" PRIu64 "\n", seed, n);
      return 1;
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%" PRIu64 " cycles, %" PRIu64 " words, %.1f million cycles/s\n", cycles, bench.popped,
              static_cast<double>(cycles) / seconds / 1e6);
  return bench.popped > cycles / 8 ? 0 : 1;
}
