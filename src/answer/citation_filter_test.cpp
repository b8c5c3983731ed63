#include "answer/citation_filter.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"

namespace footnote::answer {
namespace {

constexpr int kSources = 3;

struct Filtered {
  std::string text;
  std::vector<Marker> markers;
};

Filtered filter_in_pieces(const std::vector<std::string>& pieces) {
  CitationFilter filter(kSources);
  std::string shown;
  for (const std::string& piece : pieces) shown += filter.feed(piece);
  shown += filter.finish();
  EXPECT_EQ(shown, filter.text());
  return {shown, filter.markers()};
}

std::string numbers_of(const Filtered& filtered) {
  std::vector<std::string> out;
  for (const Marker& marker : filtered.markers) {
    const std::string written = "[" + std::to_string(marker.number) + "]";
    EXPECT_EQ(filtered.text.substr(marker.offset, written.size()), written) << "the offset is that of the marker";
    out.push_back(std::to_string(marker.number));
  }
  return join(out, " ");
}

/// Filters with three sources. `markers`: the bound numbers.
void check_filter(std::string_view text, std::string_view expected, std::string_view markers) {
  const Filtered filtered = filter_in_pieces({std::string(text)});
  EXPECT_EQ(filtered.text, expected) << text;
  EXPECT_EQ(numbers_of(filtered), markers) << text;
}

TEST(CitationFilter, BringsEveryFormToOne) {
  check_filter("A [1].", "A [1].", "1");
  check_filter("A [1, 2].", "A [1][2].", "1 2");
  check_filter("A [1,2;3].", "A [1][2][3].", "1 2 3");
  check_filter("A [[2]].", "A [2].", "2");
  check_filter("A [1-3].", "A [1][2][3].", "1 2 3");
  check_filter("A [1][2].", "A [1][2].", "1 2");
  check_filter("[3] A", "[3] A", "3");
  check_filter("A [ 1 ].", "A [1].", "1");
}

TEST(CitationFilter, DropsNumbersThatNoSourceHas) {
  check_filter("A [9].", "A.", "");
  check_filter("A [0].", "A.", "");
  check_filter("A [1, 9].", "A [1].", "1");
  check_filter("A [2-9].", "A [2][3].", "2 3");
  check_filter("A [[9]] b.", "A b.", "");
  check_filter("A[99].", "A.", "");
}

TEST(CitationFilter, AnUnbalancedBracketDoesNotHideAMarker) {
  check_filter("A [[9] b.", "A [ b.", "");
  check_filter("A [[1] b.", "A [[1] b.", "1");
  check_filter("A [[9]", "A [", "");
  check_filter("A [1 [9] [2]", "A [1 [2]", "2");
}

TEST(CitationFilter, LeavesOtherBracketsAlone) {
  check_filter("In [2024] it [sic] rose [x] [].", "In [2024] it [sic] rose [x] [].", "");
  check_filter("[1, 2024] stays", "[1, 2024] stays", "");
  check_filter("open [1", "open [1", "");
  check_filter("[link](http://a.b) a ] b", "[link](http://a.b) a ] b", "");
  check_filter("  two  spaces  ", "  two  spaces  ", "");
  check_filter("", "", "");
}

TEST(CitationFilter, LeavesCodeAlone) {
  check_filter("`a[9]` and [1]", "`a[9]` and [1]", "1");
  check_filter("```\nx[9] = y[1]\n```\nDone [2].", "```\nx[9] = y[1]\n```\nDone [2].", "2");
}

TEST(CitationFilter, ALoneBacktickEndsWithItsLine) {
  check_filter("A ` b [9].\nC [9] d [1].", "A ` b [9].\nC d [1].", "1");
  check_filter("``a`[9]`` [9] [1]", "``a`[9]`` [1]", "1");
}

TEST(CitationFilter, AMarkerMayBeSplitOverPieces) {
  const Filtered filtered = filter_in_pieces({"A ", "[", "1", ", ", "2", "]", "."});
  EXPECT_EQ(filtered.text, "A [1][2].");
  EXPECT_EQ(numbers_of(filtered), "1 2");
}

TEST(CitationFilter, HoldsBackOnlyWhatMayBecomeAMarker) {
  CitationFilter filter(kSources);
  EXPECT_EQ(filter.feed("Hello"), "Hello");
  EXPECT_EQ(filter.feed(" wor"), " wor");
  EXPECT_EQ(filter.feed("ld [1"), "ld");
  EXPECT_EQ(filter.feed("]"), " [1]");
  EXPECT_EQ(filter.feed(" [" + std::string(500, '1')).size() + CitationFilter::kHeldBytesMax >= 500, true);
}

TEST(CitationFilter, BracketsAreHeldBackNoFurtherThanTheBound) {
  const std::string open(100'000, '[');
  CitationFilter filter(3);
  std::string out = filter.feed(open);
  EXPECT_GE(out.size() + CitationFilter::kHeldBytesMax, open.size());
  out += filter.feed("x");
  EXPECT_EQ(out, open + "x");
  // Closing brackets are held back while an opening one is unmatched.
  CitationFilter nested(3);
  const std::string deep = std::string(40, '[') + "-" + std::string(39, ']');
  out = nested.feed(deep);
  EXPECT_GE(out.size() + CitationFilter::kHeldBytesMax, deep.size());
}

/// Any slicing gives the same text and markers, and no number without a source.
TEST(CitationFilter, AnySlicingGivesTheSame) {
  std::mt19937 random(7);
  const std::string_view alphabet[] = {"[", "]", "[", "]", "1", "2",   "9",     "2024", " ",
                                       ",", "-", "a", "`", ".", "[1]", "[[2]]", "[9]",  "\xc3\xa9"};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) text += alphabet[random() % std::size(alphabet)];
    const Filtered whole = filter_in_pieces({text});
    std::vector<std::string> pieces, bytes;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 7;
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    for (char c : text) bytes.emplace_back(1, c);
    for (const auto& slicing : {pieces, bytes}) {
      const Filtered sliced = filter_in_pieces(slicing);
      ASSERT_EQ(sliced.text, whole.text) << text;
      ASSERT_EQ(numbers_of(sliced), numbers_of(whole)) << text;
    }
    const bool has_code = text.find('`') != std::string::npos;
    ASSERT_TRUE(has_code || whole.text.find("[9]") == std::string::npos) << text;
  }
}

TEST(CitationFilter, MarkersPastTheBoundAreDropped) {
  CitationFilter filter(9);
  for (std::size_t i = 0; i < CitationFilter::kMarkersMax + 5; ++i) filter.feed("a[1]");
  filter.finish();
  EXPECT_EQ(filter.markers().size(), CitationFilter::kMarkersMax);
  EXPECT_EQ(filter.text().size(), CitationFilter::kMarkersMax * 4 + 5);
}

}  // namespace
}  // namespace footnote::answer
