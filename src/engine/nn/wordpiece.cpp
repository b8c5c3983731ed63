#include "engine/nn/wordpiece.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace footnote::nn {

/// One pass over one text: folds characters into a word buffer and splits each complete word into pieces.
class WordPiece::Run {
 public:
  Run(const WordPiece& owner, std::string_view text, std::size_t tokens_max, Tokens& out)
      : owner_(owner), characters_(*owner.characters_), text_(text), tokens_max_(tokens_max), out_(out) {}

  /// Processes the whole text: added tokens, and the words between them.
  void run(Specials specials) {
    std::size_t at = 0;
    while (at < text_.size() && !full_) {
      const auto added = owner_.added_.next(text_, at, specials);
      take_words(at, added ? added->begin : text_.size());
      if (!added) break;
      emit(added->id, added->begin, added->end);
      at = added->end;
    }
  }

  /// The text has more tokens than there is room for.
  bool full() const { return full_; }

 private:
  static constexpr std::size_t kWordBytesMax = kWordCharsMax * 4;
  // Limit on the marks of one letter; further marks are not sorted.
  static constexpr std::size_t kMarksMax = 64;

  struct Mark {
    std::uint8_t order;
    bool is_kept;   // Part of the word; false: stripped.
    bool is_extra;  // Not the first mark of its character's decomposition.
  };

  void take_words(std::size_t at, std::size_t stop) {
    while (at < stop && !full_) {
      const std::size_t begin = at;
      const char32_t code_point = next(at);
      take(code_point, begin, at);
    }
    end_word();
  }

  char32_t next(std::size_t& at) const {
    const auto byte = static_cast<unsigned char>(text_[at]);
    if (byte < 0x80) {
      ++at;
      return byte;
    }
    return next_code_point(text_, at);
  }

  void take(char32_t code_point, std::size_t begin, std::size_t end) {
    const CharEntry entry = characters_.lookup(code_point);
    switch (entry.kind) {
      case CharKind::kWord:
        mark_count_ = 0;
        add(entry.folded, begin, end);
        break;
      case CharKind::kSpace:
        mark_count_ = 0;
        end_word();
        break;
      case CharKind::kPunctuation:
        mark_count_ = 0;
        end_word();
        add(entry.folded, begin, end);
        end_word();
        break;
      case CharKind::kRemoved: break;
      case CharKind::kStripped: take_stripped(code_point, begin, end); break;
      case CharKind::kIdeograph:
        mark_count_ = 0;
        end_word();
        take_expanded(code_point, begin, end);
        end_word();
        break;
      case CharKind::kMany: take_expanded(code_point, begin, end); break;
    }
  }

