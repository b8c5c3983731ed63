#include "chunk/quote_blocks.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "chunk/lines.h"
#include "chunk/sentences.h"

namespace footnote::chunk {

namespace {

/// Consecutive lines of one kind, before they are joined with their introduction.
struct Run {
  LineKind kind = LineKind::kText;
  TextRange range;
  std::vector<TextRange> lines = {};
};

std::string_view part(std::string_view text, TextRange range) { return text.substr(range.begin, range.size()); }

/// "|---|:--|": the line between a Markdown table's header and its rows.
bool is_table_rule(std::string_view line) { return line.find_first_not_of(" \t|:-") == std::string_view::npos; }

bool continues(LineKind open, LineKind next) {
  if (open == next) return next == LineKind::kText || next == LineKind::kTableRow || next == LineKind::kQuote;
  return next == LineKind::kText && (open == LineKind::kListItem || open == LineKind::kQuote);
}

/// "after\n40. Then": a number at the beginning of a wrapped line. As in CommonMark, only 1 begins a list inside a paragraph.
bool is_wrapped_number(std::string_view line) {
  const std::string_view text = trim(line);
  return !text.empty() && text.front() >= '0' && text.front() <= '9' && !text.starts_with("1.") && !text.starts_with("1)");
}

/// Fenced code is one run of kind kFence with its fences; every list item is a run.
std::vector<Run> runs_of(std::string_view text, std::span<const std::string> headings) {
  const LineIndex lines(text, 0);
  std::vector<Run> out;
  bool open = false;
  for (int i = 0; i < lines.count(); ++i) {
    const TextRange range = lines.line(i);
    const std::string_view line = part(text, range);
    LineKind kind = classify_line(line);
    if (kind == LineKind::kText && std::ranges::find(headings, trim(line)) != headings.end()) kind = LineKind::kHeading;
    if (kind == LineKind::kListItem && open && out.back().kind == LineKind::kText && is_wrapped_number(line)) kind = LineKind::kText;
    if (kind == LineKind::kFence) {
      const std::string_view mark = trim(line).substr(0, 3);
      int last = i + 1;
      while (last < lines.count() && !trim(part(text, lines.line(last))).starts_with(mark)) ++last;
      i = std::min(last, lines.count() - 1);
      out.push_back({kind, {range.begin, lines.line(i).end}});
      open = false;
    } else if (kind == LineKind::kBlank) {
      open = false;
    } else if (open && continues(out.back().kind, kind)) {
      out.back().range.end = range.end;
      out.back().lines.push_back(range);
    } else {
      out.push_back({kind, range, {range}});
      open = kind != LineKind::kHeading && kind != LineKind::kRule;
    }
  }
  return out;
}

/// Collects blocks, each run joined with the one that introduces it.
class Builder {
 public:
  Builder(std::string_view text, LineBreaks breaks, std::span<const std::string> headings)
      : text_(text), breaks_(breaks), runs_(runs_of(text, headings)) {}

  std::vector<QuoteBlock> build() {
    for (std::size_t i = 0; i < runs_.size();) i = take(i);
    return std::move(out_);
  }

 private:
  bool is_code(const Run& run) const {
    return run.kind == LineKind::kFence || (run.kind == LineKind::kText && breaks_ == LineBreaks::kExact && run.lines.size() > 1);
  }

  bool is_prose(const Run& run) const { return (run.kind == LineKind::kText || run.kind == LineKind::kQuote) && !is_code(run); }

  /// The last run of the list that starts at run `first`.
  std::size_t list_end(std::size_t first) const {
    std::size_t last = first;
    while (last + 1 < runs_.size() && runs_[last + 1].kind == LineKind::kListItem) ++last;
    return last;
  }

  /// Adds the block that starts at run `i` and returns the next run.
  std::size_t take(std::size_t i) {
    const Run& run = runs_[i];
    if (run.kind == LineKind::kHeading) heading_ = trimmed(text_, run.range);
    if (run.kind == LineKind::kHeading || run.kind == LineKind::kRule) return i + 1;
    if (run.kind == LineKind::kTableRow) return add_table(run), i + 1;
    if (run.kind == LineKind::kListItem) return add_list(i);
    if (is_code(run)) return add(QuoteKind::kCode, run.range), i + 1;
    return add_prose(i);
  }

