#include "engine/nn/added_tokens.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/utf8.h"

namespace footnote::nn {
namespace {

std::size_t previous_boundary(std::string_view text, std::size_t at) {
  do {
    --at;
  } while (at > 0 && !is_utf8_boundary(text, at));
  return at;
}

bool is_word(char32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  constexpr std::uint32_t kMasks = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
  return u_hasBinaryProperty(c, UCHAR_ALPHABETIC) || (U_GET_GC_MASK(c) & kMasks) != 0 || u_hasBinaryProperty(c, UCHAR_JOIN_CONTROL);
}

bool is_space_at(std::string_view text, std::size_t at) { return u_isUWhiteSpace(static_cast<UChar32>(next_code_point(text, at))); }

bool touches_word(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0) {
    std::size_t at = previous_boundary(text, begin);
    if (is_word(next_code_point(text, at))) return true;
  }
  return end < text.size() && is_word(next_code_point(text, end));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
  const auto head = [](const AddedToken& token) { return static_cast<unsigned char>(token.content.front()); };
  std::ranges::sort(tokens_, {}, [&](const AddedToken& token) { return std::tuple(head(token), -std::ssize(token.content), token.id); });
  for (const AddedToken& token : tokens_) ++starts_[head(token) + 1U];
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  if (!tokens_.empty() && head(tokens_.front()) == head(tokens_.back())) only_head_ = tokens_.front().content.front();
}

std::size_t AddedTokens::find_head(std::string_view text, std::size_t from) const {
  if (only_head_) return std::min(text.find(*only_head_, from), text.size());
  while (from < text.size()) {
    const auto byte = static_cast<unsigned char>(text[from]);
    if (starts_[byte] != starts_[byte + 1U]) break;
    ++from;
  }
  return from;
}

const AddedToken* AddedTokens::longest_at(std::string_view rest) const {
  const auto byte = static_cast<unsigned char>(rest.front());
  for (std::uint32_t i = starts_[byte]; i < starts_[byte + 1U]; ++i) {
    if (rest.starts_with(tokens_[i].content)) return &tokens_[i];
  }
  return nullptr;
}

std::optional<AddedTokens::Match> AddedTokens::next(std::string_view text, std::size_t from, Specials specials) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t at = find_head(text, from); at < text.size(); at = find_head(text, at)) {
    const AddedToken* token = longest_at(text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    Match match{token->id, at, at + token->content.size()};
    // A rejected match is skipped as a whole, like in the reference.
    at = match.end;
    if (token->special && specials == Specials::kAsText) continue;
    if (token->single_word && touches_word(text, match.begin, match.end)) continue;
    if (token->strip_left) {
      while (match.begin > from && is_space_at(text, previous_boundary(text, match.begin)))
        match.begin = previous_boundary(text, match.begin);
      match.begin = std::max(match.begin, from);
    }
    if (token->strip_right) {
      while (match.end < text.size() && is_space_at(text, match.end)) next_code_point(text, match.end);
    }
    return match;
  }
  return std::nullopt;
}

}  // namespace footnote::nn
