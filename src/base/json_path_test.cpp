#include "base/json_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace footnote {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> at(std::string_view json, std::string_view path, bool elements = false) {
  const Json value = parse_json(json).value();
  std::vector<std::string> out;
  const auto take = [&](const Json& found) { out.push_back(to_text(found)); };
  const JsonPath parsed = parse_json_path(path).value();
  elements ? visit_elements(value.get_object(), parsed, take) : visit_values(value.get_object(), parsed, take);
  return out;
}

TEST(JsonPath, DotsGoIntoObjectsAndBracketsIntoLists) {
  constexpr std::string_view kJson = R"({"a":{"b":1,"c.d":2},"l":[{"p":1},{"p":[2,3]},{"q":4}],"e":[]})";
  EXPECT_THAT(at(kJson, "a.b"), ElementsAre("1"));
  EXPECT_THAT(at(kJson, "a.\"c.d\""), ElementsAre("2"));
  EXPECT_THAT(at(kJson, "l[].p"), ElementsAre("1", "[2,3]"));
  EXPECT_THAT(at(kJson, "l[].p", true), ElementsAre("1", "2", "3"));
  EXPECT_THAT(at(kJson, "l.p"), ElementsAre());
  EXPECT_THAT(at(kJson, "l[1].p"), ElementsAre("[2,3]"));
  EXPECT_THAT(at(kJson, "l[1].p[0]"), ElementsAre("2"));
  EXPECT_THAT(at(kJson, "l[].p[]"), ElementsAre("2", "3"));
  EXPECT_THAT(at(kJson, "l[7].p"), ElementsAre());
  EXPECT_THAT(at(kJson, "e"), ElementsAre("[]"));
  EXPECT_THAT(at(kJson, "e[]"), ElementsAre());
  EXPECT_THAT(at(kJson, "a.b.c"), ElementsAre());
  EXPECT_THAT(at(kJson, "nobody"), ElementsAre());
}

TEST(JsonPath, WhatIsNoPathIsRefused) {
  for (const char* text : {"", ".", "a.", ".a", "a[", "a[-1]", "a[x]", "[0]", "a[]b", "\"a", "a..b"}) {
    EXPECT_FALSE(parse_json_path(text).has_value()) << text;
  }
}

TEST(JsonPath, HasALimitOfSteps) {
  std::string text = "a";
  for (std::size_t i = 1; i < kJsonPathStepsMax; ++i) text += ".a";
  EXPECT_TRUE(parse_json_path(text).has_value());
  EXPECT_FALSE(parse_json_path(text + ".a.a").has_value());
}

TEST(JsonPath, SelectsAndDropsPartsOfAnObject) {
  const Json value = parse_json(R"({"a":{"b":1,"c":2},"l":[{"p":1,"q":2},{"p":3}],"n":5})").value();
  const auto paths = [](std::initializer_list<std::string_view> texts) {
    std::vector<JsonPath> out;
    for (const std::string_view text : texts) out.push_back(parse_json_path(text).value());
    return out;
  };
  EXPECT_EQ(to_text(select_paths(value.get_object(), paths({"a.b", "l[].p"}))), R"({"a":{"b":1},"l":[{"p":1},{"p":3}]})");
  EXPECT_EQ(to_text(select_paths(value.get_object(), paths({"l.p", "n"}))), R"({"l":[],"n":5})");
  EXPECT_EQ(to_text(drop_paths(value.get_object(), paths({"a.b", "l[].p"}))), R"({"a":{"c":2},"l":[{"q":2},{}],"n":5})");
  EXPECT_EQ(to_text(drop_paths(value.get_object(), paths({"a", "l[]"}))), R"({"l":[],"n":5})");
}

TEST(JsonPath, WhatAPathLeadsToCanBeTakenAway) {
  Json value = parse_json(R"({"a":{"b":1,"c":2},"l":[{"p":1,"q":2},{"p":3}]})").value();
  EXPECT_TRUE(erase_path(value.get_object(), parse_json_path("a.b").value()));
  EXPECT_TRUE(erase_path(value.get_object(), parse_json_path("l[].p").value()));
  EXPECT_FALSE(erase_path(value.get_object(), parse_json_path("a.b").value()));
  EXPECT_EQ(to_text(value), R"({"a":{"c":2},"l":[{"q":2},{}]})");
}

}  // namespace
}  // namespace footnote
