#include "base/result.h"

#include <gtest/gtest.h>

#include "base/call_context.h"

namespace footnote {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return fail_field(ErrorCode::kInvalidArgument, "number", "{} is odd", number);
  return number / 2;
}

Result<int> quarter_of(int number) {
  FOOTNOTE_TRY(const int half, half_of(number));
  FOOTNOTE_CHECK(half_of(half));
  return half / 2;
}

TEST(Result, TryUnwrapsOrReturnsTheError) {
  EXPECT_EQ(*quarter_of(8), 2);
  EXPECT_EQ(quarter_of(6).error().message, "3 is odd");
  EXPECT_EQ(quarter_of(5).error().field, "number");
}

TEST(Result, ContextKeepsCodeAndField) {
  const Error error = with_context(half_of(3).error(), "read config").error();
  EXPECT_EQ(error.message, "read config: 3 is odd");
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.field, "number");
}

TEST(Error, CodesHaveStableNames) {
  EXPECT_EQ(to_string(ErrorCode::kInvalidArgument), "invalid_argument");
  EXPECT_EQ(to_string(ErrorCode::kDeadlineExceeded), "deadline_exceeded");
  EXPECT_EQ(to_string(ErrorCode::kInternal), "internal");
}

TEST(CallContext, EndsByStopOrDeadline) {
  EXPECT_TRUE(CallContext{}.check());
  EXPECT_TRUE(CallContext::with_timeout(std::chrono::hours{1}).check());
  EXPECT_EQ(CallContext::with_timeout(std::chrono::milliseconds{0}).check().error().code, ErrorCode::kDeadlineExceeded);
  std::stop_source stop;
  const CallContext call{.stop = stop.get_token()};
  EXPECT_TRUE(call.check());
  stop.request_stop();
  EXPECT_EQ(call.check().error().code, ErrorCode::kCancelled);
}

TEST(CallContext, NarrowingNeverWidens) {
  const CallContext soon = CallContext::with_timeout(std::chrono::milliseconds{1});
  EXPECT_EQ(soon.narrowed(std::chrono::hours{1}).deadline, soon.deadline);
  EXPECT_LT(CallContext{}.narrowed(std::chrono::hours{1}).deadline, CallContext{}.deadline);
}

}  // namespace
}  // namespace footnote
