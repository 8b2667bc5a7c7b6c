// SPDX-License-Identifier: Apache-2.0
//
// A loop (spate/loop.h) of data that a user's logic sends: the library is the processor at the core's registers, the
// virtual drive is behind it. The volume is then judged by the tests' own reader of exFAT, and the files of the
// triggers by what the logic has sent. With a path as its argument, the program writes the volume there, for
// fsck.exfat.
#include "recording_loop.h"
#include "sim_testbench.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

extern "C" {
#include "../../../firmware/common/pattern.h"
#include "exfat_oracle.h"
}

namespace {

using namespace testbench;

constexpr uint64_t kVolumeBytes = 8 << 20;
constexpr uint64_t kAheadBytes = 4096;
constexpr unsigned kRelaxCycles = 50, kClockReadCycles = 10;

SimTestbenchConfig config_of() {
  SimTestbenchConfig config;
  config.options.bytes = kVolumeBytes;
  config.stall_percent = 10;
  return config;
}

struct Machine {
  Machine() {
    testbench.user.next_beat = [this](Beat &beat) {
      uint64_t words[kBeatBytes / 8];
      pattern_fill(words, 1, sent_bytes, kBeatBytes);
      __builtin_memcpy(beat.data(), words, kBeatBytes);
      sent_bytes += kBeatBytes;
      testbench.link.moved();
      return true;
    };
  }
  SimTestbench testbench{config_of()};
  uint64_t sent_bytes = 0;
};

Machine *machine; // the library's port has no context argument

std::vector<uint8_t> image_of(SimTestbench &testbench) {
  std::vector<uint8_t> image(kVolumeBytes);
  sim_store_read(sim_drive_store(testbench.drive), 0, image.data(), image.size());
  return image;
}

// A file is one piece of what was sent, from the place that is returned.
uint64_t place_of(SimTestbench &testbench, const struct oracle *oracle, const char *path, uint64_t &bytes) {
  const struct oracle_file *file = oracle_find(oracle, path);
  testbench.check(file != nullptr && file->bytes > 0, "%s is not there", path);
  bytes = file->bytes;
  uint64_t first = 0;
  const auto word_at = [&](uint64_t offset) {
    uint64_t word;
    __builtin_memcpy(&word, oracle_at(oracle, file, offset), sizeof word);
    return word;
  };
  while (first < machine->sent_bytes && pattern_word(1, first / 8) != word_at(0))
    first += 512;
  for (uint64_t at = 0; at < bytes; at += 8)
    testbench.check(word_at(at) == pattern_word(1, (first + at) / 8), "%s differs at %llu", path,
                    static_cast<unsigned long long>(at));
  return first;
}

void judge(SimTestbench &testbench, const std::vector<uint8_t> &image) {
  const auto oracle = std::make_unique<struct oracle>();
  uint64_t first_bytes, second_bytes;

  testbench.check(oracle_read(oracle.get(), image.data(), image.size()), "the volume: %s", oracle->fault);
  testbench.check(oracle->leaked == 0 && oracle->unallocated == 0 && oracle->cross_linked == 0, "clusters are wrong");
  const uint64_t first = place_of(testbench, oracle.get(), RECORDING_LOOP_FIRST, first_bytes);
  const uint64_t second = place_of(testbench, oracle.get(), RECORDING_LOOP_SECOND, second_bytes);
  testbench.check(second >= first + first_bytes, "a byte is in both files");
  oracle_free(oracle.get());
}

void run(const char *path) {
  SimTestbench &testbench = machine->testbench;
  uint64_t pushed_bytes = 0;
  std::vector<uint8_t> image(kVolumeBytes);

  recording_loop_volume(image.data(), image.size());
  (void)sim_store_write(sim_drive_store(testbench.drive), 0, image.data(), image.size());
  testbench.bring_up();
  testbench.check(recording_loop(0, &pushed_bytes), "the processor's program failed");
  // The core's input holds some beats that no piece has asked for.
  testbench.check(machine->sent_bytes - pushed_bytes < kAheadBytes, "%llu bytes were sent, and %llu pushed",
                  static_cast<unsigned long long>(machine->sent_bytes), static_cast<unsigned long long>(pushed_bytes));
  image = image_of(testbench);
  if (path != nullptr) {
    std::FILE *file = std::fopen(path, "wb");
    testbench.check(file != nullptr && std::fwrite(image.data(), image.size(), 1, file) == 1 && std::fclose(file) == 0,
                    "%s cannot be written", path);
  }
  judge(testbench, image);
}

} // namespace

// ---- the hosted port: the processor ----

// The virtual drive has a port of its own, to a processor of its own. The linker gives the library this one (--wrap).
extern "C" {
uint32_t __wrap_host_read32(uintptr_t address) {
  return machine->testbench.registers.read(static_cast<uint32_t>(address));
}
void __wrap_host_write32(uintptr_t address, uint32_t value) {
  machine->testbench.registers.write(static_cast<uint32_t>(address), value);
}
// The processor shares no memory with the drive.
void __wrap_host_dma_write_barrier(void) {}
void __wrap_host_dma_read_barrier(void) {}
void __wrap_host_cache_clean(const void *, size_t) {}
void __wrap_host_cache_invalidate(void *, size_t) {}
// The core's own milliseconds. The read takes time: otherwise a loop that only reads the clock would never end.
uint64_t __wrap_host_ticks(void) {
  machine->testbench.run(kClockReadCycles);
  return machine->testbench.board.now_ps() / kUsPerMs;
}
uint64_t __wrap_host_ticks_per_second(void) { return UINT64_C(1'000'000'000); }
void __wrap_host_relax(void) { machine->testbench.run(kRelaxCycles); }
void __wrap_host_log(const char *, uint64_t) {}
}

int main(int argc, char **argv) {
  try {
    Machine made;
    machine = &made;
    run(argc > 1 ? argv[1] : nullptr);
    std::printf("%llu bytes sent, %llu cycles\n", static_cast<unsigned long long>(made.sent_bytes),
                static_cast<unsigned long long>(made.testbench.board.cycles()));
    return 0;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "FAILED: %s\n", failure.what());
    return 1;
  }
}
