#include "engine/html/guard.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/html/extract.h"

namespace footnote::html {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Scans tags like the parser does, far enough to count attributes.
class TagScanner {
 public:
  explicit TagScanner(std::string& html) : html_(html) {}

  void run() {
    while ((at_ = html_.find('<', at_)) != std::string::npos) {
      ++at_;
      if (at_ < html_.size() && is_letter(html_[at_])) {
        open_tag();
      } else if (html_.compare(at_, 3, "!--") == 0) {
        const std::size_t end = html_.find("-->", at_ + 3);
        if (end == std::string::npos) return;
        at_ = end + 3;
      }
    }
  }

 private:
  void open_tag() {
    const std::size_t name_begin = at_;
    skip_until([](char c) { return is_blank(c) || c == '>' || c == '/'; });
    const std::string name = to_lower_ascii(std::string_view(html_).substr(name_begin, std::min<std::size_t>(at_ - name_begin, 16)));
    attributes();
    if (name == "script" || name == "style") skip_raw_text(name);
  }

  void attributes() {
    std::size_t count = 0;
    std::size_t excess_begin = std::string::npos;
    for (;;) {
      skip_until([](char c) { return !is_blank(c) && c != '/'; });
      if (at_ >= html_.size() || html_[at_] == '>') break;
      if (++count == kAttributesMax + 1) excess_begin = at_;
      attribute();
    }
    if (excess_begin != std::string::npos) {
      std::fill(html_.begin() + static_cast<std::ptrdiff_t>(excess_begin), html_.begin() + static_cast<std::ptrdiff_t>(at_), ' ');
    }
  }

  void attribute() {
    ++at_;  // A name has at least one character, whatever it is, so the scan always advances.
    skip_until([](char c) { return is_blank(c) || c == '=' || c == '>' || c == '/'; });
    skip_until([](char c) { return !is_blank(c); });
    if (at_ >= html_.size() || html_[at_] != '=') return;
    ++at_;
    skip_until([](char c) { return !is_blank(c); });
    if (at_ >= html_.size()) return;
    const char quote = html_[at_];
    if (quote != '"' && quote != '\'') return skip_until([](char c) { return is_blank(c) || c == '>'; });
    at_ = std::min(html_.find(quote, at_ + 1), html_.size() - 1) + 1;
  }

  void skip_raw_text(std::string_view name) {
    for (; (at_ = html_.find("</", at_)) != std::string::npos; ++at_) {
      if (starts_with_ignoring_case(std::string_view(html_).substr(at_ + 2), name)) return;
    }
    at_ = html_.size();
  }

  template <class Stop>
  void skip_until(Stop stop) {
    while (at_ < html_.size() && !stop(html_[at_])) ++at_;
  }

  std::string& html_;
  std::size_t at_ = 0;
};

}  // namespace

std::string guarded_copy(std::string_view html) {
  if (html.starts_with("\xEF\xBB\xBF")) html.remove_prefix(3);
  std::string out = repair_utf8(html);
  if (out.find('\0') != std::string::npos) {
    std::string whole;
    whole.reserve(out.size() + 64);
    for (char c : out) {
      if (c == '\0') {
        append_utf8(whole, kReplacementCharacter);
      } else {
        whole.push_back(c);
      }
    }
    out = std::move(whole);
  }
  TagScanner(out).run();
  return out;
}

}  // namespace footnote::html
