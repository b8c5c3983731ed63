#include "engine/nn/unigram.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "engine/nn/normaliser.h"

namespace footnote::nn {
namespace {

constexpr std::string_view kWordMark = "\xE2\x96\x81";  // U+2581
// How far the score of an unknown character is below the lowest score.
constexpr double kUnknownPenalty = 10;
// Text is normalised in steps of this size, so that reading the start of a long text costs no more than a short one.
constexpr std::size_t kStepBytes = 2 << 10;

/// Unicode's White_Space, for one well-formed character.
bool is_white_space(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (first < 0x80) return first == ' ' || (first >= '\t' && first <= '\r');
  if (first == 0xC2) return character == "\xC2\x85" || character == "\xC2\xA0";
  if (first == 0xE1) return character == "\xE1\x9A\x80";
  if (first == 0xE3) return character == "\xE3\x80\x80";
  if (first != 0xE2) return false;
  return (character >= "\xE2\x80\x80" && character <= "\xE2\x80\x8A") || character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9" ||
         character == "\xE2\x80\xAF" || character == "\xE2\x81\x9F";
}

}  // namespace

/// One pass over one text: added tokens, normalised steps, words, pieces.
class Unigram::Run {
 public:
  Run(const Unigram& owner, std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out)
      : owner_(owner), spaces_(owner.spaces_), text_(text), tokens_max_(tokens_max), specials_(specials), out_(out) {}

  /// True when the text has more tokens than there is room for.
  bool run() {
    std::size_t at = 0;
    while (at < text_.size() && !full_) {
      const auto added = owner_.added_.next(text_, at, specials_);
      take_segment(at, added ? added->begin : text_.size());
      if (!added) break;
      emit(added->id, {static_cast<std::uint32_t>(added->begin), static_cast<std::uint32_t>(added->end)});
      at = added->end;
    }
    return full_;
  }

 private:
  struct Node {
    double score;
    std::uint32_t begin;  // The start of the best piece that ends here; kNowhere when there is none.
    std::uint32_t id;
  };
  struct Cut {
    std::uint32_t begin;
    std::uint32_t id;
  };
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

  void take_segment(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    Normaliser normaliser(owner_.map_, text_, begin, end);
    normalised_.clear();
    begin_part();
    at_head_ = true;
    if (!owner_.normalised_added_.empty()) {
      normaliser.fill(kNoLimit, normalised_);
      squeeze();
      take_parts();
    } else {
      while (!normaliser.done() && !full_) {
        normaliser.fill(kStepBytes, normalised_);
        // The position of the last character may still change.
        const std::size_t kept = normaliser.done() ? normalised_.size() : last_character(normalised_.bytes());
        take_characters(0, kept);
        normalised_.remove_prefix(kept);
      }
    }
    end_segment();
  }

  // Strips white space and collapses runs of it, before added tokens are matched. (Otherwise held_ does this incrementally.)
  void squeeze() {
    MappedText out;
    std::size_t run = 0;
    std::string_view bytes = normalised_.bytes();
    std::size_t at = 0;
    const auto size_at = [&](std::size_t place) { return utf8_sequence_bytes(bytes[place]); };
    if (spaces_.strip_left) {
      while (at < bytes.size() && is_white_space(bytes.substr(at, size_at(at)))) at += size_at(at);
    }
    if (spaces_.strip_right) {
      for (std::size_t last; at < bytes.size() && is_white_space(bytes.substr(last = last_character(bytes)));)
        bytes = bytes.substr(0, last);
    }
    for (; at < bytes.size(); at += size_at(at)) {
      run = bytes[at] == ' ' ? run + 1 : 0;
      const bool run_continues = run > 0 && at + 1 < bytes.size() && bytes[at + 1] == ' ';
      if (spaces_.runs != Runs::kKept && run_continues) continue;
      const bool is_mark = run > 1 && spaces_.runs == Runs::kOneMark;
      out.add(is_mark ? kWordMark : bytes.substr(at, size_at(at)), normalised_.range(at));
    }
    normalised_ = std::move(out);
  }

  // Added tokens in the normalised text split it again.
  void take_parts() {
    const std::string_view bytes = normalised_.bytes();
    std::size_t at = 0;
    while (at < bytes.size() && !full_) {
      const auto added = owner_.normalised_added_.next(bytes, at, specials_);
      take_characters(at, added ? added->begin : bytes.size());
      if (!added) return;
      flush_held();
      end_word();
      emit(added->id, {normalised_.range(added->begin).begin, normalised_.range(added->end - 1).end});
      begin_part();
      at = added->end;
    }
  }

  void end_segment() {
    if (!spaces_.strip_right) flush_held();
    held_.clear();
    end_word();
  }

