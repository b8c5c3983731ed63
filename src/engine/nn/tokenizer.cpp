#include "engine/nn/tokenizer.h"

#include <algorithm>

#include "base/assert.h"

namespace footnote::nn {
namespace {

constexpr std::size_t kTextBytesMax = 0xFFFFFFFF;

struct PairLengths {
  std::size_t first = 0;
  std::size_t second = 0;
};

// The reference's rule: the shorter text stays whole as long as the longer is not cut below it; then both get half. Of an odd number the
// longer text (if equal, the second) gets one more.
PairLengths cut_longest_first(PairLengths have, std::size_t room) {
  if (have.first <= room && have.second <= room - have.first) return have;
  const bool first_is_longer = have.first > have.second;
  std::size_t shorter = std::min(have.first, have.second);
  std::size_t longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  return first_is_longer ? PairLengths{longer, shorter} : PairLengths{shorter, longer};
}

PairLengths cut_second(PairLengths have, std::size_t room) {
  const std::size_t first = std::min(have.first, room);
  return {first, std::min(have.second, room - first)};
}

}  // namespace

void Tokenizer::append_readable(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const {
  const std::string_view readable = text.substr(0, kTextBytesMax);
  out.truncated = append(readable, tokens_max, specials, out) || readable.size() < text.size();
}

void Tokenizer::tokenize_into(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const {
  out.ids.clear();
  out.ranges.clear();
  append_readable(text, tokens_max, specials, out);
}

Tokens Tokenizer::tokenize(std::string_view text, std::size_t tokens_max, Specials specials) const {
  Tokens out;
  append_readable(text, tokens_max, specials, out);
  return out;
}

std::vector<std::uint32_t> Tokenizer::frame_ids(std::span<const std::uint32_t> ids) const {
  std::vector<std::uint32_t> out;
  out.reserve(ids.size() + frame_tokens());
  out.push_back(marks_.begin);
  out.insert(out.end(), ids.begin(), ids.end());
  out.push_back(marks_.end);
  return out;
}

PairTokens Tokenizer::frame_pair(std::string_view first, std::string_view second, std::size_t tokens_max, Specials specials,
                                 PairTruncation truncation) const {
  FOOTNOTE_ASSERT(tokens_max >= pair_frame_tokens());
  const std::size_t room = tokens_max - pair_frame_tokens();
  Tokens left = tokenize(first, room, specials);
  Tokens right = tokenize(second, room, specials);
  if (left.truncated && right.truncated && room % 2 != 0 && truncation == PairTruncation::kLongestFirst) {
    // The longer text gets the odd token, so count all tokens.
    tokenize_into(first, kNoLimit, specials, left);
    tokenize_into(second, kNoLimit, specials, right);
  }
  const PairLengths have{left.ids.size(), right.ids.size()};
  const PairLengths keep = truncation == PairTruncation::kLongestFirst ? cut_longest_first(have, room) : cut_second(have, room);

  PairTokens out;
  const auto add_text = [&](const Tokens& tokens, std::size_t count, std::uint8_t type) {
    out.ids.insert(out.ids.end(), tokens.ids.begin(), tokens.ids.begin() + static_cast<std::ptrdiff_t>(count));
    out.ranges.insert(out.ranges.end(), tokens.ranges.begin(), tokens.ranges.begin() + static_cast<std::ptrdiff_t>(count));
    out.types.resize(out.ids.size(), type);
  };
  const auto add_mark = [&](std::uint32_t id, std::uint32_t place, std::uint8_t type) {
    out.ids.push_back(id);
    out.ranges.push_back({place, place});
    out.types.push_back(type);
  };
  add_mark(marks_.begin, 0, 0);
  add_text(left, keep.first, 0);
  out.first_end = out.ids.size();
  const std::uint32_t first_stop = out.ranges.back().end;
  for (std::size_t i = 0; i < marks_.middle_count; ++i) add_mark(marks_.end, first_stop, 0);
  add_text(right, keep.second, marks_.second_type);
  add_mark(marks_.end, keep.second == 0 ? 0 : out.ranges.back().end, marks_.second_type);
  out.truncated = left.truncated || right.truncated || keep.first < have.first || keep.second < have.second;
  return out;
}

}  // namespace footnote::nn
