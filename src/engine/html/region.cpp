#include "engine/html/region.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace footnote::html {

namespace {

/// A <main> with less text than this is an empty shell or a teaser; the rest of the page decides.
constexpr std::size_t kMainTextMin = 80;
/// If a child has this share of its parent's text, descend into it.
constexpr double kDenseShare = 0.7;
/// A block with this share of its text in links is navigation.
constexpr double kLinkDensityMax = 0.65;
/// An element with this share of the page's text is content, whatever its tag or class: some pages are wholly inside a <form> or a <div
/// class="header-layout">.
constexpr double kContentShare = 0.5;

constexpr auto kInvisible =
    name_set("applet", "audio", "button", "canvas", "datalist", "embed", "head", "iframe", "input", "link", "map", "meta", "noscript",
             "object", "option", "script", "select", "style", "svg", "template", "textarea", "title", "video");
constexpr auto kPageFurniture = name_set("aside", "dialog", "footer", "form", "header", "menu", "nav");
constexpr auto kBlockContainers =
    name_set("article", "body", "center", "div", "form", "main", "ol", "section", "table", "tbody", "td", "tr", "ul");
constexpr std::array<std::string_view, 6> kFurnitureRoles = {"navigation", "banner", "contentinfo", "complementary", "search", "dialog"};
constexpr std::array<std::string_view, 22> kFurnitureWords = {
    "nav",    "navbar", "navigation", "menu",   "sidebar", "breadcrumb", "breadcrumbs", "footer", "cookie",     "cookies", "banner",
    "social", "share",  "sharing",    "advert", "ads",     "promo",      "popup",       "modal",  "pagination", "pager",   "related"};

bool contains_ignoring_space(std::string_view style, std::string_view wanted) {
  std::string folded;
  for (char c : to_lower_ascii(style)) {
    if (c != ' ' && c != '\t' && c != '\n') folded.push_back(c);
  }
  return folded.find(wanted) != std::string::npos;
}

/// Whether a class or id contains a word for page furniture: "site-nav main_Menu" has the words site, nav, main, menu.
bool has_furniture_word(std::string_view names) {
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (std::size_t at = 0; at < names.size();) {
    std::size_t end = at;
    while (end < names.size() && is_word(names[end])) ++end;
    const std::string word = to_lower_ascii(names.substr(at, end - at));
    for (std::string_view furniture : kFurnitureWords) {
      if (word == furniture) return true;
    }
    at = end + 1;
  }
  return false;
}

std::size_t visible_bytes(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += static_cast<unsigned char>(c) > ' ';
  return count;
}

bool inside(const xmlNode* node, std::string_view first, std::string_view second) {
  for (const xmlNode* parent = node->parent; parent != nullptr; parent = parent->parent) {
    const std::string_view name = name_of(parent);
    if (name == first || name == second) return true;
  }
  return false;
}

/// Outermost <main> and <article> elements, in document order.
struct Landmarks {
  std::vector<const xmlNode*> mains;
  std::vector<const xmlNode*> articles;
};

void collect_landmarks(const xmlNode* node, Landmarks& out) {
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
    if (child->type != XML_ELEMENT_NODE || is_invisible(child)) continue;
    const std::string_view name = name_of(child);
    if (name == "main" || attribute(child, "role") == "main") {
      out.mains.push_back(child);
    } else if (name == "article") {
      out.articles.push_back(child);
    } else {
      collect_landmarks(child, out);
    }
  }
}

}  // namespace

bool is_block_container(std::string_view name) { return kBlockContainers.contains(name); }

bool is_invisible(const xmlNode* element) {
  if (kInvisible.contains(name_of(element))) return true;
  if (element->properties == nullptr) return false;
  if (has_attribute(element, "hidden")) return true;
  if (attribute(element, "aria-hidden") == "true") return true;
  const std::string_view style = attribute(element, "style");
  return !style.empty() && (contains_ignoring_space(style, "display:none") || contains_ignoring_space(style, "visibility:hidden"));
}

