#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/answer.h"

namespace footnote::eval {

/// Of a longer text only the beginning is looked at.
inline constexpr std::size_t kMatchedBytesMax = 64u << 10;
inline constexpr std::size_t kExpressionBytesMax = 4000;

/// A regular expression that a right answer matches. Case is ignored; \w and \W know Unicode. Copies share what was compiled.
class Expression {
 public:
  /// kInvalidArgument: it does not compile, or matches the empty text. kTooLarge: longer than kExpressionBytesMax.
  static Result<Expression> parse(std::string_view source);
  /// The words of a text in their order, whatever stands between them. kInvalidArgument: it has none.
  static Result<Expression> of_words(std::string_view text);

  const std::string& source() const { return source_; }
  /// Whether the text holds a match, as it stands with single spaces or as a reader sees it (no marks of emphasis, code and links).
  /// kResourceExhausted: the expression needs too many steps, or too much memory, for this text.
  Result<bool> found_in(std::string_view text) const;

 private:
  struct Pattern;
  Expression(std::string source, std::shared_ptr<const Pattern> pattern) : source_(std::move(source)), pattern_(std::move(pattern)) {}
  Result<bool> matches(std::string_view text) const;

  std::string source_;
  std::shared_ptr<const Pattern> pattern_;  // Never changes; questions are copied.
};

/// The text of an answer as it is told, without the markers of its citations.
std::string told_text(const Answer& answer);

}  // namespace footnote::eval
