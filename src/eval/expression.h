#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/answer.h"

namespace footnote::eval {

/// Only this many bytes at the start of a text are searched.
inline constexpr std::size_t kMatchedBytesMax = 64u << 10;
inline constexpr std::size_t kExpressionBytesMax = 4000;

/// A regular expression that a right answer matches. Case is ignored; \w and \W cover Unicode. Copies share the compiled pattern.
class Expression {
 public:
  /// kInvalidArgument: it does not compile, or matches the empty text. kTooLarge: longer than kExpressionBytesMax.
  static Result<Expression> parse(std::string_view source);
  /// Matches the words of `text` in the same order, with anything other than words between them. kInvalidArgument: it has no words.
  static Result<Expression> of_words(std::string_view text);

  const std::string& source() const { return source_; }
  /// Whether the text contains a match, either verbatim with single spaces or without Markdown marks (emphasis, code, links).
  /// kResourceExhausted: the expression needs too many steps, or too much memory, for this text.
  Result<bool> found_in(std::string_view text) const;

 private:
  struct Pattern;
  Expression(std::string source, std::shared_ptr<const Pattern> pattern) : source_(std::move(source)), pattern_(std::move(pattern)) {}
  Result<bool> matches(std::string_view text) const;

  std::string source_;
  std::shared_ptr<const Pattern> pattern_;  // Immutable and shared, because questions are copied.
};

/// The text of an answer without its citation markers.
std::string plain_answer(const Answer& answer);

}  // namespace footnote::eval
