#include "base/pii.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

TEST(MaskPii, ReplacesWhatIdentifiesAPerson) {
  const std::pair<std::string, std::string> table[] = {
      {"Write to anna.berg+x@example.co.uk.", "Write to [email]."},
      {"Call +46 70 123 45 67 or 0031-20-1234567!", "Call [phone] or [phone]!"},
      {"My card is 4111 1111 1111 1111, why?", "My card is [account], why?"},
      {"Pay NL91 ABNA 0417 1643 00 now", "Pay [account] now"},
  };
  for (const auto& [text, masked] : table) EXPECT_EQ(mask_pii(text), masked) << text;
}

TEST(MaskPii, LeavesNumbersThatIdentifyNobody) {
  for (const std::string text : {"", "On 2026-03-01 at 09:30", "1.234.567,00 euro", "Order 12345678", "a@b", "@example.com", "100 % of 20",
                                 "v1.2.3", "4111 1111 1111 1112", "01.02.2026 - 03.04.2026", "EU and NL", "+1"}) {
    EXPECT_EQ(mask_pii(text), text);
  }
}

TEST(MaskPii, IsLinearInOddTexts) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "a.";
  EXPECT_EQ(mask_pii(text), text);
}

}  // namespace
}  // namespace footnote
