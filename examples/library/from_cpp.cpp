// SPDX-License-Identifier: Apache-2.0
// The library in C++: checks the clock, then seals a chunk and reads its header back.
#include <array>
#include <cstdint>
#include <cstdio>
#include <spate/chunk.h>
#include <spate/clock.h>
#include <spate/port.h>
#include <spate/version.h>

int main() {
  static_assert(SPATE_VERSION_MAJOR >= 0);
  const enum spate_error error = spate_clock_check();
  if (error != SPATE_OK) {
    (void)std::fprintf(stderr, "%s. %s\n", spate_error_name(error), spate_error_help(error));
    return 1;
  }
  const std::uint64_t begin = spate_port_ticks();
  std::array<std::uint8_t, 4096> chunk{};
  const std::array<std::uint8_t, 16> stream{1, 2, 3};
  spate_chunk_seal(chunk.data(), stream.data(), 7, chunk.size());
  spate_chunk_header header{};
  const bool proved = spate_chunk_header_get(chunk.data(), &header);
  std::printf("spate %s: chunk %u of %u bytes\n", SPATE_VERSION, static_cast<unsigned>(header.number), header.bytes);
  return proved && spate_port_ticks() >= begin ? 0 : 1;
}
