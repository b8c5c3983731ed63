#include "chunk/units.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "chunk/lines.h"
#include "chunk/sentences.h"

namespace footnote::chunk {

namespace {

constexpr std::size_t kSliceBytes = 1u << 20;

/// False for `<a name="x"></a>`, `---` and the like.
bool has_words(std::string_view text) {
  bool in_tag = false;
  for (const char c : text) {
    if (c == '<') in_tag = true;
    const auto byte = static_cast<unsigned char>(c);
    const bool word = byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (word && !in_tag) return true;
    if (c == '>') in_tag = false;
  }
  // A "<" without a closing ">" is text: "a < b".
  return in_tag;
}

class OutlineBuilder {
 public:
  OutlineBuilder(const ParsedDocument& document, std::size_t unit_bytes_max)
      : document_(document), text_(document.text), unit_bytes_max_(unit_bytes_max) {}

  Outline run() {
    out_.sections.push_back(Section{.heading = document_.root_heading});
    open_.push_back(0);
    std::size_t done = 0;
    for (const Block& block : document_.blocks) {
      lines({done, block.range.begin});
      add(block);
      done = block.range.end;
    }
    lines({done, text_.size()});
    close_down_to(0, out_.units.size());
    out_.sections[0].end = out_.units.size();
    if (out_.sections[0].children.empty()) out_.sections[0].own_end = out_.units.size();
    return std::move(out_);
  }

 private:
  enum class Kind { kHeading, kSentence, kWhole, kLine };

  void add(const Block& block) {
    switch (block.kind) {
      case BlockKind::kHeading: heading(block); break;
      case BlockKind::kParagraph:
      case BlockKind::kListItem:
      case BlockKind::kQuote: sentences(block.range); break;
      case BlockKind::kTable:
      case BlockKind::kCode: whole_or_lines(block.range); break;
    }
  }

  void heading(const Block& block) {
    const std::size_t first = first_of_anchors();
    close_down_to(block.level, first);
    const std::size_t parent = open_.back();
    Section section;
    section.level = block.level;
    section.heading = block.heading;
    section.parent = parent;
    section.first_unit = first;
    if (out_.sections[parent].children.empty()) out_.sections[parent].own_end = first;
    const std::size_t index = out_.sections.size();
    out_.sections[parent].children.push_back(index);
    out_.sections.push_back(std::move(section));
    open_.push_back(index);
    const TextRange range = trimmed(text_, block.range);
    push(range, Kind::kHeading);
    last_heading_ = out_.units.size() - 1;
    heading_bytes_ = std::min(range.size() + 2, unit_bytes_max_ / 2);
  }

  /// Anchors right before a heading belong to it.
  std::size_t first_of_anchors() const {
    const std::size_t own_heading = open_.size() > 1 ? last_heading_ + 1 : 0;
    std::size_t first = out_.units.size();
    while (first > own_heading && out_.units[first - 1].is_bare) --first;
    return first;
  }

  /// Closes the open sections of this level and deeper; they end before unit `end`. Level 0 closes all but the document.
  void close_down_to(int level, std::size_t end) {
    while (open_.size() > 1 && out_.sections[open_.back()].level >= std::max(level, 1)) {
      Section& section = out_.sections[open_.back()];
      section.end = end;
      if (section.children.empty()) section.own_end = section.end;
      open_.pop_back();
    }
  }

  /// A huge paragraph is split in slices of whole lines, so that the list of its sentences stays small.
  void sentences(TextRange range) {
    while (range.size() > kSliceBytes) {
      const std::size_t line_end = text_.substr(range.begin, kSliceBytes).rfind('\n');
      if (line_end == std::string_view::npos) break;
      sentences_of({range.begin, range.begin + line_end + 1});
      range.begin += line_end + 1;
    }
    sentences_of(range);
  }

  void sentences_of(TextRange range) {
    for (const TextRange& sentence : split_sentences(text_.substr(range.begin, range.size()))) {
      push({range.begin + sentence.begin, range.begin + sentence.end}, Kind::kSentence);
    }
  }

  /// Leaves room for the section's heading, which must not be alone in a chunk.
  void whole_or_lines(TextRange range) {
    const TextRange whole = trimmed(text_, range);
    if (whole.size() == 0) return;
    if (whole.size() + heading_bytes_ <= unit_bytes_max_) return push(whole, Kind::kWhole);
    lines(range);
  }

  void lines(TextRange range) {
    for (const TextRange& line : split_lines(text_.substr(range.begin, range.size()))) {
      push({range.begin + line.begin, range.begin + line.end}, Kind::kLine);
    }
  }

  /// Cuts overlong text at the last space of its second half, else between code points.
  void push(TextRange range, Kind kind) {
    const std::size_t limit = std::max<std::size_t>(unit_bytes_max_ - (kind == Kind::kHeading ? 0 : heading_bytes_), 8);
    while (range.size() > limit) {
      std::size_t end = range.begin + utf8_prefix(text_.substr(range.begin, range.size()), limit).size();
      const std::size_t half = range.begin + limit / 2;
      const std::size_t space = text_.substr(half, end - half).find_last_of(" \n\t");
      if (space != std::string_view::npos && space > 0) end = half + space;
      add_unit(trimmed(text_, {range.begin, end}), kind, false);
      range = trimmed(text_, {end, range.end});
    }
    if (range.size() != 0) add_unit(range, kind, kind == Kind::kSentence);
  }

  void add_unit(TextRange range, Kind kind, bool is_sentence) {
    const bool is_bare = kind == Kind::kHeading || (kind != Kind::kWhole && !has_words(text_.substr(range.begin, range.size())));
    out_.units.push_back(
        {static_cast<std::uint32_t>(range.begin), static_cast<std::uint32_t>(range.end), is_bare, is_sentence && !is_bare});
  }

  const ParsedDocument& document_;
  const std::string_view text_;
  const std::size_t unit_bytes_max_;
  Outline out_;
  std::vector<std::size_t> open_;  ///< Sections from the document down to the current one.
  std::size_t heading_bytes_ = 0;  ///< Size of the current section's heading.
  std::size_t last_heading_ = 0;   ///< The last unit of that heading.
};

}  // namespace

std::vector<std::string> Outline::path_of(std::size_t section) const {
  std::vector<std::string> out;
  for (;; section = sections[section].parent) {
    if (!sections[section].heading.empty()) out.emplace_back(sections[section].heading);
    if (section == 0) break;
  }
  std::ranges::reverse(out);
  return out;
}

Outline make_outline(const ParsedDocument& document, std::size_t unit_bytes_max) { return OutlineBuilder(document, unit_bytes_max).run(); }

}  // namespace footnote::chunk
