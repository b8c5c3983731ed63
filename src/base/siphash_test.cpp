#include "base/siphash.h"

#include <gtest/gtest.h>

#include <array>

namespace footnote {
namespace {

TEST(SipHash, GivesTheValuesOfAnotherImplementation) {
  const std::array<std::uint8_t, 16> bytes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_EQ(siphash24({}), 0x1e924b9d737700d7ULL);
  EXPECT_EQ(siphash24(std::span(bytes).first(5)), 0x68f1ce874c39785bULL);
  EXPECT_EQ(siphash24(std::span(bytes).first(8)), 0xc72b1c24fc2f7938ULL);
  EXPECT_EQ(siphash24(bytes), 0xc902632ed88f897fULL);
}

}  // namespace
}  // namespace footnote
