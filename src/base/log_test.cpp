#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

namespace footnote {
namespace {

/// What `body` logged, line by line, each parsed.
std::vector<JsonObject> logged(const std::function<void()>& body) {
  testing::internal::CaptureStderr();
  body();
  const std::string text = testing::internal::GetCapturedStderr();
  std::vector<JsonObject> lines;
  for (std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto value = parse_json(line);
    if (value && value->is_object()) {
      lines.push_back(value->get_object());
    } else {
      ADD_FAILURE() << "not one JSON object: " << line;
    }
  }
  return lines;
}

TEST(Log, ALineIsOneJsonObject) {
  const auto lines = logged([] {
    log(LogLevel::kWarn, "http", "two\nlines", {{"port", 7700}, {"ok", true}, {"took", 0.25}, {"nan", std::nan("")}, {"who", "a\"b"}});
  });
  ASSERT_EQ(lines.size(), 1u);
  const JsonObject& line = lines[0];
  EXPECT_TRUE(parse_rfc3339(std::string_view(line.at("ts").as_string())));
  EXPECT_EQ(line.at("level"), "warn");
  EXPECT_EQ(line.at("module"), "http");
  EXPECT_EQ(line.at("msg"), "two\nlines");
  EXPECT_EQ(line.at("port"), 7700);
  EXPECT_EQ(line.at("ok"), true);
  EXPECT_EQ(line.at("took"), 0.25);
  EXPECT_TRUE(line.at("nan").is_null());
  EXPECT_EQ(line.at("who"), "a\"b");
}

TEST(Log, BytesThatAreNotUtf8DoNotBreakALine) {
  EXPECT_EQ(logged([] { log(LogLevel::kError, "ingest", "bad name", {{"path", "caf\xe9"}}); }).size(), 1u);
}

TEST(Log, TheThresholdHolds) {
  const LogLevel before = log_level();
  set_log_level(LogLevel::kWarn);
  EXPECT_EQ(logged([] {
              log(LogLevel::kInfo, "m", "quiet");
              log(LogLevel::kError, "m", "loud");
            }).size(),
            1u);
  set_log_level(LogLevel::kOff);
  EXPECT_TRUE(logged([] { log(LogLevel::kError, "m", "quiet"); }).empty());
  set_log_level(before);
}

TEST(Log, LinesOfSeveralThreadsNeverMix) {
  const auto lines = logged([] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int n = 0; n < 50; ++n) log(LogLevel::kError, "m", std::string(200, 'x'));
      });
    }
  });
  EXPECT_EQ(lines.size(), 200u);
}

TEST(Log, LevelsHaveNames) {
  for (LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError, LogLevel::kOff}) {
    EXPECT_EQ(*parse_log_level(to_string(level)), level);
  }
  EXPECT_EQ(parse_log_level("loud").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace footnote
