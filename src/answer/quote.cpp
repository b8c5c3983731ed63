#include "answer/quote.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "answer/shown_block.h"
#include "base/fold_words.h"
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

/// The blocks of a passage inside the range; of a block that the range cuts, the part inside.
std::string shown_range(const Hit& hit, const TextRange& range) {
  const std::string& text = hit.chunk.text;
  std::string out;
  for (chunk::QuoteBlock block : quotable_blocks(hit)) {
    block.range = {std::max(block.range.begin, range.begin), std::min(block.range.end, range.end)};
    if (block.range.begin >= block.range.end) continue;
    const std::string shown = shown_block(text, block);
    if (!shown.empty()) out += (out.empty() ? "" : "\n\n") + shown;
  }
  return out;
}

std::string quote_of(const ReadSpan& span, std::span<const SourceBlock> sources) {
  return shown_range(sources[span.passage].hit, span.range);
}

/// The quote with the first occurrence of these words emphasised, unless they are code or most of the quote.
std::string with_emphasis(std::string quote, std::string_view words) {
  const std::size_t at = quote.find(words);
  const bool is_part =
      !words.empty() && at != std::string::npos && 2 * words.size() <= quote.size() && quote.find("```") == std::string::npos;
  if (!is_part || words.find_first_of("*|\n") != std::string_view::npos) return quote;
  quote.insert(at + words.size(), "**");
  quote.insert(at, "**");
  return quote;
}

/// The heading of the section that the range begins in.
std::string heading_of(const Hit& hit, const TextRange& range) {
  for (const chunk::QuoteBlock& block : quotable_blocks(hit)) {
    if (block.range.end <= range.begin) continue;
    if (!block.heading) break;
    return plain_quote(std::string_view(hit.chunk.text).substr(block.heading->begin, block.heading->size()));
  }
  return hit.chunk.heading_path.empty() ? std::string() : plain_quote(hit.chunk.heading_path.back());
}

/// That heading, unless the quote contains all of its words.
std::string label_of(const Hit& hit, const TextRange& range, std::string_view quote) {
  std::string heading = heading_of(hit, range);
  const std::string said = " " + fold_words(quote) + " ";
  const std::string words = fold_words(heading);
  for (const std::string_view word : split(words, ' ')) {
    if (!word.empty() && said.find(fmt::format(" {} ", word)) == std::string::npos) return heading;
  }
  return {};
}

/// "**Heading:** text" before prose, "**Heading**" above lists, tables and code.
std::string with_label(const std::string& label, std::string quote) {
  if (label.empty()) return quote;
  const bool is_prose = quote.find('\n') == std::string::npos && !quote.starts_with('|') && !quote.starts_with("- ");
  return is_prose ? fmt::format("**{}:** {}", label, quote) : fmt::format("**{}**\n\n{}", label, quote);
}

/// The marker follows the last sentence or item; below a table or code it has a line of its own.
std::string with_marker(std::string quote, int number) {
  const std::size_t last_line = quote.rfind('\n') + 1;
  const bool is_apart = quote.ends_with("```") || std::string_view(quote).substr(last_line).starts_with('|');
  return fmt::format("{}{}[{}]", quote, is_apart ? "\n\n" : " ", number);
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
  Reading out{.spans = {}, .probability = reading.probability};
  std::vector<std::string> told;
  for (const ReadSpan& span : reading.spans) {
    std::string quote = fold_words(quote_of(span, sources));
    if (quote.empty() || std::ranges::find(told, quote) != told.end()) continue;
    told.push_back(std::move(quote));
    out.spans.push_back(span);
  }
  return out;
}

std::string header_of(const Hit& hit) {
  const std::vector<std::string>& path = hit.chunk.heading_path;
  return path.empty() ? hit.document.title : join(path, " > ");
}

std::vector<chunk::QuoteBlock> quotable_blocks(const Hit& hit) {
  return chunk::quote_blocks(hit.chunk.text, chunk::line_breaks_of(hit.document.media_type), hit.chunk.heading_path);
}

QuotedAnswer compose_quotes(const Reading& reading, std::span<const SourceBlock> sources) {
  QuotedAnswer answer;
  std::size_t length = 0;
  const auto add = [&](const std::string& shown, const TextRange& range, const SourceBlock& block) {
    if (shown.empty()) return;
    const std::string_view before = length == 0 ? "" : "\n\n";
    std::string piece = fmt::format("{}{}", before, with_marker(shown, block.number));
    const Chunk& chunk = block.hit.chunk;
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
  const auto words_of = [&](const ReadSpan& span) {
    if (!span.answer) return std::string();
    return plain_quote(std::string_view(sources[span.passage].hit.chunk.text).substr(span.answer->begin, span.answer->size()));
  };
  const Reading told = told_once(reading, sources);
  const auto alone = std::ranges::find_if(told.spans, &ReadSpan::answers_alone);
  if (alone != told.spans.end()) add(words_of(*alone), *alone->answer, sources[alone->passage]);
  for (const ReadSpan& span : told.spans) {
    const Hit& hit = sources[span.passage].hit;
    const std::string quote = quote_of(span, sources);
    add(with_label(label_of(hit, span.range, quote), with_emphasis(quote, words_of(span))), span.range, sources[span.passage]);
  }
  return answer;
}

}  // namespace footnote::answer
