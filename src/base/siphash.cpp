#include "base/siphash.h"

#include <bit>
#include <cstddef>

namespace footnote {

namespace {

constexpr std::size_t kWordBytes = 8;

struct SipState {
  // With another key these would be combined with its halves.
  std::uint64_t v0 = 0x736f6d6570736575, v1 = 0x646f72616e646f6d, v2 = 0x6c7967656e657261, v3 = 0x7465646279746573;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void add(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t siphash24(std::span<const std::uint8_t> bytes) {
  SipState state;
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word |= std::uint64_t{bytes[i]} << (8 * (i % kWordBytes));
    if (i % kWordBytes != kWordBytes - 1) continue;
    state.add(word);
    word = 0;
  }
  state.add(word | std::uint64_t{bytes.size() & 0xff} << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace footnote
