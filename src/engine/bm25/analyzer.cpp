#include "engine/bm25/analyzer.h"

#include <libstemmer.h>
#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/bm25/stop_words.h"
#include "engine/bm25/word_scanner.h"

namespace footnote::bm25 {
namespace {

// English uses the first Porter stemmer: it ranked better than the second on five of six test sets, by .001 to .003 nDCG@10, and worse on
// the sixth by .003. That is close to noise, but the reference figures were measured with it too.
constexpr std::array<std::pair<std::string_view, const char*>, 25> kStemmers = {{
    {"en", "porter"},     {"ar", "arabic"},     {"ca", "catalan"},   {"da", "danish"},   {"de", "german"},
    {"el", "greek"},      {"es", "spanish"},    {"eu", "basque"},    {"fi", "finnish"},  {"fr", "french"},
    {"ga", "irish"},      {"hi", "hindi"},      {"hu", "hungarian"}, {"hy", "armenian"}, {"id", "indonesian"},
    {"it", "italian"},    {"lt", "lithuanian"}, {"ne", "nepali"},    {"nl", "dutch"},    {"no", "norwegian"},
    {"pt", "portuguese"}, {"ro", "romanian"},   {"ru", "russian"},   {"sv", "swedish"},  {"tr", "turkish"},
}};

const char* stemmer_of(std::string_view language) {
  for (const auto& [code, name] : kStemmers) {
    if (code == language) return name;
  }
  return nullptr;
}

struct FreeStemmer {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};

/// Whether a camelCase part begins at i: "fooBar" before B, "HTTPServer" before S, but not in "RNAs".
bool begins_hump(std::string_view word, std::size_t i) {
  if (!is_ascii_upper(word[i])) return false;
  if (is_ascii_lower(word[i - 1])) return true;
  const std::string_view rest = word.substr(i + 1);
  return is_ascii_upper(word[i - 1]) && !rest.empty() && is_ascii_lower(rest[0]) && rest != "s";
}

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "3.14", "U.S", "e.g": dots inside one unit.
bool is_unit(const ScannedWord& word) {
  if (word.pieces.size() < 2 || word.whole.find_first_of("_/\\:>") != std::string_view::npos) return false;
  const auto all = [&](const auto& test) { return std::all_of(word.pieces.begin(), word.pieces.end(), test); };
  return all([](const Stretch& piece) { return all_digits(piece.text); }) ||
         all([](const Stretch& piece) { return piece.text.size() == 1; });
}

/// True for paths and names with joined parts, which are also kept whole; not for "and/or".
bool is_identifier(const ScannedWord& word) {
  if (word.pieces.size() < 2 || word.whole.size() > Analyzer::kTermBytesMax) return false;
  return word.pieces.size() > 2 || word.whole.find('/') == std::string_view::npos;
}

/// A word as indexed, and its role.
struct Stem {
  std::string_view text;
  WordRole role = WordRole::kContent;
};

/// A cached word and its stem.
class KnownStem {
 public:
  static constexpr std::size_t kBytesMax = 22;

  bool is_of(std::string_view word) const { return std::string_view(word_.data(), word_size_) == word; }
  Stem stem() const { return {{stem_.data(), stem_size_}, role_}; }
  /// REQUIRES: a word of at most kBytesMax bytes. A longer stem is not cached.
  void set(std::string_view word, const Stem& stem) {
    word_size_ = 0;
    if (stem.text.size() > kBytesMax) return;
    word_size_ = static_cast<std::uint8_t>(word.copy(word_.data(), kBytesMax));
    stem_size_ = static_cast<std::uint8_t>(stem.text.copy(stem_.data(), kBytesMax));
    role_ = stem.role;
  }

 private:
  std::array<char, kBytesMax> word_;
  std::array<char, kBytesMax> stem_;
  std::uint8_t word_size_ = 0;
  std::uint8_t stem_size_ = 0;
  WordRole role_ = WordRole::kContent;
};

/// Caches the stems of recent words: texts repeat most of their words, and stemming takes a quarter of a microsecond.
class StemCache {
 public:
  /// The cache slot of a word; null for a long word, and until enough words were seen for the cache to pay off.
  KnownStem* place_of(std::string_view word) {
    if (word.empty() || word.size() > KnownStem::kBytesMax) return nullptr;
    if (places_.empty()) {
      if (++asked_ < kWarmUp) return nullptr;
      places_.resize(kPlaces);
    }
    return &places_[std::hash<std::string_view>{}(word) % kPlaces];
  }

 private:
  static constexpr std::size_t kPlaces = 8192;
  static constexpr std::size_t kWarmUp = 512;

  std::vector<KnownStem> places_;
  std::size_t asked_ = 0;
};

}  // namespace

class Analyzer::Impl {
 public:
  using Sink = std::function<void(const Term&)>;

