#include "providers/sqlite/outcome_json.h"

#include <gtest/gtest.h>

#include "providers/sqlite/enum_names.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {
namespace {

SourceBlock full_block() {
  Hit hit;
  hit.chunk = {.id = {11},
               .document = {22},
               .document_version = 3,
               .ordinal = 4,
               .text = "Shipping \"takes\"\nthree days. \xE2\x82\xAC",
               .heading_path = {"FAQ", "Shipping"},
               .symbol = "ns::ship",
               .source_type = "prose",
               .content_hash = "abc",
               .range = {100, 130},
               .first_line = 7,
               .last_line = 8,
               .born = 5,
               .died = 9};
  hit.document_key = "faq.md";
  hit.document = {.title = "FAQ",
                  .url = "https://example.org",
                  .media_type = "text/html",
                  .language = "en",
                  .canonical_type = "runbook",
                  .status = DocumentStatus::kArchived,
                  .evidence = EvidenceTier::kBlog,
                  .priority = 0,
                  .tags = {"t"},
                  .acl_labels = {"l"}};
  hit.terms = {{Stage::kVector, 0.1, 1.0 / 3.0, 0.55}, {Stage::kPenalty, -1e-300, 0.0, -0.25}};
  hit.score = 0.30000000000000004;
  hit.cosine = 0.123456789012345678;
  hit.coverage = 1.0;
  return {.number = 1, .hit = hit};
}

void expect_equal(const SourceBlock& a, const SourceBlock& b) {
  EXPECT_EQ(a.number, b.number);
  const Chunk& x = a.hit.chunk;
  const Chunk& y = b.hit.chunk;
  EXPECT_EQ(std::tie(x.id, x.document, x.document_version, x.ordinal, x.text, x.heading_path, x.symbol, x.source_type, x.content_hash,
                     x.first_line, x.last_line, x.born, x.died),
            std::tie(y.id, y.document, y.document_version, y.ordinal, y.text, y.heading_path, y.symbol, y.source_type, y.content_hash,
                     y.first_line, y.last_line, y.born, y.died));
  EXPECT_EQ(x.range, y.range);
  EXPECT_EQ(a.hit.document_key, b.hit.document_key);
  EXPECT_EQ(a.hit.document, b.hit.document);
  EXPECT_EQ(a.hit.score, b.hit.score);
  EXPECT_EQ(a.hit.cosine, b.hit.cosine);
  EXPECT_EQ(a.hit.coverage, b.hit.coverage);
  ASSERT_EQ(a.hit.terms.size(), b.hit.terms.size());
  for (std::size_t i = 0; i < a.hit.terms.size(); ++i) {
    EXPECT_EQ(a.hit.terms[i].stage, b.hit.terms[i].stage);
    EXPECT_EQ(a.hit.terms[i].raw, b.hit.terms[i].raw);
    EXPECT_EQ(a.hit.terms[i].normalised, b.hit.terms[i].normalised);
    EXPECT_EQ(a.hit.terms[i].weight, b.hit.terms[i].weight);
  }
}

TEST(OutcomeJson, GivesBackAnAnswer) {
  const Answer answer{.text = "Three days [1].",
                      .sources = {full_block(), {.number = 2, .hit = {}}},
                      .citations = {{.number = 1,
                                     .document = {22},
                                     .document_version = 3,
                                     .chunk = {11},
                                     .answer_range = {0, 15},
                                     .support_range = TextRange{100, 120},
                                     .support = Support::kSupported},
                                    {.number = 2, .answer_range = {3, 3}}},
                      .confidence = 0.7,
                      .model = "llama"};
  const Outcome read = outcome_from_stored_text(to_stored_text(Outcome(answer))).value();
  const Answer& back = std::get<Answer>(read);
  EXPECT_EQ(back.text, answer.text);
  EXPECT_EQ(back.confidence, answer.confidence);
  EXPECT_EQ(back.model, answer.model);
  ASSERT_EQ(back.sources.size(), 2U);
  expect_equal(back.sources[0], answer.sources[0]);
  expect_equal(back.sources[1], answer.sources[1]);
  ASSERT_EQ(back.citations.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Citation& a = back.citations[i];
    const Citation& b = answer.citations[i];
    EXPECT_EQ(std::tie(a.number, a.document, a.document_version, a.chunk, a.support),
              std::tie(b.number, b.document, b.document_version, b.chunk, b.support));
    EXPECT_EQ(a.answer_range, b.answer_range);
    EXPECT_EQ(a.support_range, b.support_range);
    EXPECT_EQ(a.is_bound, b.is_bound);
  }
}

TEST(OutcomeJson, GivesBackARefusalAndAClarification) {
  const Outcome refusal = Refusal{.reason = RefusalReason::kBlockedByGuardrails, .text = "No.", .nearest = {full_block()}};
  const Outcome read = outcome_from_stored_text(to_stored_text(refusal)).value();
  EXPECT_EQ(std::get<Refusal>(read).reason, RefusalReason::kBlockedByGuardrails);
  EXPECT_EQ(std::get<Refusal>(read).text, "No.");
  expect_equal(std::get<Refusal>(read).nearest.at(0), full_block());
  const Outcome question = outcome_from_stored_text(to_stored_text(Outcome(Clarification{"Which one?"}))).value();
  EXPECT_EQ(std::get<Clarification>(question).text, "Which one?");
}

TEST(OutcomeJson, StaysReadableWhateverWasStored) {
  Answer odd;
  odd.text = "bad \xFF bytes";
  odd.confidence = std::numeric_limits<double>::quiet_NaN();
  const Outcome read = outcome_from_stored_text(to_stored_text(Outcome(odd))).value();
  EXPECT_EQ(std::get<Answer>(read).text, "bad \xEF\xBF\xBD bytes");
  EXPECT_EQ(std::get<Answer>(read).confidence, 0);
}

TEST(OutcomeJson, DamageIsCorruptedNotACrash) {
  const std::string good =
      to_stored_text(Outcome(Answer{.text = "t", .sources = {full_block()}, .citations = {{}}, .confidence = 1, .model = ""}));
  ASSERT_TRUE(outcome_from_stored_text(good).has_value());
  for (const std::string_view bad :
       {"", "[]", "null", "{}", R"({"kind":"poem"})", R"({"kind":"answer","text":7})", R"({"kind":"answer","sources":[3]})",
        R"({"kind":"answer","sources":{}})", R"({"kind":"answer","citations":[{"answer_range":[5,2]}]})",
        R"({"kind":"refusal","reason":"mood"})"}) {
    const auto read = outcome_from_stored_text(bad);
    ASSERT_FALSE(read.has_value()) << bad;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupted);
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x08);
    const auto read = outcome_from_stored_text(flipped);
    if (!read) {
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupted);
    }
  }
}

TEST(StoredJson, AttributesWithDefaultsAreLeftOut) {
  EXPECT_EQ(to_stored_text(DocumentAttributes{}), "{}");
  EXPECT_EQ(attributes_from_stored_text("{}").value(), DocumentAttributes{});
  EXPECT_EQ(attributes_from_stored_text("nonsense").error().code, ErrorCode::kCorrupted);
}

template <class Enum>
void expect_names(int count) {
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_FALSE(stored_name(value).empty()) << i;
    EXPECT_EQ(from_stored_name<Enum>(stored_name(value)).value(), value);
  }
  EXPECT_TRUE(stored_name(static_cast<Enum>(count)).empty()) << "add the new value to this test";
  EXPECT_EQ(from_stored_name<Enum>("").error().code, ErrorCode::kCorrupted);
}

TEST(EnumNames, EveryValueComesBack) {
  expect_names<DocumentStatus>(6);
  expect_names<EvidenceTier>(8);
  expect_names<SourceKind>(7);
  expect_names<KeyScope>(4);
  expect_names<TurnState>(2);
  expect_names<Support>(3);
  expect_names<Stage>(10);
  expect_names<RefusalReason>(4);
}

}  // namespace
}  // namespace footnote
