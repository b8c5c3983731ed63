#include "engine/html/guard.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/html/region.h"

namespace footnote::html {

namespace {

/// Longer names are cut: no element that a reader sees has one.
constexpr std::size_t kTagNameBytesMax = 64;

/// The attributes that extraction reads, and on which elements.
constexpr std::array<std::string_view, 11> kReadAttributes = {"aria-hidden", "class", "content", "hidden", "href", "id",
                                                              "lang",        "name",  "rel",     "role",   "style"};
constexpr std::size_t kUnread = kReadAttributes.size();

std::size_t index_of(std::string_view attribute, std::string_view element) {
  const auto found = std::ranges::find_if(kReadAttributes, [&](std::string_view known) {
    return known.size() == attribute.size() && starts_with_ignoring_case(attribute, known);
  });
  if (found == kReadAttributes.end()) return kUnread;
  const bool is_read = *found == "class" || *found == "id"       ? is_block_container(element)
                       : *found == "content" || *found == "name" ? element == "meta"
                       : *found == "href" || *found == "rel"     ? element == "link"
                       : *found == "lang"                        ? element == "html"
                                                                 : true;
  return is_read ? static_cast<std::size_t>(found - kReadAttributes.begin()) : kUnread;
}

/// Elements that the parser does not know: without a <body> before them it would leave them in the <head>.
constexpr auto kSectioning =
    name_set("article", "aside", "details", "dialog", "figure", "footer", "header", "hgroup", "main", "nav", "search", "section");

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name_part(char c) { return is_letter(c) || is_ascii_digit(c) || c == ':' || c == '-' || c == '_' || c == '.'; }

/// Reads tags like a browser and writes them in one plain form.
class Rewriter {
 public:
  explicit Rewriter(std::string_view html) : html_(html), nodes_left_(nodes_max(html.size())) { out_.html.reserve(html.size()); }

  GuardedPage run() {
    while (at_ < html_.size() && !out_.cut) {
      const std::size_t tag = std::min(html_.find('<', at_), html_.size());
      out_.html += html_.substr(at_, tag - at_);
      at_ = tag;
      if (at_ < html_.size()) markup();
    }
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < html_.size() ? html_[at_ + ahead] : '\0'; }

  void markup() {
    const char next = peek(1);
    if (is_letter(next)) return start_tag();
    if (next == '/' && is_letter(peek(2))) return end_tag();
    if (html_.substr(at_, 4) == "<!--") return comment();
    if (next == '!' || next == '?' || next == '/') return skip_past('>');
    out_.html += "&lt;";
    ++at_;
  }

  /// "-->" and "--!>" end a comment, and so does ">" right at its start.
  void comment() {
    at_ += 4;
    if (peek(0) == '>') return skip_past('>');
    if (html_.substr(at_, 2) == "->") return skip_past('>');
    for (; (at_ = std::min(html_.find("--", at_), html_.size())) < html_.size(); ++at_) {
      if (peek(2) == '>' || (peek(2) == '!' && peek(3) == '>')) return skip_past('>');
    }
  }

  void skip_past(char c) { at_ = std::min(html_.find(c, at_), html_.size() - 1) + 1; }

  template <class Stop>
  std::string_view take_until(Stop stop) {
    const std::size_t begin = at_;
    while (at_ < html_.size() && !stop(html_[at_])) ++at_;
    return html_.substr(begin, at_ - begin);
  }

  /// The name as the parser would read it; advances past the whole name.
  std::string take_tag_name() {
    const std::string_view whole = take_until([](char c) { return is_blank(c) || c == '>' || c == '/'; });
    std::size_t size = 0;
    while (size < whole.size() && size < kTagNameBytesMax && is_name_part(whole[size])) ++size;
    return to_lower_ascii(whole.substr(0, size));
  }

  bool count_node() {
    out_.cut = nodes_left_ == 0;
    if (out_.cut) return false;
    --nodes_left_;
    return true;
  }

  void end_tag() {
    at_ += 2;
    const std::string name = take_tag_name();
    skip_past('>');
    // For an end tag </p> without a start, the parser creates a paragraph.
    if (name == "p" && !count_node()) return;
    out_.html += "</" + name;
    keep_lines();
    out_.html += ">";
  }

