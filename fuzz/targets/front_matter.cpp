// The front matter of a Markdown file, and its YAML subset.
#include "chunk/front_matter.h"

#include "chunk/yaml_subset.h"
#include "targets/document_properties.h"

namespace footnote {
namespace {

void check_list(const std::vector<std::string>& items) {
  FOOTNOTE_ASSERT(items.size() <= chunk::kFrontMatterItemsMax);
  for (const std::string& item : items) FOOTNOTE_ASSERT(is_valid_utf8(item));
}

void check_front_matter(std::string_view text) {
  const chunk::FrontMatter front = chunk::parse_front_matter(text);
  FOOTNOTE_ASSERT(front.body_offset <= text.size() && front.present == (front.body_offset > 0));
  FOOTNOTE_ASSERT(front.body_offset == 0 || front.body_offset == text.size() || text[front.body_offset - 1] == '\n');
  for (const std::string* value : {&front.id, &front.slug, &front.title, &front.type, &front.summary, &front.language}) {
    FOOTNOTE_ASSERT(is_valid_utf8(*value) && value->size() <= chunk::kFrontMatterBytesMax);
  }
  for (const auto* items : {&front.tags, &front.related, &front.supersedes, &front.superseded_by}) check_list(*items);
  check_list(front.warnings);
  FOOTNOTE_ASSERT(front.slug.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
  FOOTNOTE_ASSERT(front.language.empty() || front.language.size() == 2 || front.language.size() == 3);
  FOOTNOTE_ASSERT(!front.retrieval_priority || (*front.retrieval_priority >= 0 && *front.retrieval_priority <= 100));
  FOOTNOTE_ASSERT(!front.canonical || (chunk::is_canonical_type(front.type) && front.warnings.empty()));
  for (const Edge& edge : chunk::front_matter_edges("guides/a.md", front)) {
    FOOTNOTE_ASSERT(is_valid_utf8(edge.to_key) && !edge.to_key.starts_with("../") && edge.from_key != edge.to_key);
  }
}

void check_yaml(std::string_view block) {
  constexpr std::size_t kItemsMax = 8;
  const auto values = chunk::parse_yaml_subset(block, kItemsMax);
  if (!values) return;
  std::size_t bytes = 0;
  for (const auto& [name, value] : *values) {
    FOOTNOTE_ASSERT(!name.empty() && is_valid_utf8(name));
    FOOTNOTE_ASSERT(value.items.size() <= (value.is_list ? kItemsMax : 1));
    bytes += name.size();
    for (const std::string& item : value.items) {
      FOOTNOTE_ASSERT(is_valid_utf8(item));
      bytes += item.size();
    }
  }
  FOOTNOTE_ASSERT(bytes <= block.size());
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const std::string text = chunk::normalise_text(fuzz::as_text(data, size));
  check_front_matter(text);
  check_front_matter("---\n" + text + "\n---\nBody.\n");
  check_yaml(text);
  return 0;
}