  static std::size_t last_character(std::string_view bytes) {
    std::size_t at = bytes.size();
    while (at > 0 && !is_utf8_boundary(bytes, --at)) {
    }
    return at;
  }

  void begin_part() { at_part_head_ = true; }

  void take_characters(std::size_t at, std::size_t end) {
    const std::string_view bytes = normalised_.bytes();
    while (at < end && !full_) {
      const std::size_t plain = plain_end(bytes, at, end);
      if (plain > at) {
        word_.add(normalised_, at, plain);
        at = plain;
        continue;
      }
      const std::string_view character = bytes.substr(at, utf8_sequence_bytes(bytes[at]));
      take_character(character, normalised_.range(at));
      at += character.size();
    }
  }

  // The end of characters that simply continue the word: after its first, neither space nor U+2581.
  std::size_t plain_end(std::string_view bytes, std::size_t at, std::size_t end) const {
    if (at_part_head_ || !held_.empty()) return at;
    while (at < end) {
      const auto byte = static_cast<unsigned char>(bytes[at]);
      if (byte <= ' ' || byte == 0xC2 || (byte >= 0xE1 && byte <= 0xE3)) break;
      at += utf8_sequence_bytes(bytes[at]);
    }
    return std::min(at, end);
  }

  void take_character(std::string_view character, ByteRange range) {
    if (!is_white_space(character)) {
      flush_held();
      at_head_ = false;
      put(character, range);
    } else if (spaces_.split_spaces) {
      end_word();
      begin_part();
    } else if (!spaces_.strip_left || !at_head_) {
      held_.add(character, range);
    }
  }

  // White space is held back until it is known what follows.
  void flush_held() {
    const std::string_view bytes = held_.bytes();
    for (std::size_t at = 0; at < bytes.size();) {
      std::size_t last = at;
      if (bytes[at] == ' ' && spaces_.runs != Runs::kKept) {
        while (last + 1 < bytes.size() && bytes[last + 1] == ' ') ++last;
      }
      const std::string_view character = bytes.substr(last, utf8_sequence_bytes(bytes[last]));
      put(character == " " ? kWordMark : character, held_.range(last));
      at = last + character.size();
    }
    held_.clear();
  }

  void put(std::string_view character, ByteRange range) {
    const bool is_mark = character == kWordMark;
    if (at_part_head_) {
      at_part_head_ = false;
      const bool wanted = spaces_.prefix == Prefix::kAlways || (spaces_.prefix == Prefix::kFirst && range.begin == 0);
      if (wanted && !is_mark) word_.add(kWordMark, range);
    } else if (is_mark && spaces_.split_words) {
      end_word();
    }
    word_.add(character, range);
  }

  void end_word() {
    if (word_.empty()) return;
    find_best_path();
    cut_word();
    word_.clear();
  }

  // Viterbi: the best path to each position, from left to right; of equal ones the first found, which starts further left.
  void find_best_path() {
    const std::string_view word = word_.bytes();
    const PieceTrie& trie = owner_.trie_;
    const double* const scores = owner_.scores_.data();
    const bool as_text = specials_ == Specials::kAsText;
    if (nodes_.size() <= word.size()) nodes_.resize(word.size() * 2 + 1);
    Node* const nodes = nodes_.data();
    nodes[0].score = 0;
    for (std::size_t i = 1; i <= word.size(); ++i) nodes[i].begin = kNowhere;
    for (std::size_t begin = 0; begin < word.size();) {
      const double here = nodes[begin].score;
      const std::size_t single = begin + utf8_sequence_bytes(word[begin]);
      bool has_single = false;
      std::uint32_t trie_node = PieceTrie::kRoot;
      for (std::size_t end = begin; end < word.size();) {
        trie_node = trie.step(trie_node, static_cast<unsigned char>(word[end]));
        if (trie_node == PieceTrie::kNone) break;
        ++end;
        const std::uint32_t id = trie.id_at(trie_node);
        if (id == PieceTrie::kNone || (as_text && owner_.special_[id])) continue;
        improve(nodes[end], here + scores[id], begin, id);
        has_single |= end == single;
      }
      if (!has_single) improve(nodes[single], here + owner_.unknown_score_, begin, owner_.unknown_id());
      begin = single;
    }
  }

  static void improve(Node& node, double score, std::size_t begin, std::uint32_t id) {
    if (node.begin != kNowhere && score <= node.score) return;
    node = {score, static_cast<std::uint32_t>(begin), id};
  }

  void cut_word() {
    cuts_.clear();
    for (auto end = static_cast<std::uint32_t>(word_.size()); end > 0; end = cuts_.back().begin) {
      const Node& node = nodes_[end];
      // Consecutive unknown characters are one token.
      if (node.id == owner_.unknown_id() && !cuts_.empty() && cuts_.back().id == node.id) {
        cuts_.back().begin = node.begin;
      } else {
        cuts_.push_back({node.begin, node.id});
      }
    }
    for (std::size_t i = cuts_.size(); i-- > 0 && !full_;) {
      const std::size_t end = i == 0 ? word_.size() : cuts_[i - 1].begin;
      emit_piece(cuts_[i], end);
    }
  }

