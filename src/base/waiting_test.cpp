#include "base/waiting.h"

#include <gtest/gtest.h>

#include <string>

namespace footnote {
namespace {

class NotingLender final : public ThreadLender {
 public:
  void begin_waiting() override { told += "b"; }
  void end_waiting() override { told += "e"; }
  std::string told;
};

TEST(WaitingTest, TellsTheLenderOnceHoweverDeepItIsNested) {
  NotingLender lender;
  const LentThread lent(lender);
  {
    const Waiting outer;
    const Waiting inner;
    EXPECT_EQ(lender.told, "b");
  }
  EXPECT_EQ(lender.told, "be");
  {
    const Waiting again;
  }
  EXPECT_EQ(lender.told, "bebe");
}

TEST(WaitingTest, MeansNothingOnAThreadThatNobodyLent) {
  NotingLender lender;
  {
    const LentThread lent(lender);
  }
  {
    const Waiting waiting;
  }
  EXPECT_EQ(lender.told, "");
}

}  // namespace
}  // namespace footnote