  void add(QuoteKind kind, TextRange range, std::optional<TextRange> header = {}) {
    range = trimmed(text_, range);
    if (range.size() > 0) out_.push_back({kind, range, header, heading_});
  }

  std::size_t add_list(std::size_t first) {
    const std::size_t last = list_end(first);
    if (runs_[last].range.end - runs_[first].range.begin <= kQuoteBytesMax) {
      add(QuoteKind::kList, {runs_[first].range.begin, runs_[last].range.end});
    } else {
      for (std::size_t i = first; i <= last; ++i) add(QuoteKind::kList, runs_[i].range);
    }
    return last + 1;
  }

  void add_table(const Run& run) {
    if (run.range.size() <= kQuoteBytesMax) return add(QuoteKind::kTable, run.range);
    std::optional<TextRange> header;
    for (const TextRange& line : run.lines) {
      if (is_table_rule(part(text_, line))) continue;
      if (header) add(QuoteKind::kTable, line, header);
      if (!header) header = trimmed(text_, line);
    }
  }

  bool introduces(const Run& run) const {
    const std::string_view line = trim(part(text_, run.range));
    if (line.ends_with(':')) return true;
    return line.size() <= kTermBytesMax && std::string_view(".!?;").find(line.back()) == std::string_view::npos;
  }

  std::size_t add_prose(std::size_t i) {
    // A term may be followed by a sentence that introduces a list: all three belong together.
    std::size_t last = i;
    QuoteKind kind = QuoteKind::kProse;
    while (last + 1 < runs_.size() && kind == QuoteKind::kProse) {
      const Run& next = runs_[last + 1];
      const bool wanted = introduces(runs_[last]) || is_code(next);
      const bool is_list = next.kind == LineKind::kListItem;
      if (!wanted || !(is_list || is_code(next) || is_prose(next))) break;
      const std::size_t end = is_list ? list_end(last + 1) : last + 1;
      if (runs_[end].range.end - runs_[i].range.begin > kIntroducedBytesMax) break;
      kind = is_list ? QuoteKind::kList : is_code(next) ? QuoteKind::kCode : QuoteKind::kProse;
      last = end;
    }
    const TextRange whole{runs_[i].range.begin, runs_[last].range.end};
    if (last == i && whole.size() > kQuoteBytesMax) {
      add_sentences(whole);
    } else {
      add(kind, whole);
    }
    return last + 1;
  }

  /// A long paragraph in pieces of whole sentences, each at most kQuoteBytesMax unless a single sentence is longer.
  void add_sentences(TextRange range) {
    TextRange piece{range.begin, range.begin};
    for (const TextRange& sentence : split_sentences(part(text_, range))) {
      const std::size_t end = range.begin + sentence.end;
      if (piece.size() > 0 && end - piece.begin > kQuoteBytesMax) {
        add(QuoteKind::kProse, piece);
        piece = {range.begin + sentence.begin, range.begin + sentence.begin};
      }
      piece.end = end;
    }
    add(QuoteKind::kProse, piece);
  }

  const std::string_view text_;
  const LineBreaks breaks_;
  const std::vector<Run> runs_;
  std::optional<TextRange> heading_;
  std::vector<QuoteBlock> out_;
};

}  // namespace

LineBreaks line_breaks_of(std::string_view media_type) {
  constexpr auto kWrapped =
      std::to_array<std::string_view>({"", "text/markdown", "text/plain", "text/x-rst", "text/asciidoc", "application/x-ipynb+json"});
  return std::ranges::find(kWrapped, media_type) != kWrapped.end() ? LineBreaks::kWrapped : LineBreaks::kExact;
}

std::vector<QuoteBlock> quote_blocks(std::string_view text, LineBreaks breaks, std::span<const std::string> headings) {
  return Builder(text, breaks, headings).build();
}

}  // namespace footnote::chunk
