#include "providers/local/judge_excerpt.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/utf8.h"
#include "engine/bm25/analyzer.h"

namespace footnote {
namespace {

/// Shorter sentences are joined with the next one: they may end at the dot of an abbreviation or a number.
constexpr std::size_t kSentenceBytesMin = 30;
/// Only this many words of the question are used to choose the part.
constexpr std::size_t kAskedMax = 64;

/// One sentence, or several short ones, and the question's words that occur in it.
struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t words = 0;
};

std::uint64_t words_in(bm25::Analyzer& analyzer, std::span<const std::string> asked, std::string_view text) {
  std::uint64_t out = 0;
  analyzer.analyze(text, [&](const bm25::Term& term) {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (asked[i] == term.text) out |= std::uint64_t{1} << i;
    }
  });
  return out;
}

std::vector<Piece> pieces_of(std::span<const std::string> asked, std::string_view body) {
  bm25::Analyzer analyzer;
  std::vector<Piece> out;
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t stop = body.find_first_of(".!?\n", std::min(begin + kSentenceBytesMin, body.size()));
    const std::size_t end = stop == std::string_view::npos ? body.size() : stop + 1;
    out.push_back({begin, end, words_in(analyzer, asked, body.substr(begin, end - begin))});
    begin = end;
  }
  return out;
}

/// The start of the consecutive pieces that fit `room` and contain most of the question's words; the first of equals.
std::size_t best_begin(const std::vector<Piece>& pieces, std::size_t room) {
  std::size_t best = 0;
  int most = -1;
  for (std::size_t first = 0; first < pieces.size(); ++first) {
    std::uint64_t words = pieces[first].words;
    for (std::size_t next = first + 1; next < pieces.size() && pieces[next].end - pieces[first].begin <= room; ++next) {
      words |= pieces[next].words;
    }
    if (std::popcount(words) <= most) continue;
    most = std::popcount(words);
    best = pieces[first].begin;
  }
  return best;
}

std::string_view cut_between_words(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  const std::size_t space = text.find_last_of(" \n", bytes_max);
  return space == std::string_view::npos || space == 0 ? utf8_prefix(text, bytes_max) : text.substr(0, space);
}

}  // namespace

TextRange JudgeExcerpt::in_passage(const TextRange& range) const {
  return range.end <= head ? range : TextRange{range.begin - head + at, range.end - head + at};
}

JudgeExcerpt judge_excerpt(std::span<const std::string> asked, std::string_view passage, std::size_t bytes_max) {
  if (passage.size() <= bytes_max) return {std::string(passage), 0, 0};
  const std::size_t line = passage.find('\n');
  const std::size_t head = line < std::min(kExcerptHeadBytesMax, bytes_max) ? line + 1 : 0;
  const std::string_view body = passage.substr(head);
  const std::size_t room = bytes_max - head;
  const std::size_t at = best_begin(pieces_of(asked.first(std::min(asked.size(), kAskedMax)), body), room);
  JudgeExcerpt out{std::string(passage.substr(0, head)), head, head + at};
  out.text += cut_between_words(body.substr(at), room);
  return out;
}

}  // namespace footnote