  explicit Impl(std::string_view language) : english_(language == "en") { stemmer_.reset(sb_stemmer_new(stemmer_of(language), nullptr)); }

  void analyze(std::string_view text, const Sink& sink) {
    WordScanner scanner(text);
    position_ = 0;
    for (word_number_ = 0; scanner.next(word_); ++word_number_) {
      if (is_unit(word_)) {
        add_unit(sink);
        continue;
      }
      const std::uint32_t first = position_;
      for (const Stretch& piece : word_.pieces) {
        switch (piece.kind) {
          case StretchKind::kWord: add_piece(piece.text, sink); break;
          case StretchKind::kBigrams: add_bigrams(piece.text, sink); break;
          case StretchKind::kUnspaced: add_unspaced(piece.text, sink); break;
        }
      }
      if (is_identifier(word_)) {
        fold_case(word_.whole);
        emit_whole(folded_, first, sink);
      }
    }
  }

 private:
  // "l'", "qu'", "O'".
  static constexpr std::size_t kElisionBytesMax = 2;

  struct Flags {
    bool function_word = false;
  };

  void emit(std::string_view text, Flags flags, const Sink& sink) {
    text = utf8_prefix(text, kTermBytesMax);
    if (!text.empty()) sink({text, word_number_, position_++, false, flags.function_word});
  }

  /// Emits a whole at the position of its first part.
  void emit_whole(std::string_view text, std::uint32_t first, const Sink& sink) {
    text = utf8_prefix(text, kTermBytesMax);
    if (!text.empty()) sink({text, word_number_, first, true, false});
    position_ = std::max(position_, first + 1);
  }

  // Numbers keep their dots, abbreviations drop them.
  void add_unit(const Sink& sink) {
    fold_case(word_.whole);
    if (!all_digits(word_.pieces.front().text)) std::erase(folded_, '.');
    emit(folded_, {.function_word = english_ && role_of(folded_) != WordRole::kContent}, sink);
  }

  // "l'avion", "O'Neill": the elided part is separated. "dog's": the s is dropped. "don't": one word, indexed as "dont".
  void add_piece(std::string_view piece, const Sink& sink) {
    std::size_t at = 0;
    std::string_view part = part_at(piece, at);
    if (at >= piece.size()) return add_word(part, sink);
    joined_.assign(part);
    while (at < piece.size()) {
      part = part_at(piece, at);
      if (at >= piece.size() && (part == "s" || part == "S")) break;
      if (joined_.size() <= kElisionBytesMax) {
        add_word(joined_, sink);
        joined_.clear();
      }
      joined_.append(part);
    }
    add_word(joined_, sink);
  }

  /// The part of a word from `at` to the next apostrophe; advances `at` past that.
  static std::string_view part_at(std::string_view piece, std::size_t& at) {
    const std::size_t begin = at;
    for (; at < piece.size(); ++at) {
      if (is_ascii_lower(piece[at]) || is_ascii_upper(piece[at])) continue;
      const std::string_view rest = piece.substr(at);
      for (const std::string_view mark : {std::string_view("'"), std::string_view("\u2019"), std::string_view("\u02BC")}) {
        if (!rest.starts_with(mark)) continue;
        at += mark.size();
        return piece.substr(begin, at - mark.size() - begin);
      }
    }
    return piece.substr(begin);
  }

  void add_word(std::string_view word, const Sink& sink) {
    std::size_t humps = 0;
    for (std::size_t i = 1; i < word.size(); ++i) humps += begins_hump(word, i);
    if (humps == 0) return add_stem(word, sink);
    const std::uint32_t first = position_;
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      if (i < word.size() && !begins_hump(word, i)) continue;
      if (i - begin >= 2) add_stem(word.substr(begin, i - begin), sink);
      begin = i;
    }
    if (const Stem stem = stem_of(word); stem.role != WordRole::kStop) emit_whole(stem.text, first, sink);
  }

  void add_stem(std::string_view word, const Sink& sink) {
    const Stem stem = stem_of(word);
    if (stem.role == WordRole::kStop) {
      ++position_;
    } else {
      emit(stem.text, {.function_word = stem.role == WordRole::kFunction}, sink);
    }
  }

  /// The indexed form of a word, and its role. The view is valid until the next call.
  Stem stem_of(std::string_view word) {
    KnownStem* const known = stems_.place_of(word);
    if (known != nullptr && known->is_of(word)) return known->stem();
    const Stem stem = compute_stem(word);
    if (known != nullptr) known->set(word, stem);
    return stem;
  }