  void start_tag() {
    ++at_;
    const std::string name = take_tag_name();
    const std::size_t begin = out_.html.size();
    const LineCount written = written_;
    if (!count_node()) return;
    if (kSectioning.contains(name) && !saw_body_) {
      if (!count_node()) return;
      saw_body_ = true;
      out_.html += "<body>";
    }
    out_.html += "<" + name;
    const bool again = (name == "html" && std::exchange(saw_html_, true)) || (name == "body" && std::exchange(saw_body_, true));
    const bool closed = attributes(name);
    // Drop a tag that is cut off by the end of the page: no browser shows it.
    if (!closed || again) {
      out_.html.resize(begin);
      written_ = written;
    }
    if (closed && (name == "script" || name == "style")) skip_raw_text(name);
  }

  /// False if the page ends before the tag does.
  bool attributes(std::string_view element) {
    std::bitset<kReadAttributes.size()> written;
    for (;;) {
      const std::string_view gap = take_until([](char c) { return !is_blank(c) && c != '/'; });
      if (at_ >= html_.size()) return false;
      if (html_[at_] == '>') {
        keep_lines();
        out_.html += gap.ends_with('/') ? "/>" : ">";
        ++at_;
        return true;
      }
      const Attribute found = attribute();
      const std::size_t index = index_of(found.name, element);
      if (index == kUnread || written.test(index) || !count_node()) continue;
      written.set(index);
      write(kReadAttributes[index], found);
    }
  }

  struct Attribute {
    std::string_view name;
    std::string_view value;
    bool has_value = false;
  };

  Attribute attribute() {
    Attribute out;
    const std::size_t begin = at_++;  // A name has at least one character, whatever it is, so the scan always advances.
    take_until([](char c) { return is_blank(c) || c == '=' || c == '>' || c == '/'; });
    out.name = html_.substr(begin, at_ - begin);
    const std::size_t after_name = at_;
    take_until([](char c) { return !is_blank(c); });
    if (peek(0) != '=') {
      at_ = after_name;
      return out;
    }
    ++at_;
    out.has_value = true;
    take_until([](char c) { return !is_blank(c); });
    const char quote = peek(0);
    if (quote != '"' && quote != '\'') {
      out.value = take_until([](char c) { return is_blank(c) || c == '>'; });
      return out;
    }
    ++at_;
    out.value = take_until([quote](char c) { return c == quote; });
    if (at_ < html_.size()) ++at_;
    return out;
  }

  /// Counts line ends of `text` up to a byte, each only once over all calls.
  struct LineCount {
    std::size_t lines = 0;
    std::size_t until = 0;

    std::size_t up_to(std::string_view text, std::size_t end) {
      lines += static_cast<std::size_t>(std::ranges::count(text.substr(until, end - until), '\n'));
      until = end;
      return lines;
    }
  };

  /// Writes the line ends that were removed so far inside the current tag, where they have no effect. So elements keep their line numbers.
  void keep_lines() {
    const std::size_t read = read_.up_to(html_, at_);
    const std::size_t written = written_.up_to(out_.html, out_.html.size());
    if (read > written) out_.html.append(read - written, '\n');
  }

  void write(std::string_view name, const Attribute& attribute) {
    out_.html += ' ';
    out_.html += name;
    if (!attribute.has_value) return;
    out_.html += "=\"";
    for (const char c : attribute.value) {
      if (c == '"') {
        out_.html += "&quot;";
      } else {
        out_.html += c;
      }
    }
    out_.html += '"';
  }

  void skip_raw_text(std::string_view name) {
    for (; (at_ = std::min(html_.find("</", at_), html_.size())) < html_.size(); ++at_) {
      if (starts_with_ignoring_case(html_.substr(at_ + 2), name)) return;
    }
  }

  const std::string_view html_;
  std::size_t at_ = 0;
  std::size_t nodes_left_;
  bool saw_html_ = false;
  bool saw_body_ = false;
  LineCount read_;
  LineCount written_;
  GuardedPage out_;
};

}  // namespace

GuardedPage guarded(std::string_view html) {
  if (html.starts_with("\xEF\xBB\xBF")) html.remove_prefix(3);
  std::string whole = repair_utf8(html);
  if (whole.find('\0') != std::string::npos) {
    std::string without_nul;
    without_nul.reserve(whole.size() + 64);
    for (const char c : whole) {
      if (c == '\0') {
        append_utf8(without_nul, kReplacementCharacter);
      } else {
        without_nul.push_back(c);
      }
    }
    whole = std::move(without_nul);
  }
  return Rewriter(whole).run();
}

}  // namespace footnote::html
