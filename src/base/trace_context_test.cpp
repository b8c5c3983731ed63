#include "base/trace_context.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

constexpr std::string_view kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view kSpan = "00f067aa0ba902b7";

/// "trace span flags" of the parsed header, or "none".
std::string read(std::string_view header) {
  const auto trace = parse_traceparent(header);
  return trace ? trace->trace_id + " " + trace->span_id + " " + std::to_string(trace->flags) : "none";
}

TEST(Traceparent, ReadsAndWritesTheSame) {
  const std::string header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const auto trace = parse_traceparent(header);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->trace_id, kTrace);
  EXPECT_EQ(trace->span_id, kSpan);
  EXPECT_EQ(trace->flags, TraceContext::kSampled);
  EXPECT_EQ(to_traceparent(*trace), header);
}

TEST(Traceparent, FlagsWithoutAMeaningAreNotPassedOn) {
  EXPECT_EQ(read("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 0");
  EXPECT_EQ(read("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff"), "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 3");
  EXPECT_EQ(read("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fc"), "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 0");
}

TEST(Traceparent, OfALaterVersionTheKnownPartIsRead) {
  const std::string known = "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 1";
  EXPECT_EQ(read("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), known);
  EXPECT_EQ(read("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-brings"), known);
  EXPECT_EQ(read("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-"), known);
  EXPECT_EQ(read("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what-the-future-brings"), "none");
  EXPECT_EQ(read("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011"), "none");
  const auto later = parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more");
  ASSERT_TRUE(later);
  EXPECT_EQ(to_traceparent(*later), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01") << "we speak our own version";
}

TEST(Traceparent, WhatIsMalformedIsIgnored) {
  const std::string_view headers[] = {
      "",
      "0",
      "00",
      "00-",
      "00-4bf92f3577b34da6a3ce929d0e0e4736",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-001",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",  // This version has no further fields.
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",  // The forbidden version.
      "0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "000-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      ".0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",  // All-zero ids.
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",  // Upper case.
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0A",
      "FF-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "CC-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",  // Too short, too long.
      "00-4bf92f3577b34da6a3ce929d0e0e47366-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b77-01",
      "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
      " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01,00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  };
  for (const std::string_view header : headers) EXPECT_EQ(read(header), "none") << header;
  EXPECT_EQ(read(std::string_view("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\0", 56)), "none");
}

TEST(TraceContext, FreshOnesAreApartAndWellFormed) {
  const TraceContext a = TraceContext::fresh(), b = TraceContext::fresh();
  EXPECT_NE(a.trace_id, b.trace_id);
  EXPECT_NE(a.span_id, b.span_id);
  EXPECT_EQ(parse_traceparent(to_traceparent(a)), a);
  EXPECT_FALSE(TraceContext{});
}

TEST(TraceContext, AChildKeepsTheTraceAndItsFlags) {
  const TraceContext parent{std::string(kTrace), std::string(kSpan), 0};
  const TraceContext child = parent.child();
  EXPECT_EQ(child.trace_id, parent.trace_id);
  EXPECT_EQ(child.flags, parent.flags);
  EXPECT_NE(child.span_id, parent.span_id);
  EXPECT_EQ(parse_traceparent(to_traceparent(child)), child);
}

}  // namespace
}  // namespace footnote
