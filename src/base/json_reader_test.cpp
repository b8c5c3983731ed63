#include <gtest/gtest.h>

#include "base/json.h"

namespace footnote {
namespace {

/// Keeps the parsed body alive for its reader.
class JsonReaderTest : public testing::Test {
 protected:
  JsonReader read(std::string_view text) {
    value_ = *parse_json(text);
    return *JsonReader::of(value_);
  }

  template <class T>
  static void check_error(const Result<T>& result, ErrorCode code, std::string_view field) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, code);
    EXPECT_EQ(result.error().field, field);
    EXPECT_NE(result.error().message.find(field), std::string::npos) << result.error().message;
  }

 private:
  Json value_;
};

TEST_F(JsonReaderTest, BodyMustBeAnObject) {
  const Json list = JsonArray{1};
  const auto reader = JsonReader::of(list);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(JsonReaderTest, ReadsFields) {
  const JsonReader body = read(R"({"q":"hello","n":7,"x":0.5,"f":true,"tags":["a","b"],"none":null})");
  EXPECT_EQ(*body.required_string("q", 100), "hello");
  EXPECT_EQ(*body.optional_string("q", 5), "hello");
  EXPECT_EQ(*body.optional_integer("n", 0, 7), 7);
  EXPECT_EQ(*body.optional_number("x", 0, 1), 0.5);
  EXPECT_EQ(*body.optional_number("n", 0, 10), 7.0);
  EXPECT_EQ(*body.optional_bool("f"), true);
  EXPECT_EQ(*body.optional_strings("tags", 2, 1), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ((*body.required_array("tags", 2))->size(), 2u);
}

TEST_F(JsonReaderTest, MissingAndNullReadAsNothing) {
  const JsonReader body = read(R"({"none":null})");
  for (const char* key : {"none", "missing"}) {
    EXPECT_FALSE(body.has(key));
    EXPECT_EQ(*body.optional_string(key, 9), std::nullopt);
    EXPECT_EQ(*body.optional_integer(key, 0, 9), std::nullopt);
    EXPECT_EQ(*body.optional_number(key, 0, 9), std::nullopt);
    EXPECT_EQ(*body.optional_bool(key), std::nullopt);
    EXPECT_EQ(*body.optional_strings(key, 9, 9), std::nullopt);
    EXPECT_FALSE(body.optional_object(key)->has_value());
    check_error(body.required_string(key, 9), ErrorCode::kInvalidArgument, key);
    check_error(body.required_array(key, 9), ErrorCode::kInvalidArgument, key);
  }
}

TEST_F(JsonReaderTest, WrongTypeNamesTheField) {
  const JsonReader body = read(R"({"v":{"a":1},"s":"x","f":1.5,"mixed":["a",2]})");
  check_error(body.optional_string("v", 9), ErrorCode::kInvalidArgument, "v");
  check_error(body.optional_integer("s", 0, 9), ErrorCode::kInvalidArgument, "s");
  check_error(body.optional_integer("f", 0, 9), ErrorCode::kInvalidArgument, "f");
  check_error(body.optional_number("s", 0, 9), ErrorCode::kInvalidArgument, "s");
  check_error(body.optional_bool("s"), ErrorCode::kInvalidArgument, "s");
  check_error(body.optional_strings("s", 9, 9), ErrorCode::kInvalidArgument, "s");
  check_error(body.optional_strings("mixed", 9, 9), ErrorCode::kInvalidArgument, "mixed[1]");
  check_error(body.optional_object("s"), ErrorCode::kInvalidArgument, "s");
}

TEST_F(JsonReaderTest, BoundsAreInclusive) {
  const JsonReader body = read(R"({"q":"12345","n":10,"tags":["a","b","c"],"long":["abc"]})");
  EXPECT_TRUE(body.required_string("q", 5));
  check_error(body.required_string("q", 4), ErrorCode::kTooLarge, "q");
  EXPECT_TRUE(body.optional_integer("n", 10, 10));
  check_error(body.optional_integer("n", 0, 9), ErrorCode::kInvalidArgument, "n");
  check_error(body.optional_number("n", 11, 12), ErrorCode::kInvalidArgument, "n");
  check_error(body.optional_strings("tags", 2, 9), ErrorCode::kTooLarge, "tags");
  check_error(body.optional_strings("long", 2, 2), ErrorCode::kTooLarge, "long[0]");
  check_error(body.required_array("tags", 2), ErrorCode::kTooLarge, "tags");
}

TEST_F(JsonReaderTest, ABlankRequiredTextIsAnError) {
  check_error(read(R"({"q":" \n"})").required_string("q", 9), ErrorCode::kInvalidArgument, "q");
}

TEST_F(JsonReaderTest, PathsOfNestedReadersAreDotted) {
  const JsonReader body = read(R"({"filters":{"date_from":5}})");
  const auto filters = body.optional_object("filters");
  ASSERT_TRUE(filters && *filters);
  check_error((*filters)->optional_string("date_from", 9), ErrorCode::kInvalidArgument, "filters.date_from");
}

TEST_F(JsonReaderTest, UnknownFieldsAreRefusedWithTheNearestKnown) {
  const JsonReader body = read(R"({"quesiton":"x"})");
  const auto only = body.only({"question", "project_key"});
  check_error(only, ErrorCode::kInvalidArgument, "quesiton");
  EXPECT_NE(only.error().message.find("did you mean 'question'"), std::string::npos);
  EXPECT_TRUE(body.only({"quesiton"}));
  check_error(body.only({}), ErrorCode::kInvalidArgument, "quesiton");
}

}  // namespace
}  // namespace footnote
