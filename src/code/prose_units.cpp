#include "code/prose_units.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/utf8.h"
#include "chunk/parse.h"

namespace footnote::code {
namespace {

constexpr int kSectionLevelMax = 3;
constexpr std::size_t kMentionBytesMax = 160;
/// What an entry of a list is called after.
constexpr std::size_t kItemTitleBytes = 80;

struct Section {
  std::string path;  ///< Headings from the title down, with " > " between.
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Section> sections_of(const chunk::ParsedDocument& document, bool by_item) {
  std::vector<Section> out;
  std::vector<std::string> headings(kSectionLevelMax + 1);
  if (!document.root_heading.empty()) headings[1] = document.root_heading;
  const auto path = [&] {
    std::vector<std::string> parts;
    for (const std::string& heading : headings) {
      if (!heading.empty()) parts.push_back(heading);
    }
    return join(parts, " > ");
  };
  out.push_back({path(), 0, 0});
  for (const chunk::Block& block : document.blocks) {
    if (block.kind == chunk::BlockKind::kHeading && block.level <= kSectionLevelMax) {
      const auto level = static_cast<std::size_t>(block.level);
      headings[level] = block.heading;
      std::fill(headings.begin() + block.level + 1, headings.end(), std::string());
      out.back().end = block.range.begin;
      out.push_back({path(), block.range.begin, 0});
    } else if (by_item && block.kind == chunk::BlockKind::kListItem) {
      const std::size_t line = document.text.rfind('\n', block.range.begin);
      const std::size_t begin = line == std::string::npos ? 0 : line + 1;
      if (document.text[begin] == ' ' || begin < out.back().begin) continue;
      std::string_view item = std::string_view(document.text).substr(begin, block.range.end - begin);
      item.remove_prefix(std::min(item.find_first_not_of("-*+ 0123456789.)"), item.size()));
      const std::string title = chunk::heading_text(utf8_prefix(item, kItemTitleBytes));
      out.back().end = begin;
      out.push_back({path() + " > " + title, begin, 0});
    }
  }
  out.back().end = document.text.size();
  return out;
}

std::string_view body_of(std::string_view text, const Section& section) {
  return trim(text.substr(section.begin, section.end - section.begin));
}

/// A section that is short takes in those after it.
std::vector<Section> join_short(std::string_view text, std::vector<Section> sections) {
  std::vector<Section> out;
  for (Section& section : sections) {
    if (body_of(text, section).empty()) continue;
    if (!out.empty() && body_of(text, out.back()).size() < kProseBytesMin) {
      out.back().end = section.end;
    } else {
      out.push_back(std::move(section));
    }
  }
  if (out.size() > 1 && body_of(text, out.back()).size() < kProseBytesMin) {
    out[out.size() - 2].end = out.back().end;
    out.pop_back();
  }
  return out;
}

std::vector<Reference> mentions_in(std::string_view text) {
  std::set<std::string> found;
  for (std::size_t at = text.find('`'); at != std::string_view::npos && found.size() < kReferencesMax; at = text.find('`', at + 1)) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string_view::npos) break;
    std::string_view name = text.substr(at + 1, end - at - 1);
    if (name.find_first_of(" \n\t") != std::string_view::npos || name.size() > kMentionBytesMax) continue;
    at = end;
    if (name.ends_with("()")) name.remove_suffix(2);
    if (name.starts_with('\\')) name.remove_prefix(1);
    if (name.size() > 1) found.emplace(name);
  }
  std::vector<Reference> out;
  for (const std::string& name : found) out.push_back({RefKind::kMentions, name});
  return out;
}

}  // namespace

Result<void> add_prose_units(std::string_view path, SourceType type, CodeFile& out, const CallContext& call) {
  FOOTNOTE_TRY(const chunk::ParsedDocument document, chunk::parse_document(path, chunk::Format::kMarkdown, out.text, call));
  // Front matter is not part of the text.
  if (!std::string_view(out.text).ends_with(document.text)) return {};
  const std::size_t offset = out.text.size() - document.text.size();
  const bool own_sections = type == SourceType::kKnownBug || type == SourceType::kAdr;
  const bool has_headings = std::ranges::any_of(
      document.blocks, [](const chunk::Block& block) { return block.kind == chunk::BlockKind::kHeading && block.level > 1; });
  std::vector<Section> sections = sections_of(document, type == SourceType::kKnownBug && !has_headings);
  if (!own_sections) sections = join_short(document.text, std::move(sections));
  std::map<std::string, int> seen;
  int line = document.first_line;
  std::size_t counted = 0;
  for (const Section& section : sections) {
    const std::string_view body = body_of(document.text, section);
    if (body.empty() || out.units.size() >= kUnitsMax) continue;
    // A heading alone says nothing that the sections below it do not.
    if (own_sections && body.find('\n') == std::string_view::npos && body.starts_with('#')) continue;
    const auto begin = static_cast<std::size_t>(body.data() - document.text.data());
    line += static_cast<int>(std::count(document.text.begin() + static_cast<std::ptrdiff_t>(counted),
                                        document.text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    counted = begin;
    Unit unit{.type = type, .symbol = section.path.empty() ? std::string(path) : section.path.substr(0, kSymbolBytesMax)};
    if (const int count = ++seen[unit.symbol]; count > 1) unit.symbol += " #" + std::to_string(count);
    unit.header = section.path.empty() ? std::string(path) : section.path;
    unit.range = {offset + begin, offset + begin + body.size()};
    unit.first_line = line;
    unit.last_line = line + static_cast<int>(std::ranges::count(body, '\n'));
    unit.references = mentions_in(body);
    out.units.push_back(std::move(unit));
  }
  return {};
}

}  // namespace footnote::code
