#include "chunk/chunker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "chunk/blocks.h"
#include "support/source_folder.h"

namespace footnote::chunk {
namespace {

using testing::ElementsAre;

ParsedDocument parse(std::string_view key, Format format, std::string_view content) {
  auto document = parse_document(key, format, content);
  EXPECT_TRUE(document.has_value());
  return document ? *std::move(document) : ParsedDocument{};
}

/// One line per chunk: "A > B: text", line ends shown as \n.
std::string show(const std::vector<Piece>& pieces) {
  std::string out;
  for (const Piece& piece : pieces) {
    std::string text;
    for (char c : piece.text) text += c == '\n' ? std::string("\\n") : std::string(1, c);
    out += join(piece.heading_path, " > ") + ": " + text + "\n";
  }
  return out;
}

void check(std::string_view markdown, const ChunkOptions& options, std::string_view expected) {
  EXPECT_EQ(show(chunk_document(parse("a.md", Format::kMarkdown, markdown), options)), expected);
}

constexpr ChunkOptions kSmall{.target_bytes = 40, .max_bytes = 80, .overlap_bytes_max = 0};

std::vector<Piece> windows(std::string_view text) {
  return chunk_document(parse("a.txt", Format::kPlainText, text), {.cut = Cut::kWindows});
}

TEST(Windows, AreSoManyCharactersLongAndShareSoMany) {
  std::string text;
  for (int i = 0; i < 1'600; ++i) text += i % 7 == 0 ? "\xC3\xA9" : "x";  // é: a character of two bytes
  const auto pieces = windows(text);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(count_code_points(pieces[0].text), kWindowChars);
  EXPECT_EQ(count_code_points(pieces[1].text), kWindowChars);
  EXPECT_EQ(count_code_points(pieces[2].text), 200u);
  const auto overlap = [](const Piece& before, const Piece& after) {
    return count_code_points(before.text) - count_code_points(before.text.substr(0, after.range.begin - before.range.begin));
  };
  EXPECT_EQ(overlap(pieces[0], pieces[1]), kWindowOverlapChars);
  EXPECT_EQ(overlap(pieces[1], pieces[2]), kWindowOverlapChars);
  for (const Piece& piece : pieces) {
    EXPECT_EQ(piece.text, text.substr(piece.range.begin, piece.range.size()));
    EXPECT_TRUE(piece.heading_path.empty());
  }
}

TEST(Windows, EndWithTheTextAndNotWithinTheLastOne) {
  EXPECT_EQ(windows(std::string(kWindowChars, 'x')).size(), 1u);
  EXPECT_EQ(windows(std::string(kWindowChars + 1, 'x')).size(), 2u);
  EXPECT_EQ(windows(std::string(2 * kWindowChars - kWindowOverlapChars, 'x')).size(), 2u);
  EXPECT_TRUE(windows("").empty());
  EXPECT_TRUE(windows(" \n ").empty());
  EXPECT_EQ(windows(std::string(1'000, ' ') + "word").size(), 1u);
}

TEST(Chunker, SmallDocumentIsOneChunk) {
  check("# A\n\nWords.\n\n## B\n\nMore.\n", {}, "A: # A\\n\\nWords.\\n\\n## B\\n\\nMore.\n");
  check("Just words.", {}, ": Just words.\n");
  check("", {}, "");
  check(" \n\n ", {}, "");
}

TEST(Chunker, SectionsKeepTheirHeadingAndPath) {
  check("# Guide\n\nIntro words that fill the chunk.\n\n## Setup\n\nDo this first and then that.\n\n## Use\n\nThen do that one.\n", kSmall,
        "Guide: # Guide\\n\\nIntro words that fill the chunk.\n"
        "Guide > Setup: ## Setup\\n\\nDo this first and then that.\n"
        "Guide > Use: ## Use\\n\\nThen do that one.\n");
}

TEST(Chunker, SmallSiblingsShareAChunkUnderTheirParent) {
  check("# G\n\nIntro words that fill the whole chunk.\n\n## A\n\nOne.\n\n## B\n\nTwo.\n\n## C\n\nA longer text that stands alone.\n",
        kSmall,
        "G: # G\\n\\nIntro words that fill the whole chunk.\n"
        "G: ## A\\n\\nOne.\\n\\n## B\\n\\nTwo.\n"
        "G > C: ## C\\n\\nA longer text that stands alone.\n");
}

TEST(Chunker, HeadingWithoutTextGoesWithItsFirstChild) {
  check("# Top\n\n## Sub\n\nWords that fill up most of it. And a second sentence that makes it long.\n", kSmall,
        "Top > Sub: # Top\\n\\n## Sub\\n\\nWords that fill up most of it.\n"
        "Top > Sub: And a second sentence that makes it long.\n");
}

TEST(Chunker, AnchorsAreNoTextOfTheirOwn) {
  check("# Top\n\n<a name=\"sub\"></a>\n## Sub\n\nWords that fill up most of it, and more words to make it long.\n", kSmall,
        "Top > Sub: # Top\\n\\n<a name=\"sub\"></a>\\n## Sub\n"
        "Top > Sub: Words that fill up most of it, and more words to make it long.\n");
}

TEST(Chunker, LongSectionsAreCutBetweenSentencesWithOverlap) {
  ChunkOptions options = kSmall;
  options.overlap_bytes_max = 20;
  check("First sentence is here. Second one. Third sentence is here. Fourth one. Fifth.", options,
        ": First sentence is here. Second one.\n"
        ": Second one. Third sentence is here.\n"
        ": Fourth one. Fifth.\n");
}

TEST(Chunker, CodeAndTablesStayWholeUpToTheMaximum) {
  check("Run:\n\n```\nmake one\nmake two\nmake three\nmake four\nmake five\n```\n", kSmall,
        ": Run:\\n\\n```\\nmake one\\nmake two\\nmake three\\nmake four\\nmake five\\n```\n");
  check("```\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\ncccccccccccccccccccccccccccccc\n```\n", kSmall,
        ": ```\\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
        ": bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
        ": cccccccccccccccccccccccccccccc\\n```\n");
}

/// Searching for a space before each cut must not go back to the beginning: that would take minutes.
TEST(Chunker, TextWithoutSpacesIsCutAsFastAsAnyOther) {
  const std::string text(4 << 20, 'x');
  for (const Format format : {Format::kPlainText, Format::kMarkdown}) {
    std::size_t covered = 0;
    for (const Piece& piece : chunk_document(parse("a", format, text), {.overlap_bytes_max = 0})) covered += piece.text.size();
    EXPECT_EQ(covered, text.size());
  }
}

TEST(Chunker, TitleOutsideTheTextIsTheRootOfThePath) {
  check("---\ntitle: Guide\n---\n## Setup\n\nWords.\n", {}, "Guide > Setup: ## Setup\\n\\nWords.\n");
  check("---\ntitle: Guide\n---\n# Guide\n\nWords.\n", {}, "Guide: # Guide\\n\\nWords.\n");
}

TEST(Chunker, LinesCountInTheFile) {
  const auto pieces = chunk_document(parse("a.md", Format::kMarkdown, "---\ntitle: T\n---\n\n# A\n\nWords.\nMore.\n"));
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].first_line, 5);
  EXPECT_EQ(pieces[0].last_line, 8);
  EXPECT_EQ(pieces[0].source_type, "doc");
}

TEST(Chunker, HashIsOfPathAndWords) {
  const auto hash = [](std::string_view text) { return chunk_document(parse("a.md", Format::kMarkdown, text)).at(0).content_hash; };
  EXPECT_EQ(hash("# A\n\nOne two."), hash("\n# A\n\n\nOne  two.\n"));
  EXPECT_NE(hash("# A\n\nOne two."), hash("# A\n\nOne three."));
  EXPECT_EQ(hash("x").size(), 64u);
  Piece piece{.text = "## B\nx", .heading_path = {"A", "B"}};
  EXPECT_EQ(embedding_text(piece), "A > B\n## B\nx");
}

void check_properties(const ParsedDocument& document, const ChunkOptions& options) {
  const std::string_view text = document.text;
  std::vector<bool> covered(text.size(), false);
  std::size_t last_begin = 0, last_end = 0;
  bool first = true;
  for (const Piece& piece : chunk_document(document, options)) {
    ASSERT_LE(piece.range.end, text.size());
    ASSERT_LT(piece.range.begin, piece.range.end);
    ASSERT_TRUE(first || (piece.range.begin > last_begin && piece.range.end > last_end)) << text;
    ASSERT_TRUE(is_utf8_boundary(text, piece.range.begin) && is_utf8_boundary(text, piece.range.end)) << text;
    ASSERT_EQ(piece.text, text.substr(piece.range.begin, piece.range.size()));
    ASSERT_LE(piece.text.size(), options.max_bytes) << text;
    ASSERT_LE(piece.first_line, piece.last_line);
    std::fill(covered.begin() + static_cast<std::ptrdiff_t>(piece.range.begin),
              covered.begin() + static_cast<std::ptrdiff_t>(piece.range.end), true);
    last_begin = piece.range.begin;
    last_end = piece.range.end;
    first = false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool space = text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r');
    ASSERT_TRUE(space || covered[i]) << "byte " << i << " of:\n" << text;
  }
}

TEST(Chunker, PropertiesHoldForRandomDocuments) {
  const std::vector<std::string> parts = {"# One\n",
                                          "## Two\n\n",
                                          "### Three *x*\n",
                                          "Title\n===\n",
                                          "Words and words. ",
                                          "More? Yes! ",
                                          "\n\n",
                                          "\n",
                                          "- item\n",
                                          "  - sub\n",
                                          "1. first\n",
                                          "```\ncode here\n\nmore\n```\n",
                                          "    indented\n",
                                          "| a | b |\n|---|---|\n| c | d |\n",
                                          "> quote\n",
                                          "---\n",
                                          "[x]: http://a\n",
                                          "<div>\n",
                                          "</div>\n\n",
                                          "averyveryverylongwordwithoutanyspaceatallinitthatgoesonandon",
                                          "\xC3\xA9\xC3\xA9",
                                          "漢字。",
                                          "[[link]]",
                                          "***\n",
                                          "\t",
                                          "#\n",
                                          "> # q\n"};
  std::mt19937 random(5);
  for (int round = 0; round < 6000; ++round) {
    std::string text;
    for (unsigned i = random() % 50; i > 0; --i) text += parts[random() % parts.size()];
    const ChunkOptions options{.target_bytes = 30 + random() % 200, .max_bytes = 240 + random() % 100, .overlap_bytes_max = random() % 60};
    for (Format format : {Format::kMarkdown, Format::kPlainText, Format::kHtml}) {
      const ParsedDocument document = parse("a.md", format, text);
      ASSERT_NO_FATAL_FAILURE(check_properties(document, options));
      ASSERT_EQ(show(chunk_document(document, options)), show(chunk_document(document, options)));
    }
    ParsedDocument by_lines = parse("a.md", Format::kMarkdown, text);
    by_lines.blocks = markdown_blocks_by_lines(by_lines.text, 1);
    ASSERT_NO_FATAL_FAILURE(check_properties(by_lines, options));
  }
}

TEST(Chunker, MeaninglessOptionsAreRaised) {
  const ParsedDocument document =
      parse("a.txt", Format::kPlainText,
            "Some words \xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80 here. And more.");
  ChunkOptions options{.target_bytes = 0, .max_bytes = 0, .overlap_bytes_max = 999};
  const auto pieces = chunk_document(document, options);
  EXPECT_GT(pieces.size(), 2u);
  for (const Piece& piece : pieces) EXPECT_LE(piece.text.size(), 16u);
}

/// The contents of a golden file: the document, then each chunk with its place.
std::string golden(const ParsedDocument& document, const ChunkOptions& options) {
  std::string out = fmt::format("title: {}\ntype: {}\nlanguage: {}\nurl: {}\n", document.attributes.title,
                                document.attributes.canonical_type, document.attributes.language, document.attributes.url);
  for (const Edge& edge : document.edges)
    out += fmt::format("edge: {} {} {} ({})\n", edge.from_key, edge.type, edge.to_key, edge.provenance);
  for (const std::string& warning : document.warnings) out += "warning: " + warning + "\n";
  for (const Piece& piece : chunk_document(document, options)) {
    out += fmt::format("\n=== lines {}-{}, bytes {}-{}, {}\n{}\n", piece.first_line, piece.last_line, piece.range.begin, piece.range.end,
                       join(piece.heading_path, " > "), piece.text);
  }
  return out;
}

/// FOOTNOTE_UPDATE_GOLDENS=1 rewrites the expected files.
void check_golden(const std::string& name) {
  const std::filesystem::path folder = test::source_folder() / "tests/fixtures/chunk";
  const auto content = read_file(folder / name, kDocumentBytesMax);
  ASSERT_TRUE(content.has_value());
  const Format format = name.ends_with(".md") ? Format::kMarkdown : name.ends_with(".html") ? Format::kHtml : Format::kPlainText;
  const ParsedDocument document = parse(name, format, *content);
  ASSERT_NO_FATAL_FAILURE(check_properties(document, {}));
  const std::string got = golden(document, {.target_bytes = 400, .max_bytes = 900, .overlap_bytes_max = 120});
  if (std::getenv("FOOTNOTE_UPDATE_GOLDENS") != nullptr) {
    ASSERT_TRUE(write_file_atomically(folder / (name + ".expected"), got).has_value());
  }
  EXPECT_EQ(got, read_file(folder / (name + ".expected"), kDocumentBytesMax).value_or("missing")) << name;
}

TEST(Chunker, Goldens) {
  for (const char* name : {"handbook.md", "shop.html", "notes.txt"}) check_golden(name);
}

}  // namespace
}  // namespace footnote::chunk
