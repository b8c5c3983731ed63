#include "base/waiting.h"

#include <gtest/gtest.h>

#include <string>

namespace footnote {
namespace {

class NotingLender final : public ThreadLender {
 public:
  void begin_waiting() override { events += "b"; }
  void end_waiting() override { events += "e"; }
  std::string events;
};

TEST(WaitingTest, TellsTheLenderOnceHoweverDeepItIsNested) {
  NotingLender lender;
  const LentThread lent(lender);
  {
    const Waiting outer;
    const Waiting inner;
    EXPECT_EQ(lender.events, "b");
  }
  EXPECT_EQ(lender.events, "be");
  {
    const Waiting again;
  }
  EXPECT_EQ(lender.events, "bebe");
}

TEST(WaitingTest, MeansNothingOnAThreadThatNobodyLent) {
  NotingLender lender;
  {
    const LentThread lent(lender);
  }
  {
    const Waiting waiting;
  }
  EXPECT_EQ(lender.events, "");
}

}  // namespace
}  // namespace footnote
