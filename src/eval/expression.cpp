#include "eval/expression.h"

#include <unicode/regex.h>

#include <algorithm>

#include "answer/quote.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote::eval {
namespace {

/// Limit on ICU's match steps; each takes about a millisecond.
constexpr int32_t kMatchStepsMax = 2000;
constexpr int32_t kMatchStackBytesMax = 8 << 20;

icu::UnicodeString wide(std::string_view text) {
  return icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
}

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

/// The length of a marker "[3]" at `at` that belongs to one of the sources, 0 for anything else. Only after a space, another marker or
/// nothing: "path[1]" is code.
std::size_t marker_length(std::string_view text, std::size_t at, const std::vector<SourceBlock>& sources) {
  if (text[at] != '[' || (at > 0 && text[at - 1] != ' ' && text[at - 1] != '\n' && text[at - 1] != ']')) return 0;
  std::size_t end = at + 1;
  while (end < text.size() && is_ascii_digit(text[end])) ++end;
  if (end == text.size() || text[end] != ']') return 0;
  const auto number = parse_whole_number<int>(text.substr(at + 1, end - at - 1));
  return number && std::ranges::find(sources, *number, &SourceBlock::number) != sources.end() ? end + 1 - at : 0;
}

}  // namespace

struct Expression::Pattern {
  std::unique_ptr<icu::RegexPattern> compiled;
};

Result<Expression> Expression::parse(std::string_view source) {
  if (source.size() > kExpressionBytesMax)
    return fail(ErrorCode::kTooLarge, "an expression of {} bytes; at most {} are allowed", source.size(), kExpressionBytesMax);
  UErrorCode status = U_ZERO_ERROR;
  UParseError where{};
  auto pattern = std::make_shared<Pattern>();
  pattern->compiled.reset(icu::RegexPattern::compile(wide(source), UREGEX_CASE_INSENSITIVE, where, status));
  if (U_FAILURE(status)) {
    return fail(ErrorCode::kInvalidArgument, "the expression does not compile at character {}: {}", where.offset, u_errorName(status));
  }
  Expression out(std::string(source), std::move(pattern));
  FOOTNOTE_TRY(const bool matches_nothing, out.matches(""));
  if (matches_nothing) return fail(ErrorCode::kInvalidArgument, "the expression matches the empty text: every answer would be right");
  return out;
}

Result<Expression> Expression::of_words(std::string_view text) {
  std::string source;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const bool is_word = u_isalnum(static_cast<UChar32>(c)) != 0;
    if (is_word && !in_word && !source.empty()) source += R"([\W_]+)";
    if (is_word) append_utf8(source, c);
    in_word = is_word;
  }
  if (source.empty()) return fail(ErrorCode::kInvalidArgument, "a text without words can't be searched for");
  return parse(source);
}

Result<bool> Expression::matches(std::string_view text) const {
  UErrorCode status = U_ZERO_ERROR;
  const icu::UnicodeString looked_at = wide(utf8_prefix(text, kMatchedBytesMax));
  const std::unique_ptr<icu::RegexMatcher> matcher(pattern_->compiled->matcher(looked_at, status));
  if (U_SUCCESS(status)) matcher->setTimeLimit(kMatchStepsMax, status);
  if (U_SUCCESS(status)) matcher->setStackLimit(kMatchStackBytesMax, status);
  const bool found = U_SUCCESS(status) && matcher->find(status) != 0;
  if (U_FAILURE(status)) {
    return fail(ErrorCode::kResourceExhausted, "the expression {} can't be matched against a text of {} bytes: {}", source_, text.size(),
                u_errorName(status));
  }
  return found;
}

Result<bool> Expression::found_in(std::string_view text) const {
  FOOTNOTE_TRY(const bool found, matches(fold_spaces(text)));
  if (found) return true;
  return matches(answer::plain_quote(text));
}

std::string plain_answer(const Answer& answer) {
  std::string out;
  const std::string_view text = answer.text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t marker = marker_length(text, at, answer.sources);
    if (marker > 0) {
      while (!out.empty() && out.back() == ' ') out.pop_back();
      at += marker;
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

}  // namespace footnote::eval
