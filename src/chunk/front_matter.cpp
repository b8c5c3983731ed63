#include "chunk/front_matter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/page_url.h"
#include "base/text.h"
#include "chunk/yaml_subset.h"

namespace footnote::chunk {

namespace {

constexpr std::array<std::string_view, 9> kTypes = {"project-index", "module-kb",   "decision",       "runbook",          "standard",
                                                    "incident",      "integration", "domain-concept", "rejected-approach"};

struct Fence {
  std::string_view block;
  std::size_t body_offset = 0;
};

/// The lines between "---" at the very start and the next "---" or "...".
std::optional<Fence> find_fence(std::string_view text) {
  const std::size_t first_end = text.find('\n');
  if (first_end == std::string_view::npos || trim(text.substr(0, first_end)) != "---" || text[0] != '-') return std::nullopt;
  for (std::size_t at = first_end + 1; at < text.size() && at <= kFrontMatterBytesMax;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with("---") || line.starts_with("...")) {
      if (trim(line).size() == 3) return Fence{text.substr(first_end + 1, at - first_end - 1), std::min(end + 1, text.size())};
    }
    at = end + 1;
  }
  return std::nullopt;
}

bool is_slug(std::string_view slug) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !slug.empty() && slug[0] != '-' && std::ranges::all_of(slug, allowed);
}

/// "[[other-page|its name]]" means other-page.
std::string reference_of(std::string_view text) {
  text = trim(text);
  if (text.starts_with("[[")) text.remove_prefix(2);
  if (text.ends_with("]]")) text.remove_suffix(2);
  return std::string(trim(text.substr(0, text.find('|'))));
}

/// "en-US" is English.
std::string language_of(std::string_view text) {
  const std::string lower = to_lower_ascii(trim(text.substr(0, text.find_first_of("-_"))));
  const bool letters = std::ranges::all_of(lower, [](char c) { return c >= 'a' && c <= 'z'; });
  return letters && (lower.size() == 2 || lower.size() == 3) ? lower : std::string();
}

using Values = std::map<std::string, YamlValue, std::less<>>;

std::string scalar(const Values& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string() : std::string(trim(found->second.scalar()));
}

/// A list, or a scalar with commas: "tags: a, b".
std::vector<std::string> list(const Values& values, std::string_view name) {
  const auto found = values.find(name);
  if (found == values.end()) return {};
  if (found->second.is_list) return found->second.items;
  std::vector<std::string> out;
  const std::string scalar = found->second.scalar();
  for (std::string_view part : split(scalar, ',')) {
    if (out.size() == kFrontMatterItemsMax) break;
    if (!trim(part).empty()) out.emplace_back(trim(part));
  }
  return out;
}

std::vector<std::string> references(const Values& values, std::string_view name) {
  std::vector<std::string> out;
  for (const std::string& item : list(values, name)) {
    if (std::string reference = reference_of(item); !reference.empty()) out.push_back(std::move(reference));
  }
  return out;
}

/// The last change, from the first of these names that holds a date. Sites write dates in many ways: an unparseable one is ignored.
std::optional<UtcTime> updated_at(const Values& values) {
  for (const std::string_view name : {"updated", "updated_at", "last_modified", "lastmod", "date"}) {
    if (const auto time = parse_rfc3339(scalar(values, name))) return *time;
  }
  return std::nullopt;
}

void read_texts(const Values& values, FrontMatter& out) {
  out.id = scalar(values, "id");
  out.title = fold_spaces(scalar(values, "title"));
  out.type = scalar(values, "type");
  out.summary = scalar(values, values.contains("summary") ? "summary" : "description");
  if (const std::string url = scalar(values, values.contains("url") ? "url" : "canonical"); canonical_url(url)) out.url = url;
  out.language = language_of(scalar(values, values.contains("language") ? "language" : "lang"));
  out.tags = list(values, "tags");
  out.owners = list(values, "owners");
  out.updated_at = updated_at(values);
  out.related = references(values, "related");
  out.supersedes = references(values, "supersedes");
  out.superseded_by = references(values, "superseded_by");
}

/// Reads enumerated values: an unknown one is a warning and makes the document not canonical.
void read_checked(const Values& values, FrontMatter& out) {
  const auto wrong = [&](std::string_view name, std::string_view value, std::string_view wanted) {
    out.warnings.push_back(fmt::format("front matter: {} '{}' is not {}", name, value, wanted));
  };
  if (const std::string slug = scalar(values, "slug"); is_slug(slug)) {
    out.slug = slug;
  } else if (!slug.empty()) {
    wrong("slug", slug, "of a-z, 0-9 and '-'");
  }
  if (const std::string status = to_lower_ascii(scalar(values, "status")); !status.empty()) {
    out.status = parse_document_status(status);
    if (!out.status) wrong("status", status, "draft, review, accepted, superseded, deprecated or archived");
  }
  const std::string_view evidence = values.contains("evidence_tier") ? "evidence_tier" : "evidence";
  if (const std::string tier = to_lower_ascii(scalar(values, evidence)); !tier.empty()) {
    out.evidence = parse_evidence_tier(tier);
    if (!out.evidence) wrong(evidence, tier, "a known tier");
  }
  if (const std::string priority = scalar(values, "retrieval_priority"); !priority.empty()) {
    const auto number = parse_whole_number<int>(priority);
    if (number && *number >= 0 && *number <= 100) {
      out.retrieval_priority = *number;
    } else {
      wrong("retrieval_priority", priority, "a number from 0 to 100");
    }
  }
}

}  // namespace

bool is_canonical_type(std::string_view type) { return std::ranges::find(kTypes, type) != kTypes.end(); }

FrontMatter parse_front_matter(std::string_view text) {
  FrontMatter out;
  const std::optional<Fence> fence = find_fence(text);
  if (!fence) return out;
  const auto values = parse_yaml_subset(fence->block, kFrontMatterItemsMax);
  if (!values) {
    out.warnings.push_back("front matter: not readable; kept as text");
    return out;
  }
  out.present = true;
  out.body_offset = fence->body_offset;
  read_texts(*values, out);
  read_checked(*values, out);
  out.canonical = is_canonical_type(out.type) && out.warnings.empty();
  // Other tools' front matter has its own types and statuses: only a document that tries to be canonical gets warnings.
  if (!is_canonical_type(out.type) && out.id.empty() && out.slug.empty()) out.warnings.clear();
  return out;
}

}  // namespace footnote::chunk