RegionFinder::RegionFinder(const Dom& dom, Region region) : region_(region), body_(dom.body()), weights_(dom.element_count()) {
  if (body_ == nullptr) return;
  weigh(body_, false);
  content_ = region == Region::kBody ? body_ : find_content();
}

TextWeight RegionFinder::weigh(const xmlNode* node, bool in_link) {
  TextWeight out;
  if (node->type != XML_ELEMENT_NODE) {
    out.text = visible_bytes(text_of(node));
    out.link = in_link ? out.text : 0;
    return out;
  }
  if (is_invisible(node)) return out;
  const bool link = in_link || name_of(node) == "a";
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
    const TextWeight part = weigh(child, link);
    out.text += part.text;
    out.link += part.link;
  }
  weights_[ordinal_of(node)] = out;
  return out;
}

TextWeight RegionFinder::weight(const xmlNode* element) const {
  return element->type == XML_ELEMENT_NODE ? weights_[ordinal_of(element)] : TextWeight{};
}

const xmlNode* RegionFinder::find_content() {
  const xmlNode* main = find_main();
  if (main != nullptr && weight(main).text >= kMainTextMin) {
    marked_up_ = true;
    return main;
  }
  return find_dense(body_);
}

/// The <main> or role=main with most text; else an <article> with more text than all others together.
const xmlNode* RegionFinder::find_main() const {
  Landmarks found;
  collect_landmarks(body_, found);
  const auto heavier = [&](const xmlNode* a, const xmlNode* b) { return weight(a).text < weight(b).text; };
  if (const auto main = std::ranges::max_element(found.mains, heavier); main != found.mains.end()) return *main;
  const auto article = std::ranges::max_element(found.articles, heavier);
  if (article == found.articles.end()) return nullptr;
  std::size_t articles_text = 0;
  for (const xmlNode* each : found.articles) articles_text += weight(each).text;
  const TextWeight best = weight(*article);
  const bool dominates = best.text * 2 > articles_text && best.own() * 4 > weight(body_).own();
  return dominates ? *article : nullptr;
}

/// Descends while one child has most of the text outside links.
const xmlNode* RegionFinder::find_dense(const xmlNode* start) const {
  const xmlNode* at = start;
  for (;;) {
    const double wanted = static_cast<double>(weight(at).own()) * kDenseShare;
    const xmlNode* next = nullptr;
    for (const xmlNode* child = at->children; child != nullptr && next == nullptr; child = child->next) {
      const std::string_view name = name_of(child);
      const bool container = kBlockContainers.contains(name) && name != "ol" && name != "ul" && name != "tr";
      if (container && weight(child).own() > 0 && static_cast<double>(weight(child).own()) >= wanted) next = child;
    }
    // Do not descend into a table: its rows are not pages.
    if (next == nullptr || name_of(next) == "table") return at;
    at = next;
  }
}

bool RegionFinder::is_dropped(const xmlNode* element) const {
  if (is_invisible(element)) return true;
  if (region_ == Region::kBody) return false;
  return is_boilerplate(element);
}

bool RegionFinder::is_boilerplate(const xmlNode* element) const {
  const std::string_view name = name_of(element);
  const TextWeight mine = weight(element);
  if (name == "nav") return true;
  if (static_cast<double>(mine.own()) > static_cast<double>(weight(body_).own()) * kContentShare) return false;
  // The header of an article contains its title; the header of a page contains the logo.
  if (name == "header" || name == "footer")
    return !inside(element, "article", "section") && !(name == "header" && inside(element, "main", "main"));
  if (kPageFurniture.contains(name)) return true;
  const std::string_view role = attribute(element, "role");
  for (std::string_view furniture : kFurnitureRoles) {
    if (role == furniture) return true;
  }
  if (marked_up_ || !is_block_container(name)) return false;
  if (has_furniture_word(attribute(element, "class")) || has_furniture_word(attribute(element, "id"))) return true;
  return mine.text > 0 && name != "td" && name != "tr" && name != "tbody" && mine.link_density() > kLinkDensityMax;
}

}  // namespace footnote::html
