#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "formats/builder.h"
#include "formats/read.h"

namespace footnote::formats {

namespace {

/// Deeper values are left out, and reported.
constexpr std::size_t kDepthMax = 200;
/// Keys of containers up to this depth become headings; deeper ones are part of the lines: "a.b.c: value".
constexpr std::size_t kHeadingDepth = 2;
/// Lines of one record are one block up to this size.
constexpr std::size_t kRecordBytes = 1200;

/// Appends the text of a JSON string's inside.
void append_unescaped(std::string_view inside, std::string& out) {
  const auto unit = [&](std::size_t at) -> std::optional<char32_t> {
    char32_t value = 0;
    if (inside.size() < at + 4) return std::nullopt;
    for (const char c : inside.substr(at, 4)) {
      const auto digit = hex_digit(c);
      if (!digit) return std::nullopt;
      value = value * 16 + *digit;
    }
    return value;
  };
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\' || i + 1 == inside.size()) {
      out += inside[i];
      continue;
    }
    const char c = inside[++i];
    if (c != 'u') {
      out += std::string_view("nrtbf").contains(c) ? ' ' : c;
      continue;
    }
    auto code_point = unit(i + 1);
    if (!code_point) continue;
    i += 4;
    const auto low = *code_point >= 0xD800 && *code_point < 0xDC00 && inside.substr(i + 1, 2) == "\\u" ? unit(i + 3) : std::nullopt;
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      code_point = 0x10000 + ((*code_point - 0xD800) << 10) + (*low - 0xDC00);
      i += 6;
    }
    const bool is_surrogate = *code_point >= 0xD800 && *code_point < 0xE000;
    append_utf8(out, is_surrogate ? kReplacementCharacter : *code_point);
  }
}

/// Writes a JSON text as lines "key: value", read token by token: no tree is built, and malformed text is read as far as it makes sense.
class JsonWriter {
 public:
  JsonWriter(std::string_view text, DocumentBuilder& builder) : text_(text), builder_(builder) {}

  /// Writes one value; `line` is the file's line that the text begins on.
  void run(int line) {
    line_ = line;
    while (at_ < text_.size() && !builder_.is_full()) token();
    flush();
    if (is_malformed_ || !open_.empty()) builder_.remark("not valid JSON; read as far as it goes");
  }

 private:
  struct Container {
    bool is_object = false;
    bool is_headed = false;  ///< True if its key is a heading.
    std::string name;        ///< Its key, for lines; empty for an element of a list.
    std::string key;         ///< Key of the member that is being read.
  };

  void token() {
    const char c = text_[at_];
    if (c == '\n') ++line_;
    if (is_ascii_space(c) || c == ',' || c == ':') {
      ++at_;
    } else if (c == '{' || c == '[') {
      ++at_;
      open(c == '{');
    } else if (c == '}' || c == ']') {
      ++at_;
      close(c == '}');
    } else if (c == '"') {
      string();
    } else {
      const std::size_t end = std::min(text_.find_first_of(" \t\n,:]}[{\"", at_ + 1), text_.size());
      value(std::string(text_.substr(at_, end - at_)));
      at_ = end;
    }
  }

  void string() {
    const int begin_line = line_;
    std::size_t end = at_ + 1;
    for (; end < text_.size() && text_[end] != '"'; ++end) {
      if (text_[end] == '\n') ++line_;
      if (text_[end] == '\\') ++end;
    }
    end = std::min(end, text_.size());
    is_malformed_ = is_malformed_ || end == text_.size();
    std::string content;
    append_unescaped(text_.substr(at_ + 1, end - at_ - 1), content);
    at_ = std::min(end + 1, text_.size());
    std::size_t next = at_;
    while (next < text_.size() && is_ascii_space(text_[next])) ++next;
    const bool is_key = !open_.empty() && open_.back().is_object && next < text_.size() && text_[next] == ':';
    if (is_key) {
      open_.back().key = std::move(content);
    } else {
      value(content, begin_line);
    }
  }

  void open(bool is_object) {
    if (open_.size() == kDepthMax) {
      builder_.remark(fmt::format("nested more than {} deep; the rest was left out", kDepthMax));
      at_ = text_.size();
      open_.clear();
      return;
    }
    Container container{is_object, false, open_.empty() ? std::string() : open_.back().key, {}};
    const bool is_element = !open_.empty() && !open_.back().is_object;
    if (is_element || open_.size() <= kHeadingDepth) flush();
    if (!container.name.empty() && open_.size() <= kHeadingDepth && headed() == open_.size() - 1) {
      builder_.at(line_);
      builder_.heading(static_cast<int>(open_.size()) + 1, container.name);
      container.is_headed = true;
    }
    open_.push_back(std::move(container));
  }

  void close(bool is_object) {
    if (open_.empty() || open_.back().is_object != is_object) {
      is_malformed_ = true;
      return;
    }
    const bool ends_block = open_.back().is_headed || (open_.size() > 1 && !open_[open_.size() - 2].is_object);
    open_.pop_back();
    if (ends_block) flush();
  }

  /// How many of the open containers have headings; the outermost has no name.
  std::size_t headed() const { return static_cast<std::size_t>(std::ranges::count_if(open_, &Container::is_headed)); }

  void value(const std::string& content, int line = 0) {
    std::string name;
    for (const Container& container : open_) {
      if (!container.is_headed && !container.name.empty()) name += (name.empty() ? "" : ".") + container.name;
    }
    const bool is_member = !open_.empty() && open_.back().is_object;
    if (is_member) name += (name.empty() ? "" : ".") + open_.back().key;
    const int place = line == 0 ? line_ : line;
    lines_.push_back({name.empty() ? (open_.empty() ? content : "- " + content) : fmt::format("{}: {}", name, content), place});
    bytes_ += lines_.back().text.size();
    if (bytes_ > kRecordBytes) flush();
  }

  void flush() {
    if (lines_.empty()) return;
    builder_.lines(lines_);
    lines_.clear();
    bytes_ = 0;
  }

  const std::string_view text_;
  DocumentBuilder& builder_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Container> open_;
  std::vector<DocumentBuilder::Line> lines_;  ///< Lines of the current block.
  std::size_t bytes_ = 0;
  bool is_malformed_ = false;
};

chunk::ParsedDocument finish(std::string_view key, DocumentBuilder builder) {
  chunk::ParsedDocument out = std::move(builder).finish();
  chunk::settle_title(key, chunk::title_of_key(key), out);
  return out;
}

}  // namespace

chunk::ParsedDocument read_json(std::string_view key, std::string_view text) {
  DocumentBuilder builder(PlaceUnit::kLine, text_bytes_max(text.size()));
  JsonWriter(text, builder).run(1);
  return finish(key, std::move(builder));
}

chunk::ParsedDocument read_json_lines(std::string_view key, std::string_view text) {
  DocumentBuilder builder(PlaceUnit::kLine, text_bytes_max(text.size()));
  int line = 0;
  for (std::size_t at = 0; at < text.size() && !builder.is_full();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++line;
    JsonWriter(text.substr(at, end - at), builder).run(line);
    at = end + 1;
  }
  return finish(key, std::move(builder));
}

}  // namespace footnote::formats
