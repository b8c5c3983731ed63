#include "engine/sql/log_format.h"

#include <bit>
#include <cstring>

namespace footnote::sql {

namespace {

constexpr std::uint32_t kMagic = 0x377F0682;  // Plus 1 when sums read big-endian words.
constexpr std::uint32_t kVersion = 3'007'000;
constexpr std::size_t kPageBytesMin = 512;
constexpr std::size_t kPageBytesMax = 65'536;

template <bool kBigEndian>
std::uint32_t word_at(const std::byte* bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (kBigEndian != (std::endian::native == std::endian::big)) word = __builtin_bswap32(word);
  return word;
}

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) { return word_at<true>(bytes.data() + at); }
std::uint64_t salt_at(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint64_t>(number_at(bytes, at)) << 32 | number_at(bytes, at + 4);
}
LogSum sum_at(std::span<const std::byte> bytes, std::size_t at) { return {number_at(bytes, at), number_at(bytes, at + 4)}; }

template <bool kBigEndian>
LogSum add(LogSum sum, std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    sum.first += word_at<kBigEndian>(bytes.data() + at) + sum.second;
    sum.second += word_at<kBigEndian>(bytes.data() + at + 4) + sum.first;
  }
  return sum;
}

LogSum add(bool big_endian_words, LogSum sum, std::span<const std::byte> bytes) {
  return big_endian_words ? add<true>(sum, bytes) : add<false>(sum, bytes);
}

}  // namespace

std::optional<LogHeader> parse_log_header(std::span<const std::byte, kLogHeaderBytes> bytes) {
  const std::uint32_t magic = number_at(bytes, 0);
  if ((magic & ~1U) != kMagic || number_at(bytes, 4) != kVersion) return std::nullopt;
  const LogHeader header{
      .big_endian_words = (magic & 1) != 0, .page_bytes = number_at(bytes, 8), .salt = salt_at(bytes, 16), .sum = sum_at(bytes, 24)};
  if (header.page_bytes < kPageBytesMin || header.page_bytes > kPageBytesMax || !std::has_single_bit(header.page_bytes))
    return std::nullopt;
  if (add(header.big_endian_words, {}, bytes.first<24>()) != header.sum) return std::nullopt;
  return header;
}

LogFrameHeader parse_log_frame_header(std::span<const std::byte, kLogFrameHeaderBytes> bytes) {
  return {.commit_pages = number_at(bytes, 4), .salt = salt_at(bytes, 8), .sum = sum_at(bytes, 16)};
}

LogSum log_frame_sum(const LogHeader& log, LogSum before, std::span<const std::byte, kLogFrameHeaderBytes> frame,
                     std::span<const std::byte> data) {
  return add(log.big_endian_words, add(log.big_endian_words, before, frame.first<8>()), data);
}

bool is_one_bit_off(const LogHeader& log, LogSum computed, LogSum stored) {
  if (std::popcount(computed.first ^ stored.first) + std::popcount(computed.second ^ stored.second) == 1) return true;
  // Word by word the sum is a Fibonacci sequence with an input added at each step. A word that differs by d and is followed by m words
  // changes the sum by d * F(m) and d * F(m + 1).
  const LogSum off{stored.first - computed.first, stored.second - computed.second};
  LogSum weight{0, 1};
  for (std::size_t words = (8 + log.page_bytes) / 4; words > 0; --words) {
    for (int bit = 0; bit < 32; ++bit) {
      const LogSum change{weight.first << bit, weight.second << bit};
      if (off == change || off == LogSum{0 - change.first, 0 - change.second}) return true;
    }
    weight = {weight.second, weight.first + weight.second};
  }
  return false;
}

}  // namespace footnote::sql
