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
  EXPECT_THAT(at(kJson, "e"), ElementsAre("[]"));
  EXPECT_THAT(at(kJson, "e[]"), ElementsAre());
  EXPECT_THAT(at(kJson, "a.b.c"), ElementsAre());
  EXPECT_THAT(at(kJson, "nobody"), ElementsAre());
}

TEST(JsonPath, WhatIsNoPathIsRefused) {
  for (const char* text : {"", ".", "a.", ".a", "a[", "a[0]", "a[]b", "\"a", "a..b"}) {
    EXPECT_FALSE(parse_json_path(text).has_value()) << text;
  }
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
