#include "crawl/page_rules.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace footnote::crawl {

namespace {

/// Longer pages have something to say, whatever their title.
constexpr std::size_t kNotFoundTextBytesMax = 1'500;
constexpr double kSameWordsShare = 0.9;
constexpr std::size_t kWordsMax = 2'000;

constexpr std::array<std::string_view, 17> kNotFoundPhrases = {"page not found",
                                                               "404 not found",
                                                               "error 404",
                                                               "404 error",
                                                               "not found",
                                                               "page does not exist",
                                                               "page doesn't exist",
                                                               "page can't be found",
                                                               "page cannot be found",
                                                               "page you requested",
                                                               "no longer available",
                                                               "seite nicht gefunden",
                                                               "page introuvable",
                                                               "p\xC3\xA1gina no encontrada",
                                                               "pagina non trovata",
                                                               "sidan hittades inte",
                                                               "pagina niet gevonden"};

bool says_not_found(std::string_view text) {
  const std::string lower = to_lower_ascii(text);
  return std::ranges::any_of(kNotFoundPhrases, [&](std::string_view phrase) { return lower.find(phrase) != std::string::npos; });
}

/// Words without digits: the address and the time on an error page differ each time.
std::set<std::string> plain_words(std::string_view text) {
  std::set<std::string> out;
  std::string word;
  const auto flush = [&] {
    if (!word.empty() && out.size() < kWordsMax && std::ranges::none_of(word, is_ascii_digit)) out.insert(word);
    word.clear();
  };
  for (const char c : text) {
    if (is_ascii_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80 || c == '-' || c == '/') {
      word += ascii_lower(c);
    } else {
      flush();
    }
  }
  flush();
  return out;
}

/// "/2026/01/page-7" -> "/#/#/page-#"
std::string pattern_of(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (!is_ascii_digit(c)) {
      out += c;
    } else if (!out.ends_with('#')) {
      out += '#';
    }
  }
  return out;
}

/// The path and the names of the parameters: "/list?page&sort".
std::string query_shape(const WebUrl& url) {
  std::vector<std::string> names;
  for (const std::string_view part : split(url.query, '&')) names.emplace_back(part.substr(0, part.find('=')));
  std::ranges::sort(names);
  return url.path + "?" + join(names, "&");
}

}  // namespace

void SoftNotFound::learn(std::string_view text_of_missing_page) { missing_words_ = plain_words(text_of_missing_page); }

bool SoftNotFound::matches(std::string_view title, std::string_view text) const {
  const std::string_view first_line = text.substr(0, std::min(text.find('\n'), text.size()));
  if (text.size() <= kNotFoundTextBytesMax && (says_not_found(title) || says_not_found(first_line))) return true;
  if (missing_words_.empty()) return false;
  const std::set<std::string> words = plain_words(text);
  std::size_t common = 0;
  for (const std::string& word : words) common += missing_words_.contains(word);
  const std::size_t all = words.size() + missing_words_.size() - common;
  return static_cast<double>(common) >= kSameWordsShare * static_cast<double>(all);
}

bool TrapGuard::admit(const WebUrl& url) {
  const auto parts = split(std::string_view(url.path).substr(1), '/');
  if (parts.size() > kPathPartsMax) return false;
  std::map<std::string_view, std::size_t> seen;
  for (const std::string_view part : parts) {
    if (!part.empty() && ++seen[part] > kSamePartMax) return false;
  }
  const auto pattern = patterns_.find(pattern_of(url.path));
  if (pattern != patterns_.end() && pattern->second.pages >= kPatternPagesMin) {
    const double share = static_cast<double>(pattern->second.fresh) / static_cast<double>(pattern->second.pages);
    if (share < kNewShareMin) return false;
  }
  return url.query.empty() || ++query_variants_[query_shape(url)] <= kQueryVariantsMax;
}

void TrapGuard::note(const WebUrl& url, bool is_new) {
  Pattern& pattern = patterns_[pattern_of(url.path)];
  ++pattern.pages;
  pattern.fresh += is_new;
}

bool is_media_path(std::string_view path) {
  constexpr std::array<std::string_view, 44> kSuffixes = {
      "7z",  "apk", "avi", "avif", "bin", "bmp", "bz2", "css", "deb",  "dmg", "eot", "exe",  "flac", "gif", "gz",
      "ico", "iso", "jar", "jpeg", "jpg", "js",  "m4a", "m4v", "mjs",  "mov", "mp3", "mp4",  "mpeg", "msi", "ogg",
      "otf", "png", "rar", "rpm",  "svg", "tar", "tgz", "tif", "tiff", "ttf", "wav", "webm", "webp", "woff"};
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string suffix = to_lower_ascii(name.substr(dot + 1));
  return std::ranges::find(kSuffixes, suffix) != kSuffixes.end() || suffix == "woff2" || suffix == "zip" || suffix == "xz";
}

}  // namespace footnote::crawl
