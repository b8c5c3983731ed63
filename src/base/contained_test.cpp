#include "base/contained.h"

#include <gtest/gtest.h>

#include <new>

namespace footnote {
namespace {

TEST(Contained, WorkThatReturnsIsDone) {
  int runs = 0;
  EXPECT_TRUE(contained("app", "test", [&] { ++runs; }));
  EXPECT_EQ(runs, 1);
}

TEST(Contained, AnExceptionEndsTheWorkAlone) {
  EXPECT_FALSE(contained("app", "test", [] { throw std::bad_alloc(); }));
  EXPECT_FALSE(contained("app", "test", [] { throw 7; }));
}

}  // namespace
}  // namespace footnote
