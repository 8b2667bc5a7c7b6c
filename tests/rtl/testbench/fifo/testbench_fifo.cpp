// SPDX-License-Identifier: Apache-2.0
//
// Ten million cycles of spate_fifo with random stalls on both sides: each word comes out once and in order, and the
// count equals the number of words inside. testbench_fifo [SEED [CYCLES]]

#include "Vfifo_model.h"

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

// Word number n, computed so that nothing needs to be stored: a bijection in which neighbours differ in many bits.
std::uint64_t word(std::uint64_t n) { return (n + 1) * 0x9E3779B97F4A7C15u; }

struct Testbench {
  Vfifo_model fifo;
  std::mt19937_64 random;
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;

  explicit Testbench(std::uint64_t seed) : random(seed) {}

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

  // One cycle. Two bits give each side's probability to move; they change every 64 cycles, so that the queue fills and
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
  Testbench testbench(seed);
  testbench.reset();
  const auto start = std::chrono::steady_clock::now();
  unsigned mood = 0;
  std::uint64_t choices = 0;
  for (std::uint64_t n = 0; n < cycles; n++) {
    choices = n % 16 == 0 ? testbench.random() : choices >> 4;
    mood = n % 64 == 0 ? static_cast<unsigned>(testbench.random()) : mood;
    if (!testbench.cycle(choices, mood)) {
      std::fprintf(stderr, "seed %" PRIu64 ", cycle %" PRIu64 "\n", seed, n);
      return 1;
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%" PRIu64 " cycles, %" PRIu64 " words, %.1f million cycles/s\n", cycles, testbench.popped,
              static_cast<double>(cycles) / seconds / 1e6);
  return testbench.popped > cycles / 8 ? 0 : 1;
}
