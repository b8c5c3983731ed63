#include "engine/html/extract.h"

#include <algorithm>

#include "base/text.h"
#include "engine/html/dom.h"
#include "engine/html/guard.h"
#include "engine/html/region.h"
#include "engine/html/render.h"

namespace footnote::html {

namespace {

bool is_web_address(std::string_view url) {
  const bool one_word = std::ranges::none_of(url, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; });
  return one_word && (starts_with_ignoring_case(url, "http://") || starts_with_ignoring_case(url, "https://"));
}

/// Letters, digits and '-', as in language tags; empty for anything else.
std::string language_tag(std::string_view text) {
  std::string tag = to_lower_ascii(trim(text));
  const bool plain =
      std::ranges::all_of(tag, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; });
  return plain && tag.size() <= kLanguageBytesMax ? tag : std::string();
}

void read_head_element(const xmlNode* element, Page& page) {
  const std::string_view name = name_of(element);
  if (name == "title" && page.title.empty()) {
    page.title = fold_spaces(raw_text(element));
  } else if (name == "link" && to_lower_ascii(attribute(element, "rel")) == "canonical") {
    const std::string_view url = trim(attribute(element, "href"));
    if (page.canonical_url.empty() && is_web_address(url)) page.canonical_url = url;
  } else if (name == "meta") {
    const std::string key = to_lower_ascii(attribute(element, "name"));
    if (key == "description" && page.description.empty()) page.description = fold_spaces(attribute(element, "content"));
  }
}

/// A stray element often ends <head> early and moves its contents to <body>, so search both.
void read_head(const xmlNode* node, int depth, Page& page) {
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
    if (child->type != XML_ELEMENT_NODE) continue;
    read_head_element(child, page);
    if (depth > 0 && name_of(child) != "svg") read_head(child, depth - 1, page);
  }
}

const xmlNode* find_heading(const xmlNode* node) {
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
    if (child->type != XML_ELEMENT_NODE || is_invisible(child)) continue;
    if (name_of(child) == "h1") return child;
    if (const xmlNode* found = find_heading(child)) return found;
  }
  return nullptr;
}

bool has_main_heading(const Page& page) {
  for (const Block& block : page.blocks) {
    if (block.kind == BlockKind::kHeading && block.level == 1) return true;
  }
  return false;
}

/// Whether the element's text is part of the content (also inside code or a table), or the element contains the content: an unclosed <h1>
/// contains the rest of the page.
bool is_rendered(const xmlNode* node, const RegionFinder& regions) {
  for (const xmlNode* at = regions.content(); at != nullptr; at = at->parent) {
    if (at == node) return true;
  }
  for (const xmlNode* at = node; at != nullptr && !regions.is_dropped(at); at = at->parent) {
    if (at == regions.content()) return true;
  }
  return false;
}

/// The page's <h1> is often in its header, outside the content: prepend it to the text.
void prepend_main_heading(const Dom& dom, const RegionFinder& regions, Page& page) {
  const xmlNode* heading = find_heading(dom.body());
  if (heading == nullptr || has_main_heading(page) || is_rendered(heading, regions)) return;
  const std::string line = inline_text(heading, regions);
  if (line.empty()) return;
  const std::size_t shift = page.text.empty() ? line.size() : line.size() + 2;
  for (Block& block : page.blocks) {
    block.begin += shift;
    block.end += shift;
  }
  for (LineMark& mark : page.lines) mark.offset += shift;
  page.lines.insert(page.lines.begin(), LineMark{0, line_of(heading)});
  page.text = page.text.empty() ? line : line + "\n\n" + page.text;
  page.blocks.insert(page.blocks.begin(), Block{BlockKind::kHeading, 1, 0, line.size()});
}

Page read_region(const Dom& dom, Region region) {
  Page page;
  const RegionFinder regions(dom, region);
  if (regions.content() == nullptr) return page;
  render(regions.content(), regions, page);
  // A page of links has no content by link density: read all of it.
  if (region == Region::kContent && page.text.empty()) return read_region(dom, Region::kBody);
  if (region == Region::kContent) prepend_main_heading(dom, regions, page);
  return page;
}

}  // namespace

Result<Page> extract(std::string_view html, const ExtractOptions& options, const CallContext& call) {
  if (html.size() > kInputBytesMax) {
    return fail(ErrorCode::kTooLarge, "the page has {}; the limit is {}", human_bytes(html.size()), human_bytes(kInputBytesMax));
  }
  const GuardedPage safe = guarded(html);
  FOOTNOTE_TRY(const Dom dom, Dom::parse(safe.html, call));
  if (dom.root() == nullptr) return Page{};
  FOOTNOTE_CHECK(call.check());
  Page page = read_region(dom, options.region);
  page.language = language_tag(attribute(dom.root(), "lang"));
  read_head(dom.root(), 3, page);
  page.cut = safe.cut || dom.cut();
  return page;
}

}  // namespace footnote::html
