#include "base/pii.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace footnote {

namespace {

constexpr std::size_t kMailNameMax = 64;
constexpr std::size_t kMailDomainMax = 255;
constexpr std::size_t kPhoneDigitsMin = 8;
constexpr std::size_t kPhoneDigitsMax = 15;
constexpr std::size_t kCardDigitsMin = 13;
constexpr std::size_t kCardDigitsMax = 19;
constexpr std::size_t kIbanMin = 15;
constexpr std::size_t kIbanMax = 34;

struct Found {
  std::size_t end = 0;
  std::string_view word;
};

bool is_word(char c) { return is_ascii_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80; }
bool is_mail_char(char c) { return is_ascii_alphanumeric(c) || c == '.' || c == '_' || c == '%' || c == '+' || c == '-'; }

/// An address that begins at `at`: name, "@", and a domain with a dot.
std::optional<Found> mail_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && end - at <= kMailNameMax && is_mail_char(text[end])) ++end;
  if (end == at || end >= text.size() || text[end] != '@') return std::nullopt;
  const std::size_t domain = ++end;
  while (end < text.size() && end - domain <= kMailDomainMax && (is_ascii_alphanumeric(text[end]) || text[end] == '.' || text[end] == '-'))
    ++end;
  while (end > domain && !is_ascii_alphanumeric(text[end - 1])) --end;
  const std::size_t dot = text.substr(domain, end - domain).find('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  return Found{end, "[email]"};
}

bool passes_luhn(std::string_view digits) {
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    int digit = digits[digits.size() - 1 - i] - '0';
    if (i % 2 == 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 == 0;
}

/// A run of digits that begins at `at`, with single separators between them.
std::optional<Found> number_at(std::string_view text, std::size_t at) {
  const bool has_plus = text[at] == '+';
  std::string digits;
  std::size_t end = at + (has_plus ? 1 : 0);
  std::size_t last = at;
  bool has_dates_dots = false;
  for (std::size_t i = end; i < text.size() && digits.size() <= kCardDigitsMax; ++i) {
    if (is_ascii_digit(text[i])) {
      digits += text[i];
      last = i + 1;
    } else if (std::string_view(" -./()").find(text[i]) == std::string_view::npos || i - last > 1) {
      break;
    } else {
      has_dates_dots = has_dates_dots || text[i] == '.';
    }
  }
  if (digits.size() >= kCardDigitsMin && digits.size() <= kCardDigitsMax && passes_luhn(digits)) return Found{last, "[account]"};
  const bool is_phone = (has_plus || digits.starts_with('0')) && !(has_dates_dots && !has_plus);
  if (is_phone && digits.size() >= kPhoneDigitsMin && digits.size() <= kPhoneDigitsMax) return Found{last, "[phone]"};
  return std::nullopt;
}

/// An IBAN: two capitals, two digits, then groups of capitals and digits.
std::optional<Found> iban_at(std::string_view text, std::size_t at) {
  if (at + 4 > text.size() || !is_ascii_upper(text[at]) || !is_ascii_upper(text[at + 1]) || !is_ascii_digit(text[at + 2]) ||
      !is_ascii_digit(text[at + 3])) {
    return std::nullopt;
  }
  std::size_t count = 0;
  std::size_t end = at;
  for (std::size_t i = at; i < text.size() && count <= kIbanMax; ++i) {
    if (is_ascii_digit(text[i]) || is_ascii_upper(text[i])) {
      ++count;
      end = i + 1;
    } else if (text[i] != ' ' || i != end) {
      break;
    }
  }
  if (count < kIbanMin || count > kIbanMax) return std::nullopt;
  return Found{end, "[account]"};
}

}  // namespace

std::string mask_pii(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::optional<Found> found;
    const bool begins_word = at == 0 || !is_word(text[at - 1]);
    if (begins_word && is_ascii_alphanumeric(text[at])) found = mail_at(text, at);
    if (!found && begins_word && is_ascii_upper(text[at])) found = iban_at(text, at);
    if (!found && begins_word && (text[at] == '+' || is_ascii_digit(text[at]))) found = number_at(text, at);
    if (!found) {
      out += text[at++];
      continue;
    }
    out += found->word;
    at = found->end;
  }
  return out;
}

}  // namespace footnote
