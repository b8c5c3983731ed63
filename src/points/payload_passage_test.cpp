#include "points/payload_passage.h"

#include <gtest/gtest.h>

namespace footnote::points {
namespace {

std::string text_of(std::string_view json, std::vector<JsonPath> keys = {}) {
  return passage_of(parse_json(json).value().get_object(), keys).text;
}

TEST(PayloadPassage, IsFoundWhereverClientsPutIt) {
  for (const char* payload : {R"({"text":"x"})", R"({"page_content":"x","metadata":{}})", R"({"content":"x"})", R"({"data":"x"})",
                              R"({"document":"x"})", R"({"_node_content":"{\"text\":\"x\"}"})", R"({"text":7,"data":"x"})"}) {
    EXPECT_EQ(text_of(payload), "x") << payload;
  }
  EXPECT_EQ(text_of(R"({"_node_content":"no JSON"})"), "");
  EXPECT_EQ(text_of(R"({"title":"x"})"), "");
}

TEST(PayloadPassage, FollowsTheKeysOfTheCollection) {
  const auto keys = text_keys_of(parse_json(R"({"payload_text_keys":["body.plain","summary"]})").value().get_object());
  EXPECT_EQ(text_of(R"({"text":"no","summary":"s","body":{"plain":"b"}})", keys), "b");
  EXPECT_EQ(text_of(R"({"text":"no","summary":"s"})", keys), "s");
  EXPECT_EQ(text_of(R"({"text":"no"})", keys), "");
}

TEST(PayloadPassage, TakesTitleAndAddressFromMetadataToo) {
  const auto passage =
      passage_of(parse_json(R"({"page_content":"x","metadata":{"title":"T","source":"https://a.example/b"}})").value().get_object());
  EXPECT_EQ(passage.title, "T");
  EXPECT_EQ(passage.url, "https://a.example/b");
  EXPECT_EQ(passage_of(parse_json(R"({"metadata":{"source":"notes.txt"}})").value().get_object()).url, "");
}

}  // namespace
}  // namespace footnote::points