  void emit_piece(const Cut& cut, std::size_t end) {
    const ByteRange range{word_.range(cut.begin).begin, word_.range(end - 1).end};
    if (cut.id != owner_.unknown_id()) return emit(cut.id, range);
    const std::string_view piece = word_.bytes().substr(cut.begin, end - cut.begin);
    // Consecutive unknown characters may spell a piece.
    const std::uint32_t id = owner_.trie_.find(piece);
    if (id != PieceTrie::kNone && !(specials_ == Specials::kAsText && owner_.special_[id])) return emit(id, range);
    const auto byte_id = [&](char c) { return owner_.bytes_[static_cast<unsigned char>(c)]; };
    if (owner_.bytes_.empty() || std::ranges::any_of(piece, [&](char c) { return byte_id(c) == PieceTrie::kNone; })) {
      return emit(owner_.unknown_id(), range);
    }
    for (const char c : piece) emit(byte_id(c), range);
  }

  void emit(std::uint32_t id, ByteRange range) {
    if (out_.ids.size() >= tokens_max_) {
      full_ = true;
      return;
    }
    out_.ids.push_back(id);
    out_.ranges.push_back(range);
  }

  const Unigram& owner_;
  const Spaces& spaces_;
  const std::string_view text_;
  const std::size_t tokens_max_;
  const Specials specials_;
  Tokens& out_;
  bool full_ = false;

  MappedText normalised_;
  MappedText held_;  // White space whose meaning depends on what follows.
  MappedText word_;
  std::vector<Node> nodes_;   // By position in word_.
  std::vector<Cut> cuts_;     // From the word's end to its start.
  bool at_head_ = true;       // Only white space of the segment was seen.
  bool at_part_head_ = true;  // Nothing was emitted since the part began.
};

Result<std::unique_ptr<const Unigram>> Unigram::create(Setup setup) {
  if (setup.pieces.empty() || setup.pieces.size() > kPiecesMax) {
    return fail(ErrorCode::kCorrupted, "a vocabulary has 1 to {} pieces, not {}", kPiecesMax, setup.pieces.size());
  }
  std::vector<std::string_view> texts;
  texts.reserve(setup.pieces.size());
  for (const Piece& piece : setup.pieces) {
    if (!is_valid_utf8(piece.text)) return fail(ErrorCode::kCorrupted, "piece {} is not UTF-8", texts.size());
    if (!std::isfinite(piece.score)) return fail(ErrorCode::kCorrupted, "piece {} has no finite score", texts.size());
    texts.push_back(piece.text);
  }
  if (setup.unknown_id >= setup.pieces.size())
    return fail(ErrorCode::kCorrupted, "piece {}, the unknown token, does not exist", setup.unknown_id);
  FOOTNOTE_TRY(PieceTrie trie, PieceTrie::build(texts));
  return std::unique_ptr<const Unigram>(new Unigram(std::move(setup), std::move(trie)));
}

Unigram::Unigram(Setup setup, PieceTrie trie)
    : Tokenizer(setup.marks, setup.unknown_id, setup.tokens_max),
      trie_(std::move(trie)),
      special_(setup.pieces.size()),
      map_(std::move(setup.map)),
      spaces_(setup.spaces),
      vocabulary_size_(setup.pieces.size()) {
  double least = setup.pieces.front().score;
  for (const Piece& piece : setup.pieces) {
    scores_.push_back(piece.score);
    least = std::min(least, piece.score);
  }
  unknown_score_ = least - kUnknownPenalty;
  if (setup.byte_fallback) {
    for (unsigned byte = 0; byte < 256; ++byte) bytes_.push_back(trie_.find(fmt::format("<0x{:02X}>", byte)));
  }
  std::vector<AddedToken> plain;
  std::vector<AddedToken> normalised;
  for (AddedToken& token : setup.added) {
    vocabulary_size_ = std::max<std::size_t>(vocabulary_size_, token.id + std::size_t{1});
    if (token.special && token.id < special_.size()) special_[token.id] = true;
    (token.normalised ? normalised : plain).push_back(std::move(token));
  }
  for (AddedToken& token : normalised) {
    MappedText text;
    Normaliser(map_, token.content, 0, token.content.size()).fill(kNoLimit, text);
    token.content = text.bytes();
  }
  added_ = AddedTokens(std::move(plain));
  normalised_added_ = AddedTokens(std::move(normalised));
}

bool Unigram::append(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const {
  return Run(*this, text, tokens_max, specials, out).run();
}

}  // namespace footnote::nn
