// SPDX-License-Identifier: Apache-2.0
//
// rtl_demo IMAGE BYTES…: the core on QEMU's NVMe drive with this image, one clip for each length. tools/rtl_demo.py
// starts it and checks the image.
//
// On the board: the Verilated core, a bridge in root port mode, QEMU's drive below it, a sensor at the core's write
// stream, and at its registers a processor, which is the C library in this program.

#include "qemu_drive.h"
#include "recording.h"
#include "registers.h"
#include "user.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include "../../../firmware/common/pattern.h"
#include <spate/gateware_registers.h>
#include <spate_board.h>
}

namespace {

using namespace testbench;

constexpr uint64_t kBlockBytes = 512;
constexpr unsigned kRelaxCycles = 50;
constexpr unsigned kClockReadCycles = 10;

BridgeConfig bridge_config() {
  BridgeConfig config;
  config.bar_axi_base = SPATE_MODEL_BAR_BASE;
  config.bar_bus_base = SPATE_MODEL_BAR_BASE;
  return config;
}

// Sends one clip after the other, each padded to whole blocks, as fast as the core takes it.
class Sensor {
public:
  explicit Sensor(std::vector<uint64_t> lengths) : lengths_(std::move(lengths)) {}
  bool next(Beat &beat) {
    if (clip_ == lengths_.size()) return false;
    uint64_t words[kBeatBytes / 8];
    pattern_fill(words, clip_ + 1, at_, kBeatBytes);
    __builtin_memcpy(beat.data(), words, kBeatBytes);
    at_ += kBeatBytes;
    if (at_ >= (lengths_[clip_] + kBlockBytes - 1) / kBlockBytes * kBlockBytes) {
      clip_++;
      at_ = 0;
    }
    return true;
  }
  bool done() const { return clip_ == lengths_.size(); }

private:
  std::vector<uint64_t> lengths_;
  uint32_t clip_ = 0;
  uint64_t at_ = 0;
};

struct Machine {
  explicit Machine(const std::vector<uint64_t> &lengths) : sensor(lengths) {
    user.next_beat = [this](Beat &beat) { return sensor.next(beat); };
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; i++)
      drive.step();
  }

  struct qtest qtest {};
  Board board{BoardConfig{}};
  Bridge bridge{board, bridge_config()};
  QemuDrive drive{board, bridge, qtest, SPATE_MODEL_BAR_BASE};
  User user{board, 0};
  Registers registers{board};
  Sensor sensor;
};

Machine *machine; // the library's port has no context argument

void start_qemu(struct qtest &qtest, const char *image) {
  qtest_prepare(&qtest);
  qtest.untouched = true;
  const std::string drive = std::string("if=none,id=d0,format=raw,cache=unsafe,file=") + image;
  const char *const arguments[] = {"-drive", drive.c_str(), "-device",
                                   "nvme,serial=SPATE-RTL,addr=01.0,drive=d0,mdts=7", nullptr};
  qtest_start(&qtest, arguments);
}

// Checks all error counters of the core.
bool is_flawless() {
  static const char *const names[] = {"reads outside the windows",
                                      "writes outside the windows",
                                      "accesses of an earlier bring-up",
                                      "completions with the wrong phase",
                                      "completions in the wrong place",
                                      "completions for no command",
                                      "impossible queue heads",
                                      "commands sent again",
                                      "recoveries",
                                      "commands that failed"};
  bool good = true;
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
    const uint32_t count = machine->registers.read(SPATE_REGS_COUNTERS + 4 * i);
    if (count == 0) continue;
    std::printf("\nFAILED at counting: the core saw %u %s\n", count, names[i]);
    good = false;
  }
  return good;
}

bool run_demo(const std::vector<uint64_t> &lengths) {
  static const char *const paths[] = {"CLIPS/CLIP_A.RAW", "CLIPS/CLIP_B.RAW", "CLIPS/CLIP_C.RAW"};
  std::vector<recording_clip> clips;
  for (std::size_t i = 0; i < lengths.size(); i++)
    clips.push_back({paths[i], lengths[i]});
  std::printf("board  the core, Verilated: %u-bit, one drive behind an AXI-PCIe bridge, windows at %08llx\n",
              kBeatBytes * 8, (unsigned long long)SPATE_MODEL_WINDOW_BASE);
  machine->board.reset();
  if (!record_clips(0, clips.data(), static_cast<unsigned>(clips.size())) || !is_flawless()) return false;
  const QemuMirror::Counters &counters = machine->drive.mirror().counters();
  std::printf(
      "QEMU   read %llu admin and %llu I/O commands and %llu PRP lists as the core composed them, %llu MiB of data;\n"
      "       wrote %llu completions, which the core took; %llu doorbells, %llu million cycles\n",
      (unsigned long long)counters.admin_commands, (unsigned long long)counters.io_commands,
      (unsigned long long)counters.lists, (unsigned long long)(counters.written_bytes >> 20),
      (unsigned long long)counters.completions, (unsigned long long)counters.doorbells,
      (unsigned long long)(machine->board.cycles() / 1'000'000));
  if (machine->drive.mirror().refused() != 0 || !machine->sensor.done()) {
    std::printf("\nFAILED at mirroring: %llu accesses refused, sensor %s\n",
                (unsigned long long)machine->drive.mirror().refused(), machine->sensor.done() ? "done" : "not done");
    return false;
  }
  return true;
}

} // namespace

// ---- the hosted port: the processor ----

uint32_t host_read32(uintptr_t address) {
  const uint32_t value = machine->registers.read(static_cast<uint32_t>(address));
  machine->drive.serve();
  return value;
}
void host_write32(uintptr_t address, uint32_t value) {
  machine->registers.write(static_cast<uint32_t>(address), value);
  machine->drive.serve();
}
// The processor shares no memory with the drive.
void host_dma_write_barrier(void) {}
void host_dma_read_barrier(void) {}
void host_cache_clean(const void *, size_t) {}
void host_cache_invalidate(void *, size_t) {}
uint64_t host_dma_address(const volatile void *) { std::abort(); }
// The core's own milliseconds, from its clock, which also determines its deadlines. The read takes time, as that of a
// timer on a bus: otherwise a loop that only reads the clock would never end.
uint64_t host_ticks(void) {
  machine->run(kClockReadCycles);
  return machine->board.now_ps() / SPATE_MODEL_US_PER_MS;
}
uint64_t host_ticks_per_second(void) { return UINT64_C(1'000'000'000); }
void host_relax(void) { machine->run(kRelaxCycles); }
void host_log(const char *text, uint64_t value) {
  if (std::getenv("SPATE_LOG") != nullptr) std::fprintf(stderr, "spate: %s %llx\n", text, (unsigned long long)value);
}

int main(int argc, char **argv) {
  std::vector<uint64_t> lengths;
  for (int i = 2; i < argc; i++)
    lengths.push_back(std::strtoull(argv[i], nullptr, 0));
  if (lengths.empty() || lengths.size() > 3) {
    std::fprintf(stderr, "rtl_demo IMAGE BYTES [BYTES [BYTES]]\n");
    return 2;
  }
  Machine made(lengths);
  machine = &made;
  start_qemu(made.qtest, argv[1]);
  bool good = false;
  try {
    good = run_demo(lengths);
  } catch (const Failure &failure) {
    std::printf("\nFAILED on the board: %s\n", failure.what());
  }
  qtest_stop(&made.qtest);
  return good ? 0 : 1;
}
