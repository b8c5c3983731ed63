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

/// The lines that `body` logged, parsed.
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

class LogLevels : public testing::Test {
 protected:
  ~LogLevels() override { set_log_level(LogLevel::kInfo); }
};

TEST_F(LogLevels, TheThresholdHolds) {
  set_log_level(LogLevel::kWarn);
  EXPECT_EQ(logged([] {
              log(LogLevel::kInfo, "app", "quiet");
              log(LogLevel::kError, "app", "loud");
            }).size(),
            1u);
  set_log_level(LogLevel::kOff);
  EXPECT_TRUE(logged([] { log(LogLevel::kError, "app", "quiet"); }).empty());
}

TEST_F(LogLevels, EachModuleHasItsOwn) {
  set_log_levels(parse_log_spec("warn,http=off,ingest=debug").value(), LogLevel::kInfo);
  const auto lines = logged([] {
    log(LogLevel::kError, "http", "off");
    log(LogLevel::kDebug, "ingest", "debug");
    log(LogLevel::kInfo, "app", "too low");
    log(LogLevel::kWarn, "sql", "as all");
  });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("module"), "ingest");
  EXPECT_EQ(lines[1].at("module"), "sql");
  EXPECT_TRUE(log_enabled(LogLevel::kDebug, "ingest"));
  EXPECT_FALSE(log_enabled(LogLevel::kError, "http"));
}

TEST_F(LogLevels, WhereASpecNamesNoLevelTheFallbackHolds) {
  for (const std::string_view text : {"auto", "auto,http=error", "http=error"}) {
    set_log_levels(parse_log_spec(text).value(), LogLevel::kWarn);
    EXPECT_TRUE(log_enabled(LogLevel::kWarn, "app")) << text;
    EXPECT_FALSE(log_enabled(LogLevel::kInfo, "app")) << text;
  }
  EXPECT_FALSE(log_enabled(LogLevel::kWarn, "http"));
}

std::string spec_error(std::string_view text) {
  const auto spec = parse_log_spec(text);
  EXPECT_FALSE(spec) << text;
  return spec ? "" : spec.error().message;
}

TEST(LogSpec, MistakesAreNamedWithTheNearestName) {
  EXPECT_EQ(spec_error("info,htpp=warn"), "unknown log module 'htpp'; did you mean http?");
  EXPECT_EQ(spec_error("info,HTTP=warn"), "unknown log module 'HTTP'; there are access, answer, app, http, ingest, llm, sql, vectors");
  EXPECT_EQ(spec_error("info,http=loud"), "log level 'loud' is not one of debug, info, warn, error, off");
  EXPECT_EQ(spec_error("http=warn,info"), "'info' is not MODULE=LEVEL; put the level for all modules first, as in info,http=warn");
  EXPECT_EQ(spec_error("info,http=warn,http=debug"), "module http has two levels");
  for (const std::string_view text : {"", ",", "info,", "=", "http=", "=warn", "info=warn", "info;http=warn", "http=auto"})
    spec_error(text);
}

TEST(LogSpec, SpacesAroundItsPartsDoNotCount) {
  const LogSpec spec = parse_log_spec(" info , http = warn ").value();
  EXPECT_EQ(spec.all, LogLevel::kInfo);
  ASSERT_EQ(spec.modules.size(), 1u);
  EXPECT_EQ(spec.modules[0].first.name(), "http");
}

TEST(Log, ALineOfARequestNamesIt) {
  CallContext call;
  call.request_id = "r-1";
  call.trace = TraceContext::fresh();
  const auto lines = logged([&] {
    log(LogLevel::kError, "answer", "failed", call, {{"code", "unavailable"}});
    log(LogLevel::kError, "answer", "outside", CallContext{});
  });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("request_id"), "r-1");
  EXPECT_EQ(lines[0].at("trace_id"), Json(call.trace.trace_id));
  EXPECT_EQ(lines[0].at("span_id"), Json(call.trace.span_id));
  EXPECT_EQ(lines[0].at("code"), "unavailable");
  EXPECT_FALSE(lines[1].contains("trace_id"));
}

TEST(Log, NoTextCanDriveATerminalOrForgeALine) {
  const std::string nasty = "a\x1b[2J\r\n{\"level\":\"error\"}\x7f\u009b31m\u2028\u202e\u2066z\u00e9";
  testing::internal::CaptureStderr();
  log(LogLevel::kError, "app", nasty, {{"reason", nasty}});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  for (const std::string_view part : {"\x1b", "\r", "\x7f", "\u009b", "\u2028", "\u202e", "\u2066"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << text;
  }
  EXPECT_NE(text.find("z\u00e9"), std::string::npos) << "other letters stay readable";
  const auto line = parse_json(std::string_view(text).substr(0, text.size() - 1));
  ASSERT_TRUE(line) << text;
  EXPECT_EQ(line->as_object().at("reason"), Json(nasty)) << "and nothing is lost";
}

TEST(Log, LinesOfSeveralThreadsNeverMix) {
  const auto lines = logged([] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int n = 0; n < 50; ++n) log(LogLevel::kError, "app", std::string(200, 'x'));
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
