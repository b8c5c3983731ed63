#include "http/sse_parser.h"

#include <gtest/gtest.h>

#include <random>

#include "http/stream.h"

namespace footnote::http {
namespace {

std::vector<SseEvent> parse(std::string_view text, std::size_t slice = std::string_view::npos) {
  SseParser parser;
  std::vector<SseEvent> out;
  while (!text.empty()) {
    const auto events = parser.feed(text.substr(0, slice));
    EXPECT_TRUE(events);
    out.insert(out.end(), events->begin(), events->end());
    text.remove_prefix(std::min(slice, text.size()));
  }
  return out;
}

/// "event|data|id;..." with line ends as \n
std::string shown(std::string_view text) {
  std::string out;
  for (const SseEvent& event : parse(text)) out += fmt::format("{}|{}|{};", event.event, event.data, event.id);
  return out;
}

TEST(SseParserTest, ReadsEvents) {
  EXPECT_EQ(shown("data: a\n\n"), "message|a|;");
  EXPECT_EQ(shown("data:a\n\ndata:  b\n\n"), "message|a|;message| b|;");
  EXPECT_EQ(shown("event: x\ndata: a\ndata: b\nid: 7\n\ndata: c\n\n"), "x|a\nb|7;message|c|7;");
  EXPECT_EQ(shown("data\n\n"), "message||;");
  EXPECT_EQ(shown("data: [DONE]\n\n"), "message|[DONE]|;");
}

TEST(SseParserTest, SkipsWhatIsNoEvent) {
  EXPECT_EQ(shown(": comment\n\n"), "");
  EXPECT_EQ(shown("event: x\n\ndata: a\n\n"), "message|a|;");
  EXPECT_EQ(shown("retry: 10\nunknown: y\ndata: a\n\n"), "message|a|;");
  EXPECT_EQ(shown("data: a\n"), "");
  EXPECT_EQ(shown("\n\n\n"), "");
}

TEST(SseParserTest, KnowsEveryLineEndAndTheByteOrderMark) {
  EXPECT_EQ(shown("data: a\r\rdata: b\r\n\r\ndata: c\n\n"), "message|a|;message|b|;message|c|;");
  EXPECT_EQ(shown("\xEF\xBB\xBF"
                  "data: a\n\n\xEF\xBB\xBF"
                  "data: b\n\n"),
            "message|a|;");
}

TEST(SseParserTest, AnySlicingGivesTheSameEvents) {
  std::mt19937 random(7);
  const std::string_view parts[] = {"data: ", "data",     "event: x",         "id: 1", ":c",          "\n", "\r", "\r\n",
                                    "\n\n",   "\xC3\xA9", "\xF0\x9F\x98\x80", " ",     "\xEF\xBB\xBF"};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += parts[random() % std::size(parts)];
    const std::vector<SseEvent> whole = parse(text);
    for (const std::size_t slice : {1, 2, 3, 7}) ASSERT_EQ(parse(text, slice), whole) << "round " << round;
    SseParser parser;
    std::vector<SseEvent> cut;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 9;
      const auto events = parser.feed(std::string_view(text).substr(at, size));
      cut.insert(cut.end(), events->begin(), events->end());
      at += size;
    }
    ASSERT_EQ(cut, whole) << "round " << round;
  }
}

TEST(SseParserTest, ReadsBackWhatTheWriterFrames) {
  std::mt19937 random(11);
  const std::string_view parts[] = {"a", "data: ", ":", "\n", "\r", "\r\n", " ", "event: x", "\xE2\x82\xAC", ""};
  for (int round = 0; round < 200; ++round) {
    std::string data;
    for (int i = 0; i < 20; ++i) data += parts[random() % std::size(parts)];
    RecordedStream stream;
    ASSERT_TRUE(stream.start_sse({}).send_event("name\nx", data));
    std::string expected;
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (data[i] == '\r' && i + 1 < data.size() && data[i + 1] == '\n') continue;
      expected += data[i] == '\r' ? '\n' : data[i];
    }
    const std::vector<SseEvent> want{{"name", expected, ""}};
    ASSERT_EQ(parse(stream.response().body), want);
  }
}

TEST(SseParserTest, BoundsALine) {
  SseParser parser;
  const std::string line = "data: " + std::string(kSseLineBytesMax - 6, 'x');
  EXPECT_TRUE(parser.feed(line));
  const auto events = parser.feed("\n\n");
  ASSERT_TRUE(events);
  EXPECT_EQ(events->at(0).data.size(), kSseLineBytesMax - 6);
  EXPECT_TRUE(parser.feed(line));
  EXPECT_EQ(parser.feed("x").error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(parser.feed("\n\ndata: a\n\n").error().code, ErrorCode::kTooLarge);
}

TEST(SseParserTest, BoundsAnEvent) {
  SseParser parser;
  const std::string line = "data: " + std::string(kSseLineBytesMax / 2, 'x') + "\n";
  Result<std::vector<SseEvent>> last;
  std::size_t lines = 0;
  while ((last = parser.feed(line)) && lines < 100) ++lines;
  EXPECT_EQ(last.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(lines, kSseEventBytesMax / (kSseLineBytesMax / 2) - 1);
}

TEST(SseParserTest, BoundsAnId) {
  const std::string longest(kSseIdBytesMax, 'i');
  EXPECT_EQ(parse("id: " + longest + "\ndata: a\n\n"), (std::vector<SseEvent>{{"message", "a", longest}}));
  EXPECT_EQ(parse("id: 1\nid: " + longest + "i\ndata: a\n\n"), (std::vector<SseEvent>{{"message", "a", "1"}}));
}

TEST(SseWriterTest, FramesLines) {
  RecordedStream stream;
  SseWriter& writer = stream.start_sse({{"x-extra", "1"}});
  ASSERT_TRUE(writer.send("a\nb"));
  ASSERT_TRUE(writer.send("c\r\nd\re"));
  ASSERT_TRUE(writer.send(""));
  ASSERT_TRUE(writer.comment("hello\nthere"));
  EXPECT_EQ(stream.response().body, "data: a\ndata: b\n\ndata: c\ndata: d\ndata: e\n\ndata: \n\n: hello\n: there\n\n");
  EXPECT_EQ(stream.response().headers.find("x-extra"), "1");
  stream.fail_with(ErrorCode::kCancelled);
  EXPECT_EQ(writer.send("x").error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace footnote::http
