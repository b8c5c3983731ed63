#include "base/json.h"

#include <gtest/gtest.h>

#include "base/json_size.h"

#include <cmath>
#include <limits>

namespace footnote {
namespace {

/// Parses the text and writes it again.
void check_round_trip(std::string_view text, std::string_view expected) {
  const auto value = parse_json(text);
  ASSERT_TRUE(value) << text << ": " << value.error().message;
  EXPECT_EQ(to_text(*value), expected);
}

void check_rejected(std::string_view text, std::string_view words_of_message) {
  const auto value = parse_json(text);
  ASSERT_FALSE(value) << text;
  EXPECT_EQ(value.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(value.error().message.find(words_of_message), std::string::npos) << value.error().message;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, ReadsAndWritesEveryKind) {
  check_round_trip(R"( {"a": [1, -2, true, false, null, "x"], "b": {}} )", R"({"a":[1,-2,true,false,null,"x"],"b":{}})");
  check_round_trip("[]", "[]");
  check_round_trip("\"\"", "\"\"");
  check_round_trip("18446744073709551615", "18446744073709551615");
  check_round_trip("-9223372036854775808", "-9223372036854775808");
}

TEST(Json, OfEqualKeysTheLastCountsButAClientMayNotSendThem) {
  check_round_trip(R"({"a":1,"a":2})", R"({"a":2})");
  for (const std::string_view text : {R"({"a":1,"a":1})", R"({"a":1,"b":2,"a":{"c":3}})", R"({"a":{"x":1,"x":2}})",
                                      R"([{"a":1},{"a":1,"\u0061":2}])", R"({"a\"":1,"a\"":2})", R"({"":0,"":0})"}) {
    const auto value = parse_request_json(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, ErrorCode::kInvalidArgument);
  }
  for (const std::string_view text : {R"({"a":":","b":"\":\\","c:":{"a":1}})", R"([{"a":1},{"a":1}])", R"("a:b")", "[]",
                                      R"({"a":{"a":{"a":[{"a":0}]}}})", R"({"\\":1,"\"":2})"}) {
    EXPECT_TRUE(parse_request_json(text)) << text;
  }
  EXPECT_FALSE(parse_request_json("{"));
}

std::string list_of(std::size_t count) {
  std::string out = "[1";
  for (std::size_t i = 1; i < count; ++i) out += ",1";
  return out + "]";
}

TEST(Json, HasABoundedNumberOfValues) {
  const std::string text = list_of(1000);  // 1001 values: the list is one
  EXPECT_TRUE(parse_request_json(text, 1001));
  const auto over = parse_request_json(text, 1000);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::kTooLarge);

  const std::string many = list_of(kJsonRequestValuesBase * 2);
  EXPECT_EQ(parse_request_json(many).error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(parse_json(many));
  EXPECT_EQ(parse_json(list_of(kJsonValuesBase * 2)).error().code, ErrorCode::kTooLarge);
  // Commas inside strings separate no values.
  EXPECT_TRUE(parse_request_json("[\"" + std::string(kJsonRequestValuesBase * 2, ',') + "\"]"));
}

TEST(JsonSize, CountsTheSameInPieces) {
  const std::string_view text = R"( {"a,[{:": [1, {}, "\\", "\",["], "b": {"c": null}} )";
  JsonSize whole;
  whole.feed(text);
  EXPECT_EQ(whole.members(), 3u);
  EXPECT_EQ(whole.tree_bytes(), text.size() + whole.values() * kJsonBytesPerValue);
  JsonSize pieces;
  for (const char& c : text) pieces.feed({&c, 1});
  EXPECT_EQ(pieces.values(), whole.values());
  EXPECT_EQ(pieces.members(), whole.members());
  EXPECT_EQ(pieces.tree_bytes(), whole.tree_bytes());
  JsonSize other;
  other.feed("a,b,[c");
  EXPECT_EQ(other.tree_bytes(), 0u);
}

TEST(Json, WritesTheShortestFloatThatReadsBackTheSame) {
  check_round_trip("[0.1, 1e-7, 1.5, 100.0]", "[0.1,1e-07,1.5,100]");
  EXPECT_EQ(to_text(Json(1.0 / 3)), "0.3333333333333333");
  EXPECT_EQ(to_text(Json(json_number(0.1f))), "0.1");
  EXPECT_EQ(to_text(Json(json_number(16777216.0f))), "16777216");
  EXPECT_EQ(json_number(0.3f), 0.3);
}

TEST(Json, NeverWritesNanOrInfinity) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_text(JsonArray{nan, infinity, -infinity, json_number(std::nanf(""))}), "[null,null,null,null]");
}

TEST(Json, RefusesNumbersBeyondDouble) {
  check_rejected("[1e999]", "not JSON");
  check_rejected("-1e999", "not JSON");
}

TEST(Json, OfEqualKeysTheLastCounts) { check_round_trip(R"({"a":1,"b":2,"a":3})", R"({"a":3,"b":2})"); }

TEST(Json, RefusesMalformedTextAndNamesTheByte) {
  check_rejected("", "at byte 0");
  check_rejected("{\"a\":}", "at byte 5");
  check_rejected("[1,]", "at byte 3");
  check_rejected("NaN", "at byte 0");
  check_rejected("{'a':1}", "at byte 1");
  check_rejected("[1] x", "more text after the value");
  check_rejected("\"open", "not JSON");
}

TEST(Json, RefusesBadUtf8) {
  check_rejected("\"\xff\"", "at byte 1");
  check_rejected("\"\xc3\"", "not JSON");
  check_rejected("\"\xed\xa0\x80\"", "not JSON");
}

TEST(Json, HasADepthLimit) {
  EXPECT_TRUE(parse_json(nested(kJsonDepthMax)));
  check_rejected(nested(kJsonDepthMax + 1), "not JSON");
  check_rejected(std::string(100'000, '['), "not JSON");
}

TEST(Json, HasASizeLimit) {
  const auto value = parse_json(std::string(kJsonBytesMax + 1, ' '));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kTooLarge);
}

TEST(Json, TextNeverSpansLines) {
  EXPECT_EQ(to_text(Json("a\nb\r\t\"\\\x01\x7f")), R"("a\nb\r\t\"\\\u0001\u007f")");
  EXPECT_EQ(to_text(JsonObject{{"a\n", 1}}), R"({"a\n":1})");
}

TEST(Json, TextIsJsonWhateverBytesAStringHolds) {
  const std::string text = to_text(JsonObject{{"path", "caf\xe9.md"}});
  EXPECT_EQ(text, "{\"path\":\"caf\xEF\xBF\xBD.md\"}");
  EXPECT_TRUE(parse_json(text));
}

TEST(Json, KeepsTextBeyondAscii) { check_round_trip(R"("caf\u00e9 \ud83d\ude00")", "\"caf\xc3\xa9 \xf0\x9f\x98\x80\""); }

TEST(Json, FloatsAreWrittenAsTheirValuesWouldBe) {
  const auto text = [](std::vector<float> values) {
    std::string out = "x";
    append_floats(out, values);
    return out;
  };
  EXPECT_EQ(text({}), "x[]");
  EXPECT_EQ(text({0.1F, -0.25F, 0, 1e-30F, 3e30F}), "x[0.1,-0.25,0,1e-30,3e+30]");
  EXPECT_EQ(text({std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}), "x[null,null]");
  const std::vector<float> many{1.0F / 3, 0.0012345F, -7.5F};
  JsonArray array;
  for (const float value : many) array.push_back(json_number(value));
  EXPECT_EQ(text(many), "x" + to_text(array));
}

}  // namespace
}  // namespace footnote
