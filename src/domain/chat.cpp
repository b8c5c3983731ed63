#include "domain/chat.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote {

std::string_view to_string(MessageRole role) {
  switch (role) {
    case MessageRole::kUser: return "user";
    case MessageRole::kAssistant: return "assistant";
  }
  return "user";
}

bool is_chat_id(std::string_view id) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ':';
  };
  return !id.empty() && id.size() <= kChatIdBytesMax && std::ranges::all_of(id, is_allowed);
}

std::string title_from(std::string_view question) {
  const std::string_view line = trim(trim(question).substr(0, trim(question).find('\n')));
  const std::string folded = fold_spaces(line);
  if (count_code_points(folded) <= kMadeTitleCharsMax) return folded;
  const std::string_view cut = first_code_points(folded, kMadeTitleCharsMax - 1);
  const std::size_t space = cut.rfind(' ');
  return std::string(space == std::string_view::npos || space < cut.size() / 2 ? cut : cut.substr(0, space)) + "…";
}

}  // namespace footnote
