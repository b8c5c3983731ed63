#include "engine/html/links.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::html {

namespace {

/// Values longer than this are no links.
constexpr std::size_t kValueBytesMax = 8 << 10;

/// The character that "&amp;", "&#38;" or "&#x26;" stands for, and the entity's size; nothing for other text.
struct Entity {
  char32_t character = 0;
  std::size_t size = 0;
};

std::optional<Entity> entity_at(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char32_t>, 6> kNamed = {
      {{"&amp;", U'&'}, {"&quot;", U'"'}, {"&lt;", U'<'}, {"&gt;", U'>'}, {"&apos;", U'\''}, {"&nbsp;", U' '}}};
  for (const auto& [name, character] : kNamed) {
    if (text.starts_with(name)) return Entity{character, name.size()};
  }
  const bool is_hex = text.starts_with("&#x") || text.starts_with("&#X");
  if (!text.starts_with("&#")) return std::nullopt;
  char32_t value = 0;
  std::size_t at = is_hex ? 3 : 2;
  const std::size_t begin = at;
  for (; at < text.size() && at < begin + 7; ++at) {
    const auto digit = hex_digit(text[at]);
    if (!digit || (!is_hex && *digit > 9)) break;
    value = value * (is_hex ? 16 : 10) + *digit;
  }
  if (at == begin || at >= text.size() || text[at] != ';') return std::nullopt;
  if (value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) value = kReplacementCharacter;
  return Entity{value, at + 1};
}

std::string decoded(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (std::size_t i = 0; i < value.size();) {
    if (const auto entity = value[i] == '&' ? entity_at(value.substr(i)) : std::nullopt) {
      append_utf8(out, entity->character);
      i += entity->size;
    } else {
      out += value[i++];
    }
  }
  return std::string(trim(out));
}

struct TagValues {
  std::string href, rel, type, name, content;
};

class LinkScan {
 public:
  explicit LinkScan(std::string_view html) : html_(html) {}

  PageLinks run() {
    while ((at_ = html_.find('<', at_)) != std::string_view::npos) {
      const std::string_view rest = html_.substr(at_);
      if (rest.starts_with("<!--")) {
        skip_past("-->");
      } else if (rest.size() > 1 && (is_ascii_upper(rest[1]) || is_ascii_lower(rest[1]))) {
        tag();
      } else {
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  void skip_past(std::string_view mark) {
    const std::size_t found = html_.find(mark, at_);
    at_ = found == std::string_view::npos ? html_.size() : found + mark.size();
  }

  void tag() {
    const std::size_t begin = ++at_;
    while (at_ < html_.size() && is_ascii_alphanumeric(html_[at_])) ++at_;
    const std::string name = to_lower_ascii(html_.substr(begin, std::min<std::size_t>(at_ - begin, 16)));
    TagValues values;
    if (!attributes(values)) return;
    if (name == "script" || name == "style" || name == "template" || name == "textarea") return skip_element(name);
    take(name, std::move(values));
  }

  /// The rest of the tag; false if the page ends in it.
  bool attributes(TagValues& values) {
    while (at_ < html_.size()) {
      const char c = html_[at_];
      if (c == '>') return ++at_, true;
      if (is_ascii_space(c) || c == '/') {
        ++at_;
        continue;
      }
      const std::size_t begin = at_++;
      while (at_ < html_.size() && !is_ascii_space(html_[at_]) && html_[at_] != '=' && html_[at_] != '>' && html_[at_] != '/') ++at_;
      const std::string name = to_lower_ascii(html_.substr(begin, std::min<std::size_t>(at_ - begin, 16)));
      keep(values, name, value());
    }
    return false;
  }

  std::string_view value() {
    std::size_t next = at_;
    while (next < html_.size() && is_ascii_space(html_[next])) ++next;
    if (next >= html_.size() || html_[next] != '=') return {};
    at_ = next + 1;
    while (at_ < html_.size() && is_ascii_space(html_[at_])) ++at_;
    if (at_ >= html_.size()) return {};
    const char quote = html_[at_];
    const std::size_t begin = quote == '"' || quote == '\'' ? ++at_ : at_;
    const auto ends = [&](char c) { return quote == '"' || quote == '\'' ? c == quote : is_ascii_space(c) || c == '>'; };
    while (at_ < html_.size() && !ends(html_[at_])) ++at_;
    const std::string_view out = html_.substr(begin, at_ - begin);
    if (at_ < html_.size() && (quote == '"' || quote == '\'')) ++at_;
    return out.size() > kValueBytesMax ? std::string_view{} : out;
  }

  static void keep(TagValues& values, std::string_view name, std::string_view value) {
    std::string* field = name == "href"      ? &values.href
                         : name == "rel"     ? &values.rel
                         : name == "type"    ? &values.type
                         : name == "name"    ? &values.name
                         : name == "content" ? &values.content
                                             : nullptr;
    if (field != nullptr && field->empty()) *field = decoded(value);
  }

  void skip_element(std::string_view name) {
    for (; (at_ = html_.find("</", at_)) != std::string_view::npos; at_ += 2) {
      if (starts_with_ignoring_case(html_.substr(at_ + 2), name)) return;
    }
    at_ = html_.size();
  }

  void take(std::string_view name, TagValues values) {
    const std::string rel = to_lower_ascii(values.rel);
    if ((name == "a" || name == "area") && !values.href.empty() && out_.anchors.size() < kLinksMax) {
      out_.anchors.push_back({std::move(values.href), rel, {}});
    } else if (name == "base" && out_.base.empty()) {
      out_.base = values.href;
    } else if (name == "link" && rel == "canonical" && out_.canonical.empty()) {
      out_.canonical = values.href;
    } else if (name == "link" && rel.find("alternate") != std::string::npos && out_.alternates.size() < kLinksMax) {
      out_.alternates.push_back({std::move(values.href), rel, to_lower_ascii(values.type)});
    } else if (name == "meta" && to_lower_ascii(values.name) == "robots") {
      out_.robots += (out_.robots.empty() ? "" : ",") + to_lower_ascii(values.content);
    }
  }

  const std::string_view html_;
  std::size_t at_ = 0;
  PageLinks out_;
};

}  // namespace

PageLinks read_links(std::string_view html) { return LinkScan(html).run(); }

}  // namespace footnote::html
