#include "chunk/front_matter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace footnote::chunk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FrontMatter, ReadsACanonicalDocument) {
  const std::string text =
      "---\n"
      "id: KB-12\n"
      "slug: restart-queue  # the address\n"
      "title: \"Restart: the \\\"queue\\\"\"\n"
      "type: runbook\n"
      "status: review\n"
      "tags: [ops, \"a, b\", 'it''s']\n"
      "owners:\n"
      "  - ann\n"
      "  - bob\n"
      "retrieval_priority: 80\n"
      "related:\n"
      "- '[[queue-design|Design]]'\n"
      "- ../other.md\n"
      "supersedes: old-restart\n"
      "summary: >\n"
      "  How to\n"
      "  restart.\n"
      "language: en-US\n"
      "url: https://docs.example.com/restart\n"
      "evidence_tier: official\n"
      "---\n"
      "Body";
  const FrontMatter front = parse_front_matter(text);
  EXPECT_TRUE(front.present);
  EXPECT_TRUE(front.canonical);
  EXPECT_THAT(front.warnings, IsEmpty());
  EXPECT_EQ(front.id, "KB-12");
  EXPECT_EQ(front.slug, "restart-queue");
  EXPECT_EQ(front.title, "Restart: the \"queue\"");
  EXPECT_EQ(front.type, "runbook");
  EXPECT_EQ(front.status, DocumentStatus::kReview);
  EXPECT_THAT(front.tags, ElementsAre("ops", "a, b", "it's"));
  EXPECT_THAT(front.owners, ElementsAre("ann", "bob"));
  EXPECT_EQ(front.retrieval_priority, 80);
  EXPECT_THAT(front.related, ElementsAre("queue-design", "../other.md"));
  EXPECT_THAT(front.supersedes, ElementsAre("old-restart"));
  EXPECT_EQ(front.summary, "How to restart.");
  EXPECT_EQ(front.language, "en");
  EXPECT_EQ(front.url, "https://docs.example.com/restart");
  EXPECT_EQ(front.evidence, EvidenceTier::kOfficial);
  EXPECT_EQ(text.substr(front.body_offset), "Body");
}

TEST(FrontMatter, AnAddressIsThatOfAPage) {
  EXPECT_EQ(parse_front_matter("---\ncanonical: https://docs.example.com/a\n---\n").url, "https://docs.example.com/a");
  for (const char* other : {"/docs/a", "javascript:alert(1)", "docs.example.com/a"}) {
    EXPECT_EQ(parse_front_matter(std::string("---\nurl: ") + other + "\n---\n").url, "") << other;
  }
}

TEST(FrontMatter, OtherToolsBlocksAreSteppedOver) {
  const FrontMatter front = parse_front_matter(
      "---\ntitle: Docs\ntype: docs\nstatus: published\nsidebar:\n  order: 2\n  badge: {text: new}\nmenu: {a: b}\ntags: a, b\n"
      "list: [a,\n  b]\n\n# comment\nempty:\n---\n# Hi\n");
  EXPECT_TRUE(front.present);
  EXPECT_FALSE(front.canonical);
  EXPECT_EQ(front.title, "Docs");
  EXPECT_THAT(front.tags, ElementsAre("a", "b"));
  EXPECT_THAT(front.warnings, IsEmpty());
}

TEST(FrontMatter, BadValuesMakeItNonCanonical) {
  for (std::string_view line :
       {"status: done", "slug: Not A Slug", "retrieval_priority: 101", "retrieval_priority: high", "evidence_tier: gossip"}) {
    const FrontMatter front = parse_front_matter("---\ntype: runbook\n" + std::string(line) + "\n---\nx");
    EXPECT_FALSE(front.canonical) << line;
    EXPECT_EQ(front.warnings.size(), 1u) << line;
    EXPECT_GT(front.body_offset, 0u) << line;
  }
  EXPECT_FALSE(parse_front_matter("---\ntype: banana\n---\n").canonical);
}

TEST(FrontMatter, WhatIsNotFrontMatterStaysText) {
  for (std::string_view text : {"", "---", "---\n", "---\nno end", "Text\n---\na: b\n---\n", " ---\na: b\n---\n", "----\na: b\n----\n"}) {
    const FrontMatter front = parse_front_matter(text);
    EXPECT_FALSE(front.present) << text;
    EXPECT_EQ(front.body_offset, 0u) << text;
    EXPECT_THAT(front.warnings, IsEmpty()) << text;
  }
  const FrontMatter prose = parse_front_matter("---\nThis is a rule, then prose.\n---\n");
  EXPECT_EQ(prose.body_offset, 0u);
  EXPECT_EQ(prose.warnings.size(), 1u);
}

TEST(FrontMatter, Bounds) {
  const std::string filler(kFrontMatterBytesMax, 'x');
  EXPECT_FALSE(parse_front_matter("---\na: " + filler + "\n---\n").present);
  std::string many = "---\ntags:\n";
  for (std::size_t i = 0; i < kFrontMatterItemsMax + 5; ++i) many += "- t" + std::to_string(i) + "\n";
  EXPECT_EQ(parse_front_matter(many + "---\n").tags.size(), kFrontMatterItemsMax);
  many = "---\ntags: t";
  for (std::size_t i = 0; i < kFrontMatterItemsMax + 5; ++i) many += ", t" + std::to_string(i);
  EXPECT_EQ(parse_front_matter(many + "\n---\n").tags.size(), kFrontMatterItemsMax);
}

TEST(FrontMatter, RandomBlocksNeverFail) {
  const std::vector<std::string> parts = {"---\n", "a: ", "title: ", "tags: ", "[", "]", "\"", "'",  "\n", "- ",
                                          "  ",    "|",   ">",       "#",      "x", ",", "\\", ": ", "{",  "status: "};
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string text = "---\n";
    for (unsigned i = random() % 30; i > 0; --i) text += parts[random() % parts.size()];
    const FrontMatter front = parse_front_matter(text);
    ASSERT_LE(front.body_offset, text.size()) << text;
  }
}

TEST(FrontMatter, TheFirstReadableDateSaysWhenItChanged) {
  const auto updated = [](std::string_view lines) {
    const auto time = parse_front_matter(fmt::format("---\n{}\n---\ntext\n", lines)).updated_at;
    return time ? to_rfc3339(*time) : std::string("none");
  };
  EXPECT_EQ(updated("date: 2026-01-02\nupdated: 2026-03-04"), "2026-03-04T00:00:00.000Z");
  EXPECT_EQ(updated("lastmod: 2026-03-04T10:00:00+02:00"), "2026-03-04T08:00:00.000Z");
  EXPECT_EQ(updated("updated: last week\ndate: \"2026-01-02\""), "2026-01-02T00:00:00.000Z");
  EXPECT_EQ(updated("date: sometime"), "none");
  EXPECT_EQ(updated("title: x"), "none");
}

}  // namespace
}  // namespace footnote::chunk
