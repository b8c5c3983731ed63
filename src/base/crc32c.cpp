#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace footnote {

namespace {

/// The polynomial 0x1EDC6F41, bit-reversed.
constexpr std::uint32_t kPolynomial = 0x82F63B78;

/// tables[k][b]: the contribution of byte b, k bytes before the end of an 8-byte word.
constexpr auto make_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xFF];
    }
  }
  return tables;
}

constexpr auto kTables = make_tables();

#if defined(__x86_64__)
/// The instruction has a latency of three cycles and a throughput of one per cycle, so three adjacent lanes of this size are computed at a
/// time.
constexpr std::size_t kLaneBytes = 256;

/// tables[k][b]: byte k of a checksum with value b, advanced over kLaneBytes zero bytes.
constexpr auto make_shift_tables() {
  std::array<std::uint32_t, 32> of_bit{};
  for (std::size_t bit = 0; bit < 32; ++bit) {
    std::uint32_t crc = std::uint32_t{1} << bit;
    for (std::size_t i = 0; i < kLaneBytes; ++i) crc = (crc >> 8) ^ kTables[0][crc & 0xFF];
    of_bit[bit] = crc;
  }
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      for (std::size_t bit = 0; bit < 8; ++bit) tables[k][byte] ^= (byte >> bit & 1) != 0 ? of_bit[8 * k + bit] : 0;
    }
  }
  return tables;
}

constexpr auto kShiftTables = make_shift_tables();

std::uint64_t shifted(std::uint64_t crc) {
  return kShiftTables[0][crc & 0xFF] ^ kShiftTables[1][crc >> 8 & 0xFF] ^ kShiftTables[2][crc >> 16 & 0xFF] ^ kShiftTables[3][crc >> 24];
}

__attribute__((target("sse4.2"))) std::uint32_t crc32c_sse42(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint64_t crc = ~before;
  for (; bytes.size() >= 3 * kLaneBytes; bytes = bytes.subspan(3 * kLaneBytes)) {
    std::uint64_t second = 0, third = 0;
    for (std::size_t at = 0; at < kLaneBytes; at += sizeof(std::uint64_t)) {
      std::uint64_t words[3];
      for (std::size_t lane = 0; lane < 3; ++lane) std::memcpy(&words[lane], bytes.data() + lane * kLaneBytes + at, sizeof words[lane]);
      crc = _mm_crc32_u64(crc, words[0]);
      second = _mm_crc32_u64(second, words[1]);
      third = _mm_crc32_u64(third, words[2]);
    }
    crc = shifted(shifted(crc) ^ second) ^ third;
  }
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    crc = _mm_crc32_u64(crc, word);
    bytes = bytes.subspan(sizeof word);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (const std::byte byte : bytes) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(byte));
  return ~rest;
}
#endif

}  // namespace

namespace detail {

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(bytes[i]); };
  while (bytes.size() >= 8) {
    const std::uint32_t low = crc ^ (at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24);
    crc = kTables[7][low & 0xFF] ^ kTables[6][(low >> 8) & 0xFF] ^ kTables[5][(low >> 16) & 0xFF] ^ kTables[4][low >> 24] ^
          kTables[3][at(4)] ^ kTables[2][at(5)] ^ kTables[1][at(6)] ^ kTables[0][at(7)];
    bytes = bytes.subspan(8);
  }
  for (const std::byte byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(byte)) & 0xFF];
  return ~crc;
}

}  // namespace detail

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return crc32c_sse42(bytes, before);
#endif
  return detail::crc32c_portable(bytes, before);
}

}  // namespace footnote
