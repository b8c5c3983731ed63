#include "base/csv.h"

#include <gmock/gmock.h>

namespace footnote {
namespace {

using ::testing::ElementsAre;

std::vector<std::vector<std::string>> fields(std::string_view text) {
  std::vector<std::vector<std::string>> out;
  const auto records = parse_csv(text, 100);
  EXPECT_TRUE(records.has_value()) << records.error().message;
  if (!records) return out;
  for (const CsvRecord& record : *records) out.push_back(record.fields);
  return out;
}

std::string message(std::string_view text) {
  const auto records = parse_csv(text, 2);
  return records ? "" : records.error().message;
}

TEST(Csv, FieldsAreApartByCommas) {
  EXPECT_THAT(fields("a,b\nc,d\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("c", "d")));
  EXPECT_THAT(fields("a,b\r\nc,d"), ElementsAre(ElementsAre("a", "b"), ElementsAre("c", "d")));
  EXPECT_THAT(fields(",a,,\n"), ElementsAre(ElementsAre("", "a", "", "")));
  EXPECT_THAT(fields(" a , b "), ElementsAre(ElementsAre(" a ", " b "))) << "spaces belong to a field";
  EXPECT_THAT(fields("\xEF\xBB\xBF"
                     "a\n\n\r\nb\n"),
              ElementsAre(ElementsAre("a"), ElementsAre("b")));
  EXPECT_THAT(fields(""), ElementsAre());
}

TEST(Csv, QuotesHoldWhatWouldSeparate) {
  EXPECT_THAT(fields("\"a,b\",\"say \"\"hi\"\"\"\n\"two\nlines\r\n\",\"\"\n"),
              ElementsAre(ElementsAre("a,b", "say \"hi\""), ElementsAre("two\nlines\r\n", "")));
}

TEST(Csv, RecordsKnowTheirLine) {
  const auto records = parse_csv("a\n\n\"x\ny\"\nb", 10).value();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].line, 1U);
  EXPECT_EQ(records[1].line, 3U);
  EXPECT_EQ(records[2].line, 5U);
}

TEST(Csv, WhatIsWrongIsNamedByItsLine) {
  EXPECT_EQ(message("a\nb\"c\n"), "line 2: a quote inside an unquoted field");
  EXPECT_EQ(message("a\n\"b\nc"), "line 2: a quote is never closed");
  EXPECT_EQ(message("\"a\" b"), "line 1: text after the closing quote of a field");
  EXPECT_EQ(message("a\n\xFF"), "line 2: not UTF-8");
  EXPECT_EQ(message("a\rb"), "");
  EXPECT_EQ(message("a\nb\r"), "line 2: a carriage return without a line feed");
}

TEST(Csv, RecordsHaveABound) {
  EXPECT_TRUE(parse_csv("a\nb\n", 2).has_value());
  EXPECT_EQ(parse_csv("a\nb\nc", 2).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace footnote