  void take_stripped(char32_t code_point, std::size_t begin, std::size_t end) {
    if (const std::uint8_t order = characters_.order_of(code_point); order != 0) {
      sort_mark({order, false, false}, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
      place_marks();
    } else {
      mark_count_ = 0;
    }
  }

  void take_expanded(char32_t code_point, std::size_t begin, std::size_t end) {
    CharTable::Expansion folded;
    const std::size_t count = characters_.expand(code_point, folded);
    const ByteRange place{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    for (std::size_t i = 0; i < count; ++i) {
      const CharKind kind = CharTable::kind_of_folded(folded[i]);
      const std::uint8_t order = characters_.order_of(folded[i]);
      if (order == 0) {
        mark_count_ = 0;
        base_place_ = place;
      }
      if (kind != CharKind::kWord) end_word();
      if (kind == CharKind::kSpace) continue;
      add(folded[i], begin, end);
      if (kind == CharKind::kPunctuation) {
        end_word();
      } else if (order != 0) {
        sift_down(sort_mark({order, true, i > 0}, place));
        place_marks();
      }
    }
  }

  // Appends a character to the word. Beyond the longest word only its extent matters.
  void add(char32_t code_point, std::size_t begin, std::size_t end) {
    if (word_chars_ == 0) word_begin_ = begin;
    word_end_ = std::max(word_end_, end);
    if (++word_chars_ > kWordCharsMax) return;
    const std::size_t length = encode_utf8(code_point, word_.data() + word_bytes_);
    for (std::size_t i = 0; i < length; ++i) {
      sources_[word_bytes_ + i] = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    }
    word_bytes_ += length;
  }

  // Inserts a mark of the current letter in canonical order (stable, by class). Returns how many of the word's marks come after it.
  std::size_t sort_mark(Mark mark, ByteRange place) {
    if (mark_count_ == 0) place_count_ = 0;
    if (mark_count_ == kMarksMax) return 0;
    if (!mark.is_extra) places_[place_count_++] = place;
    std::size_t at = mark_count_++;
    std::size_t passed = 0;
    for (; at > 0 && marks_[at - 1].order > mark.order; --at) {
      marks_[at] = marks_[at - 1];
      passed += marks_[at].is_kept ? 1 : 0;
    }
    marks_[at] = mark;
    return passed;
  }

  // Moves the mark just appended before `passed` others.
  void sift_down(std::size_t passed) {
    if (word_chars_ > kWordCharsMax) return;
    const std::size_t last = char_start(word_bytes_);
    std::size_t to = last;
    for (; passed > 0 && to > 0; --passed) to = char_start(to);
    std::rotate(word_.begin() + to, word_.begin() + last, word_.begin() + word_bytes_);
  }

  // Like the reference: the first mark in canonical order gets the position of the first mark in the text, and so on. A mark from a
  // decomposition gets the position of the mark before it.
  void place_marks() {
    if (word_chars_ == 0) return;
    std::array<ByteRange, kMarksMax> places;
    ByteRange place = base_place_;
    for (std::size_t i = 0, next = 0; i < mark_count_; ++i) {
      if (!marks_[i].is_extra) place = places_[next++];
      places[i] = place;
    }
    if (word_chars_ > kWordCharsMax) {  // Too long: only its extent is kept.
      for (std::size_t i = 0; i < mark_count_; ++i) {
        if (marks_[i].is_kept) word_end_ = places[i].end;
      }
      return;
    }
    std::size_t stop = word_bytes_;
    for (std::size_t i = mark_count_; i-- > 0 && stop > 0;) {
      if (!marks_[i].is_kept) continue;
      const std::size_t start = char_start(stop);
      std::fill(sources_.begin() + start, sources_.begin() + stop, places[i]);
      stop = start;
    }
    word_begin_ = sources_[0].begin;
    word_end_ = sources_[word_bytes_ - 1].end;
  }

  std::size_t char_start(std::size_t end) const {
    do {
      --end;
    } while ((static_cast<unsigned char>(word_[end]) & 0xC0) == 0x80);
    return end;
  }

  void end_word() {
    if (word_chars_ == 0) return;
    if (word_chars_ > kWordCharsMax || !cut_word()) emit(owner_.unknown_id(), word_begin_, word_end_);
    word_chars_ = 0;
    word_bytes_ = 0;
  }

  // False when some part of the word matches no piece: then the whole word is unknown, and nothing is emitted.
  bool cut_word() {
    const std::size_t kept = out_.ids.size();
    const bool was_full = full_;
    std::string_view rest(word_.data(), word_bytes_);
    Vocabulary::Place place = Vocabulary::Place::kWordStart;
    while (!rest.empty()) {
      const Vocabulary::Match match = owner_.vocabulary_->longest_prefix(rest, place);
      if (match.id == Vocabulary::kNone) {
        out_.ids.resize(kept);
        out_.ranges.resize(kept);
        full_ = was_full;
        return false;
      }
      const std::size_t begin = word_bytes_ - rest.size();
      emit(match.id, sources_[begin].begin, sources_[begin + match.bytes - 1].end);
      rest.remove_prefix(match.bytes);
      place = Vocabulary::Place::kInsideWord;
    }
    return true;
  }

  void emit(std::uint32_t id, std::size_t begin, std::size_t end) {
    if (out_.ids.size() >= tokens_max_) {
      full_ = true;
      return;
    }
    out_.ids.push_back(id);
    out_.ranges.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  }

  const WordPiece& owner_;
  const CharTable& characters_;
  const std::string_view text_;
  const std::size_t tokens_max_;
  Tokens& out_;
  bool full_ = false;

  std::array<char, kWordBytesMax> word_;
  std::array<ByteRange, kWordBytesMax> sources_;  // The original character of each byte of word_.
  std::size_t word_bytes_ = 0;
  std::size_t word_chars_ = 0;
  std::size_t word_begin_ = 0;
  std::size_t word_end_ = 0;

  std::array<Mark, kMarksMax> marks_;        // Marks since the last letter, in canonical order.
  std::array<ByteRange, kMarksMax> places_;  // Positions of those that are not extra, in text order.
  std::size_t mark_count_ = 0;
  std::size_t place_count_ = 0;
  ByteRange base_place_;  // Position of the last letter that was decomposed.
};

WordPiece::WordPiece(Setup setup)
    : Tokenizer(setup.marks, setup.unknown_id, setup.tokens_max),
      vocabulary_(std::make_unique<const Vocabulary>(std::move(setup.vocabulary))),
      characters_(std::make_unique<const CharTable>(
          FoldOptions{setup.options.lower_case, setup.options.strip_accents, setup.options.space_ideographs})),
      vocabulary_size_(vocabulary_->size()) {
  for (const AddedToken& token : setup.added) vocabulary_size_ = std::max<std::size_t>(vocabulary_size_, token.id + std::size_t{1});
  added_ = AddedTokens(std::move(setup.added));
}

bool WordPiece::append(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const {
  Run run(*this, text, tokens_max, out);
  run.run(specials);
  return run.full();
}

}  // namespace footnote::nn