  Stem compute_stem(std::string_view word) {
    const bool ascii = fold_case(word);
    const WordRole role = english_ ? role_of(folded_) : WordRole::kContent;
    std::string_view stem = folded_;
    if (stemmer_ && role != WordRole::kStop && folded_.size() <= kTermBytesMax) {
      const auto* bytes = reinterpret_cast<const sb_symbol*>(folded_.data());
      const sb_symbol* out = sb_stemmer_stem(stemmer_.get(), bytes, static_cast<int>(folded_.size()));
      if (out != nullptr) {
        stem = {reinterpret_cast<const char*>(out), static_cast<std::size_t>(sb_stemmer_length(stemmer_.get()))};
      }
    }
    if (ascii) return {stem, role};
    // Fold accents last: stemmers of accented languages recognise endings by them.
    plain_ = without_accents(stem);
    return {plain_, role};
  }

  void add_bigrams(std::string_view run, const Sink& sink) {
    fold_case(run);
    const std::string text = folded_;
    std::size_t first = 0;
    std::size_t second = 0;
    if (!text.empty()) next_code_point(text, second);
    if (second >= text.size()) return emit(text, {}, sink);
    while (second < text.size()) {
      std::size_t end = second;
      next_code_point(text, end);
      emit(std::string_view(text).substr(first, end - first), {}, sink);
      first = second;
      second = end;
    }
  }

  void add_unspaced(std::string_view run, const Sink& sink) {
    UErrorCode status = U_ZERO_ERROR;
    if (!breaker_) breaker_.reset(icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), status));
    if (U_FAILURE(status) || !breaker_) return add_stem(run, sink);
    const auto text = icu::UnicodeString::fromUTF8(icu::StringPiece(run.data(), static_cast<int32_t>(run.size())));
    breaker_->setText(text);
    for (int32_t begin = breaker_->first(), end = breaker_->next(); end != icu::BreakIterator::DONE; begin = end, end = breaker_->next()) {
      std::string word;
      text.tempSubStringBetween(begin, end).toUTF8String(word);
      fold_case(word);
      emit(folded_, {}, sink);
    }
  }

  /// Writes the word to folded_ in lower case, without compatibility forms. True when it is ASCII.
  bool fold_case(std::string_view word) {
    folded_.clear();
    bool ascii = true;
    for (const char c : word) {
      ascii = ascii && static_cast<unsigned char>(c) < 0x80;
      folded_.push_back(ascii_lower(c));
    }
    if (ascii) return true;
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCCasefoldInstance(status);
    if (U_FAILURE(status)) return false;
    const auto text = icu::UnicodeString::fromUTF8(icu::StringPiece(word.data(), static_cast<int32_t>(word.size())));
    const icu::UnicodeString normal = normalizer->normalize(text, status);
    if (U_FAILURE(status)) return false;
    folded_.clear();
    normal.toUTF8String(folded_);
    return false;
  }

  static std::string without_accents(std::string_view word) {
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2* decompose = icu::Normalizer2::getNFDInstance(status);
    const icu::Normalizer2* compose = icu::Normalizer2::getNFCInstance(status);
    if (U_FAILURE(status)) return std::string(word);
    const auto text = icu::UnicodeString::fromUTF8(icu::StringPiece(word.data(), static_cast<int32_t>(word.size())));
    icu::UnicodeString apart = decompose->normalize(text, status);
    icu::UnicodeString plain;
    for (int32_t i = 0; i < apart.length(); ++i) {
      // Only the combining diacritics: marks of Indic and other scripts are part of their letters.
      if (apart[i] < 0x0300 || apart[i] > 0x036F) plain.append(apart[i]);
    }
    std::string out;
    compose->normalize(plain, status).toUTF8String(out);
    return U_FAILURE(status) ? std::string(word) : out;
  }

  const bool english_;
  std::unique_ptr<sb_stemmer, FreeStemmer> stemmer_;
  std::unique_ptr<icu::BreakIterator> breaker_;  // Created on first use, because it is expensive.
  ScannedWord word_;
  std::size_t word_number_ = 0;
  std::uint32_t position_ = 0;
  std::string folded_;
  std::string joined_;
  std::string plain_;
  StemCache stems_;
};

Analyzer::Analyzer(std::string_view language) : impl_(std::make_unique<Impl>(effective_language(language))) {}
Analyzer::~Analyzer() = default;
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;

void Analyzer::analyze(std::string_view text, const std::function<void(const Term&)>& sink) { impl_->analyze(text, sink); }

std::vector<std::string> Analyzer::terms(std::string_view text) {
  std::vector<std::string> out;
  analyze(text, [&](const Term& term) { out.emplace_back(term.text); });
  return out;
}

std::vector<std::string> Analyzer::content_terms(std::string_view text) {
  std::vector<std::string> out;
  std::unordered_set<std::string> seen;
  analyze(text, [&](const Term& term) {
    if (term.whole || term.function_word) return;
    if (seen.emplace(term.text).second) out.emplace_back(term.text);
  });
  return out;
}

std::string_view Analyzer::effective_language(std::string_view language) {
  for (const auto& [code, name] : kStemmers) {
    if (code == language) return code;
  }
  return "en";
}

}  // namespace footnote::bm25
