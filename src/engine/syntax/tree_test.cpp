#include "engine/syntax/tree.h"

#include <gtest/gtest.h>

#include <string>

namespace footnote::syntax {
namespace {

std::string repeat(std::string_view unit, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += unit;
  return out;
}

std::vector<std::string> kinds(Node root) {
  std::vector<std::string> out;
  Walk walk(root);
  while (const Node node = walk.next()) out.emplace_back(node.kind());
  return out;
}

TEST(SyntaxTree, EveryGrammarFitsTheRuntime) {
  for (const Grammar grammar : kAllGrammars) {
    const auto tree = parse(grammar, "a");
    ASSERT_TRUE(tree.has_value()) << static_cast<int>(grammar);
    EXPECT_TRUE(tree->root());
  }
}

TEST(SyntaxTree, FindsADefinitionWithItsLines) {
  const std::string source = "<?php\n\nclass A\n{\n    public function b(): int\n    {\n        return 1;\n    }\n}\n";
  const auto tree = parse(Grammar::kPhp, source);
  ASSERT_TRUE(tree.has_value());
  Walk walk(tree->root());
  Node method;
  while (const Node node = walk.next()) {
    if (node.is("method_declaration")) method = node;
  }
  ASSERT_TRUE(method);
  EXPECT_EQ(method.field("name").text(source), "b");
  EXPECT_EQ(method.first_line(), 5);
  EXPECT_EQ(method.last_line(), 8);
  EXPECT_FALSE(method.field("no such field"));
}

TEST(SyntaxTree, ANodeThatEndsWithALineEndHasThatLine) {
  const std::string source = "def f():\n    return 1\n";
  const auto tree = parse(Grammar::kPython, source);
  EXPECT_EQ(tree->root().last_line(), 2);
}

TEST(SyntaxTree, BrokenSourceStillHasItsGoodParts) {
  const std::string source = "<?php class A { function good() {} function ( { } function fine() {} ";
  const auto tree = parse(Grammar::kPhp, source);
  ASSERT_TRUE(tree.has_value());
  EXPECT_TRUE(tree->root().has_error());
  const auto all = kinds(tree->root());
  EXPECT_NE(std::ranges::find(all, "method_declaration"), all.end());
}

TEST(SyntaxTree, SkipLeavesTheChildrenOut) {
  const std::string source = "[[1, 2], 3]";
  const auto tree = parse(Grammar::kJson, source);
  Walk walk(tree->root());
  std::vector<std::string> seen;
  while (const Node node = walk.next()) {
    seen.emplace_back(node.text(source));
    if (walk.depth() == 2) walk.skip();
  }
  EXPECT_EQ(seen, (std::vector<std::string>{source, source, "[1, 2]", "3"}));
}

TEST(SyntaxTree, ANullNodeAnswersEmpty) {
  const Node none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.kind(), "");
  EXPECT_EQ(none.first_line(), 0);
  EXPECT_TRUE(none.children().empty());
  EXPECT_FALSE(none.child("x"));
  EXPECT_FALSE(Walk(none).next());
}

TEST(SyntaxTree, RefusesMoreThanTheLimitOfBytes) {
  const ParseLimits limits{.bytes_max = 8};
  EXPECT_TRUE(parse(Grammar::kJson, "[1,2,34]", {}, limits).has_value());
  const auto over = parse(Grammar::kJson, "[1,2,345]", {}, limits);
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, ErrorCode::kTooLarge);
}

TEST(SyntaxTree, EndsWithItsTime) {
  const auto late = parse(Grammar::kJson, repeat("[", 1'000'000), {}, {.time_max = std::chrono::milliseconds(0)});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(SyntaxTree, EndsWhenTheCallerCancels) {
  std::stop_source stop;
  CallContext call;
  call.stop = stop.get_token();
  stop.request_stop();
  const auto cancelled = parse(Grammar::kJson, "[]", call);
  ASSERT_FALSE(cancelled.has_value());
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
}

TEST(SyntaxTree, DeepNestingNeedsNoStack) {
  const std::string source = repeat("[", 200'000) + repeat("]", 200'000);
  const auto tree = parse(Grammar::kJson, source, {}, {.time_max = std::chrono::seconds(60)});
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(kinds(tree->root()).size(), static_cast<std::size_t>(kWalkDepthMax) + 1);
}

TEST(SyntaxTree, AnyBytesAreParsed) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes.push_back(static_cast<char>((i * 131 + i / 7) % 256));
  for (const Grammar grammar : kAllGrammars) EXPECT_TRUE(parse(grammar, bytes).has_value());
}

}  // namespace
}  // namespace footnote::syntax
