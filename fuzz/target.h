#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"

// Shared by all fuzz targets. A target checks properties with FOOTNOTE_ASSERT: a violation aborts, and both drivers (libFuzzer and
// standalone_main.cpp) save the input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace footnote::fuzz {

/// Longer inputs are not tried: problems that need more bytes belong in the tests of the parser's limits.
inline constexpr std::size_t kInputBytesMax = 32 << 10;

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

/// SplitMix64: equal seeds give equal numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// 0 to bound - 1. REQUIRES: bound > 0.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t state_;
};

/// Consumes an input from its front, so that a corpus file is a few choices followed by text.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(as_text(data, size)) {}

  /// The next byte, 0 at the end.
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto out = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return out;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// The bytes in order, cut into pieces of 1 to about 16 bytes; the cuts depend only on the bytes.
inline std::vector<std::string_view> random_pieces(std::string_view bytes) {
  std::uint64_t seed = bytes.size();
  for (const char c : bytes) seed = seed * 1099511628211u + static_cast<unsigned char>(c);
  Random random(seed);
  const std::size_t longest = std::size_t{1} << random.below(5);
  std::vector<std::string_view> out;
  while (!bytes.empty()) {
    const std::size_t size = std::min(1 + random.below(longest), bytes.size());
    out.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return out;
}

}  // namespace footnote::fuzz
