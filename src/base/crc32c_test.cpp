#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace footnote {
namespace {

std::uint32_t sum(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

std::vector<std::byte> random_bytes(std::mt19937& random, std::size_t size) {
  std::vector<std::byte> out(size);
  for (std::byte& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

TEST(Crc32c, GivesThePublishedValues) {
  // RFC 3720, appendix B.4.
  EXPECT_EQ(sum(""), 0U);
  EXPECT_EQ(sum("123456789"), 0xE3069283U);
  EXPECT_EQ(sum(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(sum(std::string(32, '\xFF')), 0x62A8AB43U);
}

TEST(Crc32c, TheInstructionAndTheTablesAgreeAtEveryLength) {
  std::mt19937 random(1);
  const auto bytes = random_bytes(random, 2600);  // Several rounds of the instruction's lanes, with a remainder.
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const auto part = std::span(bytes).first(size);
    EXPECT_EQ(crc32c(part, 7), detail::crc32c_portable(part, 7)) << size;
  }
}

TEST(Crc32c, PiecesChain) {
  std::mt19937 random(2);
  const auto bytes = random_bytes(random, 1000);
  for (const std::size_t cut : {0U, 1U, 7U, 8U, 500U, 1000U}) {
    EXPECT_EQ(crc32c(std::span(bytes).subspan(cut), crc32c(std::span(bytes).first(cut))), crc32c(bytes));
  }
}

TEST(Crc32c, EveryFlippedBitShows) {
  std::mt19937 random(3);
  auto bytes = random_bytes(random, 600);
  const std::uint32_t whole = crc32c(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_NE(crc32c(bytes), whole) << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
  }
}

}  // namespace
}  // namespace footnote
