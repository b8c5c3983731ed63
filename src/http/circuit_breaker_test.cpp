#include "http/circuit_breaker.h"

#include <gtest/gtest.h>

namespace footnote::http {
namespace {

using std::chrono::milliseconds, std::chrono::steady_clock;
using Outcome = CircuitBreaker::Outcome;

struct CircuitBreakerTest : testing::Test {
  CircuitBreaker breaker{{.failures_max = 5, .rest_time = milliseconds{100}}};
  steady_clock::time_point now = steady_clock::now();

  bool may_call() { return breaker.admit("h:1", now).has_value(); }
  void call(Outcome outcome) {
    ASSERT_TRUE(may_call());
    breaker.ended("h:1", outcome, now);
  }
  void fail(int times) {
    for (int i = 0; i < times; ++i) call(Outcome::kFailed);
  }
};

TEST_F(CircuitBreakerTest, OpensAfterTheLastAllowedFailureInARow) {
  fail(4);
  call(Outcome::kGood);  // resets the count
  fail(4);
  EXPECT_TRUE(may_call());
  fail(1);
  const auto refused = breaker.admit("h:1", now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(breaker.admit("h:2", now));  // other peers are unaffected
}

TEST_F(CircuitBreakerTest, OneCallTriesAfterTheRest) {
  fail(5);
  now += milliseconds{99};
  EXPECT_FALSE(may_call());
  now += milliseconds{1};
  EXPECT_TRUE(may_call());
  EXPECT_FALSE(may_call());  // the first call is still in progress
  breaker.ended("h:1", Outcome::kFailed, now);
  EXPECT_FALSE(may_call());
  now += milliseconds{100};
  call(Outcome::kGood);
  fail(4);
  EXPECT_TRUE(may_call());
}

TEST_F(CircuitBreakerTest, ATryThatItsCallerGaveUpSaysNothing) {
  fail(5);
  now += milliseconds{100};
  call(Outcome::kUnknown);
  EXPECT_TRUE(may_call());
}

TEST_F(CircuitBreakerTest, SwitchedOffItLetsAllThrough) {
  CircuitBreaker off{{}};
  for (int i = 0; i < 100; ++i) off.ended("h:1", Outcome::kFailed, now);
  EXPECT_TRUE(off.admit("h:1", now));
}

TEST_F(CircuitBreakerTest, RemembersABoundedNumberOfPeers) {
  CircuitBreaker bounded{{.failures_max = 1}};
  for (std::size_t i = 0; i <= kBreakerPeersMax; ++i) bounded.ended(std::to_string(i), Outcome::kFailed, now);
  EXPECT_FALSE(bounded.admit(std::to_string(kBreakerPeersMax - 1), now));
  EXPECT_TRUE(bounded.admit(std::to_string(kBreakerPeersMax), now));
}

}  // namespace
}  // namespace footnote::http
