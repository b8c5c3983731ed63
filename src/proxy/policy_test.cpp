#include "proxy/policy.h"

#include <gtest/gtest.h>

namespace footnote::proxy {
namespace {

using Kind = Target::Kind;

TEST(ProxyPolicy, NamesLeadToModels) {
  Policy policy;
  policy.rules =
      *parse_model_rules(R"({"rag/Support":{"model":"gpt-4o","corpus":"handbook","prompt":"Be brief."},"notes":{"corpus":"n"}})");
  const auto check = [&](std::string_view name, Kind kind, std::string_view model, std::string_view fallback, std::string_view corpus) {
    const Target target = resolve_model(policy, name);
    EXPECT_EQ(target.kind, kind) << name;
    EXPECT_EQ(target.model, model) << name;
    EXPECT_EQ(target.fallback, fallback) << name;
    EXPECT_EQ(target.corpus, corpus) << name;
  };
  check("rag/phi3-en", Kind::kGrounded, "local/phi3-en", "phi3-en", "memory");
  check("RAG/Org/Model", Kind::kGrounded, "local/Org/Model", "Org/Model", "memory");
  check("rag/support", Kind::kGrounded, "gpt-4o", "", "handbook");
  check("rag/SUPPORT", Kind::kGrounded, "gpt-4o", "", "handbook");
  check("rag/notes", Kind::kGrounded, "local/notes", "notes", "n");
  check("rag/footnote", Kind::kBuiltIn, "", "", "memory");
  check("gpt-4o", Kind::kOther, "gpt-4o", "", "");
  check("ragtime/x", Kind::kOther, "ragtime/x", "", "");
  EXPECT_EQ(resolve_model(policy, "rag/support").system, "Be brief.");
  EXPECT_TRUE(resolve_model(policy, "rag/support").corpus_named);
  EXPECT_FALSE(resolve_model(policy, "rag/phi3-en").corpus_named);
}

TEST(ProxyPolicy, ARuleMayTakeTheBuiltInName) {
  Policy policy;
  policy.rules = *parse_model_rules(R"({"footnote":{"model":"x"}})");
  EXPECT_EQ(resolve_model(policy, "rag/footnote").kind, Kind::kGrounded);
}

TEST(ProxyPolicy, TwinsLeadBackToTheirModels) {
  EXPECT_EQ(grounded_name("local/phi3-en"), "rag/phi3-en");
  EXPECT_EQ(grounded_name("gpt-4o"), "rag/gpt-4o");
}

TEST(ProxyPolicy, RulesThatCantBeReadAreRefused) {
  EXPECT_TRUE(parse_model_rules(" ")->empty());
  for (const char* text :
       {"[]", "{", R"({"a":1})", R"({"a":{"modell":"x"}})", R"({"rag/":{}})", R"({"a":{},"A":{}})", R"({"a":{"model":7}})"}) {
    const auto rules = parse_model_rules(text);
    ASSERT_FALSE(rules) << text;
    EXPECT_EQ(rules.error().code, ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace footnote::proxy
