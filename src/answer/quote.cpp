#include "answer/quote.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"

namespace footnote::answer {

namespace {

/// Removes leading "- ", "* ", "3. ", "> ", "## " and "| ", repeatedly.
std::string_view without_block_marks(std::string_view text) {
  for (;;) {
    text = trim(text);
    std::size_t at = 0;
    if (text.starts_with('#') || text.starts_with('>') || text.starts_with('|')) {
      at = text.find_first_not_of("#>|");
    } else if (text.starts_with("- ") || text.starts_with("* ") || text.starts_with("+ ")) {
      at = 2;
    } else {
      while (at < text.size() && is_ascii_digit(text[at])) ++at;
      if (at == 0 || at > 3 || at + 1 >= text.size() || (text[at] != '.' && text[at] != ')') || text[at + 1] != ' ') return text;
      at += 2;
    }
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at);
  }
}

/// One past the closing mark of the bracketed text that starts at `open`, or npos.
std::size_t end_of(std::string_view text, std::size_t open, char close) {
  const std::size_t end = text.find(close, open + 1);
  return end == std::string_view::npos ? end : end + 1;
}

/// Handles "[label](target)" and "[12]" at `at`; returns the number of bytes consumed, 0 if it is neither.
std::size_t take_bracket(std::string_view text, std::size_t at, std::string& out) {
  const std::size_t end = end_of(text, at, ']');
  if (end == std::string_view::npos) return 0;
  const std::string_view label = text.substr(at + 1, end - at - 2);
  if (end < text.size() && text[end] == '(') {
    const std::size_t target_end = end_of(text, end, ')');
    if (target_end == std::string_view::npos) return 0;
    out += label;
    return target_end - at;
  }
  if (label.empty() || !std::ranges::all_of(label, [](char c) { return is_ascii_digit(c) || c == ',' || c == ' ' || c == '-'; })) return 0;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return end - at;
}

bool is_word_edge(std::string_view text, std::size_t at) {
  return at >= text.size() || std::string_view(" \n\t.,;:!?()[]\"'").find(text[at]) != std::string_view::npos;
}

/// Length of an emphasis or code mark: backticks, "**", "__", and a single "*" or "_" that opens or closes a word (elsewhere it is
/// arithmetic or part of a name, and is kept); also the ">" that a wrapped quote repeats on each line.
std::size_t mark_length(std::string_view text, std::size_t at) {
  if (text.substr(at, 3) == "```") {  // including an optional language name
    return std::min(text.find_first_of(" \n", at), text.size()) - at;
  }
  if (text[at] == '`') return 1;
  if (text[at] == '>' && at > 0 && text[at - 1] == '\n') return 1;
  if (text[at] != '*' && text[at] != '_') return 0;
  if (at + 1 < text.size() && text[at + 1] == text[at]) return 2;
  const bool opens = (at == 0 || is_word_edge(text, at - 1)) && !is_word_edge(text, at + 1);
  const bool closes = at > 0 && !is_word_edge(text, at - 1) && is_word_edge(text, at + 1);
  return opens || closes ? 1 : 0;
}

std::string quote_of(const ReadSpan& span, std::span<const SourceBlock> sources) {
  const std::string& text = sources[span.passage].hit.chunk.text;
  return plain_quote(std::string_view(text).substr(span.range.begin, span.range.size()));
}

}  // namespace

std::string plain_quote(std::string_view source_sentence) {
  std::string_view text = without_block_marks(source_sentence);
  while (text.ends_with('|')) text = trim(text.substr(0, text.size() - 1));
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t skip = mark_length(text, at);
    if (skip == 0 && text[at] == '[') skip = take_bracket(text, at, out);
    if (skip == 0) {
      out.push_back(text[at]);
      skip = 1;
    }
    at += skip;
  }
  return fold_spaces(out);
}

Reading in_reading_order(Reading reading) {
  std::map<std::size_t, std::size_t> place;  // position of each passage's best span
  for (std::size_t i = 0; i < reading.spans.size(); ++i) place.try_emplace(reading.spans[i].passage, i);
  std::ranges::sort(reading.spans, {}, [&](const ReadSpan& span) { return std::pair(place.at(span.passage), span.range.begin); });
  return reading;
}

Reading told_once(const Reading& reading, std::span<const SourceBlock> sources) {
  Reading out;
  std::vector<std::string> told;
  for (const ReadSpan& span : reading.spans) {
    std::string quote = quote_of(span, sources);
    if (quote.empty() || std::ranges::find(told, quote) != told.end()) continue;
    told.push_back(std::move(quote));
    out.spans.push_back(span);
  }
  return out;
}

QuotedAnswer compose_quotes(const Reading& reading, std::span<const SourceBlock> sources) {
  QuotedAnswer answer;
  std::size_t length = 0;
  const Reading told = told_once(reading, sources);
  const auto answering = std::ranges::find_if(told.spans, [](const ReadSpan& span) { return span.answer.has_value(); });
  const auto add = [&](std::string_view before, const TextRange& range, const SourceBlock& block) {
    const Chunk& chunk = block.hit.chunk;
    const std::string quote = plain_quote(std::string_view(chunk.text).substr(range.begin, range.size()));
    if (quote.empty()) return;
    std::string piece = fmt::format("{}{} [{}]", before, quote, block.number);
    answer.citations.push_back({.number = block.number,
                                .document = chunk.document,
                                .document_version = chunk.document_version,
                                .chunk = chunk.id,
                                .answer_range = {length + before.size(), length + piece.size()},
                                .support_range = TextRange{chunk.range.begin + range.begin, chunk.range.begin + range.end},
                                .support = Support::kSupported});
    length += piece.size();
    answer.pieces.push_back(std::move(piece));
  };
  std::string_view before;
  if (answering != told.spans.end()) {
    add(before, *answering->answer, sources[answering->passage]);
    if (length > 0) before = "\n\n";
  }
  for (const ReadSpan& span : told.spans) {
    add(before, span.range, sources[span.passage]);
    before = " ";
  }
  return answer;
}

}  // namespace footnote::answer
