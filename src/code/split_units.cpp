#include "code/split_units.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace footnote::code {
namespace {

using syntax::Node;
using syntax::Walk;

/// A place where a long unit may be cut; a smaller rank is better.
struct Cut {
  std::size_t at = 0;
  int rank = 0;
};

/// Starts of statements and members: nodes that begin a line, ranked by depth.
std::vector<Cut> statement_starts(Node root, std::string_view text) {
  std::vector<Cut> out;
  Walk walk(root);
  std::size_t last_line = std::string_view::npos;
  while (const Node node = walk.next()) {
    const std::size_t at = node.begin();
    const std::size_t line = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    const std::size_t start = line == std::string_view::npos ? 0 : line + 1;
    if (start == last_line || !trim(text.substr(start, at - start)).empty()) continue;
    last_line = start;
    out.push_back({start, walk.depth()});
  }
  return out;
}

std::vector<Cut> paragraph_starts(std::string_view text) {
  std::vector<Cut> out;
  for (std::size_t at = text.find("\n\n"); at != std::string_view::npos; at = text.find("\n\n", at + 1)) {
    std::size_t start = at;
    while (start < text.size() && text[start] == '\n') ++start;
    out.push_back({start, 1});
  }
  return out;
}

/// The best cut in (begin, begin + kChunkBytesMax]: of those in its second half the one with the best rank, the last one of them.
std::size_t next_cut(const std::vector<Cut>& cuts, std::string_view text, std::size_t begin) {
  const std::size_t limit = begin + kChunkBytesMax;
  const Cut* best = nullptr;
  auto at = std::ranges::upper_bound(cuts, begin + kChunkBytesMax / 2, {}, &Cut::at);
  for (; at != cuts.end() && at->at <= limit; ++at) {
    if (best == nullptr || at->rank <= best->rank) best = &*at;
  }
  if (best != nullptr) return best->at;
  const std::size_t line = text.rfind('\n', limit - 1);
  if (line != std::string_view::npos && line > begin + kChunkBytesMax / 2) return line + 1;
  std::size_t end = limit;
  while (end > begin + 1 && (text[end] & 0xC0) == 0x80) --end;
  return end;
}

/// Where the next piece of prose begins, at most kProseOverlapBytes before the cut, at a line.
std::size_t overlap_start(std::string_view text, std::size_t begin, std::size_t cut) {
  const std::size_t from = std::max(begin + 1, cut > kProseOverlapBytes ? cut - kProseOverlapBytes : 0);
  const std::size_t line = text.find('\n', from);
  return line == std::string_view::npos || line + 1 >= cut ? cut : line + 1;
}

void set_place(Unit& part, std::string_view text, const Unit& whole) {
  // Blanks at the ends of a part belong to none.
  const std::string_view body = trim(text.substr(part.range.begin, part.range.size()));
  if (!body.empty())
    part.range = {static_cast<std::size_t>(body.data() - text.data()), static_cast<std::size_t>(body.data() - text.data()) + body.size()};
  const std::string_view before = text.substr(whole.range.begin, part.range.begin - whole.range.begin);
  part.first_line = whole.first_line + static_cast<int>(std::ranges::count(before, '\n'));
  part.last_line = part.first_line + static_cast<int>(std::ranges::count(body, '\n'));
}

}  // namespace

void split_long_units(Node root, CodeFile& file) {
  const std::string_view text = file.text;
  const auto is_long = [](const Unit& unit) { return unit.range.size() > kChunkBytesMax; };
  if (std::ranges::none_of(file.units, is_long)) return;
  const std::vector<Cut> statements = root ? statement_starts(root, text) : std::vector<Cut>{};
  const std::vector<Cut> paragraphs = paragraph_starts(text);
  std::vector<Unit> out;
  for (Unit& unit : file.units) {
    if (!is_long(unit) || out.size() >= kUnitsMax) {
      if (out.size() < kUnitsMax) out.push_back(std::move(unit));
      continue;
    }
    const bool prose = is_prose(unit.type);
    const Unit whole = unit;
    std::size_t begin = whole.range.begin;
    for (int part = 1; begin < whole.range.end && out.size() < kUnitsMax; ++part) {
      const bool last = whole.range.end - begin <= kChunkBytesMax;
      const std::size_t end = last ? whole.range.end : next_cut(prose ? paragraphs : statements, text, begin);
      Unit piece = whole;
      piece.part = part;
      piece.range = {begin, end};
      piece.header += " (part " + std::to_string(part) + ")";
      if (part > 1) piece.references.clear();
      set_place(piece, text, whole);
      out.push_back(std::move(piece));
      begin = last ? whole.range.end : prose ? overlap_start(text, begin, end) : end;
    }
  }
  file.units = std::move(out);
}

}  // namespace footnote::code
