#include "api/live_streams.h"

#include <gtest/gtest.h>

namespace footnote::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LiveStream, GivesWhatCameAfterANumber) {
  LiveStream stream({"conv_1"});
  EXPECT_EQ(stream.push("one").id, 1u);
  EXPECT_EQ(stream.push("two").id, 2u);
  const auto batch = stream.after(1, milliseconds{0});
  ASSERT_EQ(batch.events.size(), 1u);
  EXPECT_EQ(batch.events[0].data, "two");
  EXPECT_FALSE(batch.lost);
  EXPECT_FALSE(batch.ended);
  EXPECT_TRUE(stream.after(2, milliseconds{0}).events.empty());
  stream.end();
  EXPECT_TRUE(stream.after(2, seconds{30}).ended) << "at once";
}

TEST(LiveStream, WaitsForTheNext) {
  LiveStream stream({"conv_1"});
  std::jthread later([&] { stream.push("one"); });
  const auto batch = stream.after(0, seconds{30});
  ASSERT_EQ(batch.events.size(), 1u);
}

TEST(LiveStream, TheRingIsBoundedAndSaysWhatItLost) {
  LiveStream stream({"conv_1"});
  const std::string half(LiveStream::kRingBytesMax / 2, 'x');
  stream.push(half);
  stream.push(half);
  EXPECT_FALSE(stream.after(0, milliseconds{0}).lost) << "both fit exactly";
  stream.push("y");
  EXPECT_TRUE(stream.after(0, milliseconds{0}).lost);
  EXPECT_FALSE(stream.after(1, milliseconds{0}).lost);
}

TEST(LiveStream, IsAloneWhileNobodyReadsUntilItsEnd) {
  LiveStream stream({"conv_1"});
  EXPECT_TRUE(stream.alone_since());
  stream.reader_came();
  stream.reader_came();
  stream.reader_left();
  EXPECT_FALSE(stream.alone_since());
  stream.reader_left();
  EXPECT_TRUE(stream.alone_since());
  stream.end();
  EXPECT_FALSE(stream.alone_since());
}

TEST(LiveStream, StoppedAndAbandonedDiffer) {
  LiveStream stream({"conv_1"});
  stream.abandon();
  EXPECT_TRUE(stream.cancelled().stop_requested());
  EXPECT_FALSE(stream.stopped().stop_requested());
  stream.stop();
  EXPECT_TRUE(stream.stopped().stop_requested());
}

void wait_until(const std::function<bool()>& done) {
  const auto patience = std::chrono::steady_clock::now() + seconds{30};
  while (!done() && std::chrono::steady_clock::now() < patience) std::this_thread::sleep_for(milliseconds{5});
}

TEST(LiveStreams, OnlyTheConversationItselfFindsItsStream) {
  LiveStreams streams({});
  const auto stream = std::make_shared<LiveStream>(ConversationId{"conv_1"});
  ASSERT_TRUE(streams.add({"turn_1"}, stream));
  EXPECT_EQ(streams.find({"turn_1"}, {"conv_1"}), stream);
  EXPECT_EQ(streams.find({"turn_1"}, {"conv_2"}), nullptr);
  EXPECT_EQ(streams.find({"turn_2"}, {"conv_1"}), nullptr);
}

TEST(LiveStreams, AreBounded) {
  LiveStreams streams({.streams_max = 1});
  EXPECT_TRUE(streams.add({"turn_1"}, std::make_shared<LiveStream>(ConversationId{"c"})));
  EXPECT_FALSE(streams.add({"turn_2"}, std::make_shared<LiveStream>(ConversationId{"c"})));
}

TEST(LiveStreams, WhatNobodyReadsIsAbandonedAfterTheGraceAndForgottenAfterItsEnd) {
  LiveStreams streams({.resume_grace = milliseconds{20}});
  const auto left = std::make_shared<LiveStream>(ConversationId{"c"});
  const auto read = std::make_shared<LiveStream>(ConversationId{"c"});
  read->reader_came();
  ASSERT_TRUE(streams.add({"left"}, left));
  ASSERT_TRUE(streams.add({"read"}, read));
  wait_until([&] { return left->cancelled().stop_requested(); });
  EXPECT_TRUE(left->cancelled().stop_requested());
  EXPECT_FALSE(read->cancelled().stop_requested());
  left->end();
  wait_until([&] { return streams.find({"left"}, {"c"}) == nullptr; });
  EXPECT_EQ(streams.find({"left"}, {"c"}), nullptr);
  EXPECT_EQ(streams.find({"read"}, {"c"}), read);
}

}  // namespace
}  // namespace footnote::api
