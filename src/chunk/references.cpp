#include "chunk/references.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace footnote::chunk {

namespace {

constexpr std::size_t kReferenceBytesMax = 200;
constexpr double kSupersedesWeight = 1.0;
constexpr double kRelatedWeight = 0.5;

void add(std::vector<Edge>& edges, Edge edge) {
  const auto same = [&](const Edge& other) {
    return other.from_key == edge.from_key && other.to_key == edge.to_key && other.type == edge.type;
  };
  if (edges.size() < kEdgesMax && edge.from_key != edge.to_key && std::ranges::none_of(edges, same)) edges.push_back(std::move(edge));
}

bool is_in_code(const std::vector<Block>& blocks, std::size_t offset) {
  const auto after = std::ranges::upper_bound(blocks, offset, {}, [](const Block& block) { return block.range.begin; });
  return after != blocks.begin() && std::prev(after)->kind == BlockKind::kCode && offset < std::prev(after)->range.end;
}

}  // namespace

std::string resolve_reference(std::string_view key, std::string_view reference) {
  reference = trim(reference.substr(0, reference.find('#')));
  const bool is_path = reference.find('/') != std::string_view::npos || reference.ends_with(".md");
  if (!is_path) return std::string(reference);
  const std::filesystem::path base = reference.starts_with('/') ? std::filesystem::path() : std::filesystem::path(key).parent_path();
  while (reference.starts_with('/')) reference.remove_prefix(1);
  std::string out = (base / reference).lexically_normal().generic_string();
  while (out.starts_with("../")) out.erase(0, 3);
  return out;
}

std::vector<Edge> front_matter_edges(std::string_view key, const FrontMatter& front) {
  std::vector<Edge> out;
  const std::string own(key);
  for (const std::string& other : front.related) {
    add(out, {own, resolve_reference(key, other), "related_to", "frontmatter_related", kRelatedWeight});
  }
  for (const std::string& other : front.supersedes) {
    add(out, {own, resolve_reference(key, other), "supersedes", "frontmatter_supersedes", kSupersedesWeight});
  }
  for (const std::string& other : front.superseded_by) {
    add(out, {resolve_reference(key, other), own, "supersedes", "frontmatter_superseded_by", kSupersedesWeight});
  }
  return out;
}

void add_wikilink_edges(std::string_view key, ParsedDocument& document) {
  const std::string_view text = document.text;
  for (std::size_t at = text.find("[["); at != std::string_view::npos && document.edges.size() < kEdgesMax; at = text.find("[[", at + 2)) {
    const std::string_view rest = text.substr(at + 2, kReferenceBytesMax);
    const std::size_t end = rest.find_first_of("]\n[");
    if (end == std::string_view::npos || end == 0 || !rest.substr(end).starts_with("]]") || is_in_code(document.blocks, at)) continue;
    const std::string_view inner = rest.substr(0, end);
    const std::string target = resolve_reference(key, inner.substr(0, inner.find('|')));
    if (!target.empty()) add(document.edges, {std::string(key), target, "related_to", "wikilink", kRelatedWeight});
  }
}

}  // namespace footnote::chunk
