#include "chunk/yaml_subset.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::chunk {

namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/// Where a quoted string at the start of `text` ends (after the closing quote), or npos.
std::size_t quoted_end(std::string_view text) {
  const char quote = text[0];
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      const bool doubled = quote == '\'' && at + 1 < text.size() && text[at + 1] == quote;
      if (!doubled) return at + 1;
      ++at;
    }
  }
  return std::string_view::npos;
}

std::string unquoted(std::string_view quoted) {
  const char quote = quoted[0];
  const std::string_view inner = quoted.substr(1, quoted.size() - 2);
  std::string out;
  for (std::size_t at = 0; at < inner.size(); ++at) {
    if (quote == '"' && inner[at] == '\\' && at + 1 < inner.size()) {
      ++at;
      out.push_back(inner[at] == 'n' ? '\n' : inner[at] == 't' ? '\t' : inner[at]);
    } else {
      if (inner[at] == '\'' && quote == '\'') ++at;
      out.push_back(inner[at]);
    }
  }
  return out;
}

std::string scalar_of(std::string_view text) {
  text = trim(text);
  if (!text.empty() && (text[0] == '"' || text[0] == '\'')) {
    const std::size_t end = quoted_end(text);
    if (end != std::string_view::npos) return unquoted(text.substr(0, end));
  }
  // " #" starts a comment; "C#" and "#tag" do not.
  if (const std::size_t comment = text.find(" #"); comment != std::string_view::npos) text = trim(text.substr(0, comment));
  return text == "~" || text == "null" ? std::string() : std::string(text);
}

/// Items of "[a, "b, c"]"; `text` is the part between the brackets. "[[slug]]" is one item, not a nested list.
std::vector<std::string> inline_items(std::string_view text) {
  std::vector<std::string> out;
  while (!(text = trim(text)).empty()) {
    std::size_t end = 0;
    if (text[0] == '"' || text[0] == '\'') end = std::min(quoted_end(text), text.size());
    end = std::min(text.find(',', end), text.size());
    if (std::string item = scalar_of(text.substr(0, end)); !item.empty()) out.push_back(std::move(item));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

class BlockParser {
 public:
  BlockParser(std::string_view block, std::size_t items_max) : lines_(split(block, '\n')), items_max_(items_max) {}

  std::optional<std::map<std::string, YamlValue, std::less<>>> run() {
    for (; at_ < lines_.size(); ++at_) {
      const std::string_view line = lines_[at_];
      const std::string_view text = trim(line);
      if (text.empty() || text[0] == '#') continue;
      const bool item = text == "-" || text.starts_with("- ");
      if (item && current_ != nullptr && (current_->is_list || current_->items.empty())) {
        add_item(text.substr(1));
      } else if (line[0] != ' ' && line[0] != '\t') {
        if (!name_line(line)) return std::nullopt;
      }
    }
    return std::move(out_);
  }

 private:
  void add_item(std::string_view text) {
    current_->is_list = true;
    std::string item = scalar_of(text);
    if (!item.empty() && current_->items.size() < items_max_) current_->items.push_back(std::move(item));
  }

  bool name_line(std::string_view line) {
    std::string_view rest = line;
    std::string name;
    if (rest[0] == '"' || rest[0] == '\'') {
      const std::size_t end = quoted_end(rest);
      if (end == std::string_view::npos) return false;
      name = unquoted(rest.substr(0, end));
      rest.remove_prefix(end);
    } else {
      const auto end = std::ranges::find_if_not(rest, is_name_char);
      name = std::string(rest.begin(), end);
      rest.remove_prefix(name.size());
    }
    rest = trim(rest);
    if (name.empty() || rest.empty() || rest[0] != ':') return false;
    rest.remove_prefix(1);
    if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t') return false;
    current_ = &(out_[name] = YamlValue{});
    value(trim(rest));
    return true;
  }

  void value(std::string_view text) {
    if (text.empty() || text[0] == '#' || text[0] == '{') return;
    if (text[0] == '|' || text[0] == '>') return block_scalar(text[0] == '|');
    if (text[0] == '[' && !text.starts_with("[[")) return inline_list(text);
    if (std::string scalar = scalar_of(text); !scalar.empty()) current_->items = {std::move(scalar)};
  }

  /// A list may span several lines until its bracket closes.
  void inline_list(std::string_view text) {
    std::string whole(text);
    // Visits each line once: a list that never closes runs to the block's end.
    for (std::string_view line = text; line.find(']') == std::string_view::npos && at_ + 1 < lines_.size();) {
      line = trim(lines_[++at_]);
      (whole += ' ') += line;
    }
    const std::size_t close = whole.find_last_of(']');
    current_->is_list = true;
    current_->items = inline_items(std::string_view(whole).substr(1, close == std::string::npos ? close : close - 1));
    if (current_->items.size() > items_max_) current_->items.resize(items_max_);
  }

  void block_scalar(bool keep_lines) {
    std::string text;
    while (at_ + 1 < lines_.size() && (trim(lines_[at_ + 1]).empty() || lines_[at_ + 1][0] == ' ' || lines_[at_ + 1][0] == '\t')) {
      if (!text.empty()) text += keep_lines ? '\n' : ' ';
      text += trim(lines_[++at_]);
    }
    current_->items = {std::string(trim(text))};
  }

  const std::vector<std::string_view> lines_;
  const std::size_t items_max_;
  std::size_t at_ = 0;
  std::map<std::string, YamlValue, std::less<>> out_;
  YamlValue* current_ = nullptr;
};

}  // namespace

std::optional<std::map<std::string, YamlValue, std::less<>>> parse_yaml_subset(std::string_view block, std::size_t items_max) {
  return BlockParser(block, items_max).run();
}

}  // namespace footnote::chunk
