#include "providers/local/synonyms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "providers/local/local_keyword_index.h"

namespace footnote {
namespace {

using ::testing::HasSubstr;

/// The terms of a question, each with its weight in tenths.
std::string expanded(const Synonyms& synonyms, std::string_view corpus, std::string_view text,
                     const std::vector<std::string>& languages = {}) {
  QueryTerms terms = query_terms(text, languages);
  synonyms.expand(corpus, languages, terms);
  std::vector<std::string> out;
  for (const auto& term : terms.terms) out.push_back(fmt::format("{}:{:.0f}", term.text, term.weight * 10));
  return join(out, " ");
}

std::string refusal(const std::string& text) {
  const auto parsed = Synonyms::parse(text);
  return parsed ? "none" : parsed.error().message;
}

TEST(Synonyms, StandForEachOtherBothWaysAndInEveryForm) {
  const auto synonyms = Synonyms::parse("# computers\nlaptops, notebook\n\n[hr]\nvacation, leave\n").value();
  EXPECT_EQ(synonyms.group_count(), 2U);
  EXPECT_EQ(expanded(synonyms, "it", "laptop"), "laptop:10 notebook:8");
  EXPECT_EQ(expanded(synonyms, "it", "old notebooks"), "old:10 notebook:10 laptop:8");
  EXPECT_EQ(expanded(synonyms, "it", "vacation"), "vacat:10") << "a synonym of another corpus";
  EXPECT_EQ(expanded(synonyms, "hr", "vacations laptop"), "vacat:10 laptop:10 leav:8 notebook:8");
  EXPECT_EQ(expanded(synonyms, "it", "laptop or notebook"), "laptop:10 notebook:10") << "existing terms are unchanged";
}

TEST(Synonyms, AreOneWordWithOneRarity) {
  const auto synonyms = Synonyms::parse("laptop, notebook, computer").value();
  const std::vector<std::string> languages{"de", "en"};
  QueryTerms terms = query_terms("laptop", languages);
  synonyms.expand("", languages, terms);
  for (const auto& term : terms.terms) EXPECT_EQ(term.group, terms.terms.front().group) << term.text;
  EXPECT_NE(terms.terms.front().group, bm25::QueryTerm::kAlone);
  ASSERT_EQ(terms.words.size(), 1U);
  EXPECT_THAT(terms.words.front(), ::testing::IsSupersetOf({"laptop", "notebook", "comput"}));
}

TEST(Synonyms, WrongLinesAreNamed) {
  EXPECT_THAT(refusal("a, b\nalone\n"), HasSubstr("line 2: expected two or more words"));
  EXPECT_THAT(refusal("annual leave, vacation"), HasSubstr("line 1: 'annual leave' is more than one word"));
  EXPECT_THAT(refusal("\n[ ]\n"), HasSubstr("line 2: the corpus has no name"));
  EXPECT_THAT(refusal("a, \xFF"), HasSubstr("not valid UTF-8"));
}

TEST(Synonyms, BoundsHoldAtTheirValues) {
  EXPECT_EQ(refusal(std::string(Synonyms::kWordBytesMax, 'a') + ", b"), "none");
  EXPECT_THAT(refusal(std::string(Synonyms::kWordBytesMax + 1, 'a') + ", b"), HasSubstr("the most are 100"));
  std::string group = "w0";
  for (std::size_t i = 1; i < Synonyms::kGroupWordsMax; ++i) group += fmt::format(",w{}", i);
  EXPECT_EQ(refusal(group), "none");
  EXPECT_THAT(refusal(group + ",more"), HasSubstr("17 words; the most are 16"));
  std::string groups;
  for (std::size_t i = 0; i < Synonyms::kGroupsMax; ++i) groups += "a,b\n";
  EXPECT_EQ(refusal(groups), "none");
  EXPECT_THAT(refusal(groups + "a,b"), HasSubstr("more than 10000 groups"));
  EXPECT_EQ(refusal(std::string(Synonyms::kFileBytesMax, '\n')), "none");
  EXPECT_THAT(refusal(std::string(Synonyms::kFileBytesMax + 1, '\n')), HasSubstr("the most are 4194304"));
}

TEST(LocalKeywordIndex, ASynonymFindsAPassageBelowThoseWithTheWordItself) {
  const auto words = std::make_shared<const Synonyms>(Synonyms::parse("[it]\nlaptop, notebook").value());
  LocalKeywordIndex index({}, {.words = words, .corpus_name = [](CorpusId corpus) { return corpus.value == 1 ? "it" : "hr"; }});
  for (const std::int64_t corpus : {1, 2}) {
    IndexChanges changes{0, 1, {}, {}};
    for (const auto& [chunk, text] :
         {std::pair<std::int64_t, const char*>{1, "a notebook on the desk"}, {2, "a laptop on the desk"}, {3, "a chair at the desk"}}) {
      IndexRow row;
      row.chunk = {chunk};
      row.document = {chunk};
      row.born = 1;
      row.text = text;
      changes.added.push_back(std::move(row));
    }
    ASSERT_TRUE(index.apply({}, CorpusId{corpus}, changes).has_value());
  }
  const auto found = index.search({}, {.corpus = {1}, .generation = 1, .text = "laptops"}).value();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].chunk.value, 2);
  EXPECT_EQ(found[1].chunk.value, 1);
  EXPECT_LT(found[1].score, found[0].score);
  EXPECT_EQ(index.search({}, {.corpus = {2}, .generation = 1, .text = "laptops"})->size(), 1U);
  const ChunkId chunks[] = {{1}, {3}};
  EXPECT_EQ(index.coverage({}, {.corpus = {1}, .generation = 1, .text = "laptops"}, chunks).value(), (std::vector<double>{1, 0}));
}

}  // namespace
}  // namespace footnote
