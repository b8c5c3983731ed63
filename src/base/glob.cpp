#include "base/glob.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>

namespace footnote {
namespace {

constexpr std::size_t kBytes = 256;

enum class PartKind { kByte, kOne, kSet, kRun, kAny, kFolders };

struct Part {
  PartKind kind = PartKind::kByte;
  unsigned char byte = 0;
  std::bitset<kBytes> set = {};  ///< kSet: the first bytes of the characters that match.
};

/// Adds a part; of adjacent wildcards only the widest is kept.
void add(std::vector<Part>& parts, Part part) {
  const auto is_run = [](PartKind kind) { return kind == PartKind::kRun || kind == PartKind::kAny; };
  if (!parts.empty() && is_run(parts.back().kind) && is_run(part.kind)) {
    parts.back().kind = std::max(parts.back().kind, part.kind);
    return;
  }
  if (!parts.empty() && parts.back().kind == PartKind::kFolders && part.kind == PartKind::kFolders) return;
  parts.push_back(part);
}

std::vector<Part> parse(std::string_view pattern) {
  std::vector<Part> parts;
  for (std::size_t at = 0; at < pattern.size();) {
    const bool starts_segment = at == 0 || pattern[at - 1] == '/';
    const std::string_view rest = pattern.substr(at);
    if (starts_segment && rest.starts_with("**/")) {
      add(parts, {PartKind::kFolders});
      at += 3;
    } else if (rest.starts_with("**")) {
      add(parts, {PartKind::kAny});
      at += 2;
    } else {
      const char c = pattern[at++];
      add(parts, {c == '*' ? PartKind::kRun : c == '?' ? PartKind::kOne : PartKind::kByte, static_cast<unsigned char>(c)});
    }
  }
  if (pattern.back() == '/') add(parts, {PartKind::kAny});
  return parts;
}

bool continues_character(std::size_t byte) { return (byte & 0xC0) == 0x80; }

constexpr std::pair<std::string_view, int (*)(int)> kClasses[] = {
    {"alnum", std::isalnum}, {"alpha", std::isalpha}, {"blank", std::isblank}, {"cntrl", std::iscntrl},
    {"digit", std::isdigit}, {"graph", std::isgraph}, {"lower", std::islower}, {"print", std::isprint},
    {"punct", std::ispunct}, {"space", std::isspace}, {"upper", std::isupper}, {"xdigit", std::isxdigit}};

/// Adds the members of "[:digit:]" at the start of `text`. Returns its length; 0: there is none.
std::size_t add_class(std::string_view text, std::bitset<kBytes>& set) {
  if (!text.starts_with("[:")) return 0;
  for (const auto& [name, holds] : kClasses) {
    if (!text.substr(2).starts_with(name) || !text.substr(2 + name.size()).starts_with(":]")) continue;
    for (int byte = 0; byte < 0x80; ++byte) {
      if (holds(byte) != 0) set.set(static_cast<std::size_t>(byte));
    }
    return name.size() + 4;
  }
  return 0;
}

/// Reads "[a-z]" of an ignore file. `at` is just past the '['; on success it is just past the ']'.
std::optional<Part> read_set(std::string_view pattern, std::size_t& at) {
  Part part{PartKind::kSet};
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) {
      ++at;
      if (negated) part.set.flip();
      part.set.reset('/');
      for (std::size_t byte = 0x80; negated && byte < 0xC0; ++byte) part.set.reset(byte);
      return part;
    }
    if (const std::size_t length = add_class(pattern.substr(at), part.set); length > 0) {
      at += length;
      continue;
    }
    const auto next = [&] {
      if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
      return static_cast<unsigned char>(pattern[at++]);
    };
    const unsigned char low = next();
    unsigned char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      ++at;
      high = next();
    }
    for (std::size_t byte = low; byte <= high; ++byte) part.set.set(byte);
  }
  return std::nullopt;
}

Result<std::vector<Part>> parse_ignore_line(std::string_view pattern) {
  std::vector<Part> parts;
  for (std::size_t at = 0; at < pattern.size();) {
    const bool starts_segment = at == 0 || pattern[at - 1] == '/';
    const std::string_view rest = pattern.substr(at);
    if (starts_segment && rest.starts_with("**/")) {
      add(parts, {PartKind::kFolders});
      at += 3;
    } else if (starts_segment && rest == "**") {
      add(parts, {PartKind::kAny});
      at += 2;
    } else if (pattern[at] == '[') {
      auto set = read_set(pattern, ++at);
      if (!set) return fail(ErrorCode::kInvalidArgument, "a path pattern with an open [");
      add(parts, *set);
    } else if (pattern[at] == '\\') {
      if (++at == pattern.size()) return fail(ErrorCode::kInvalidArgument, "a path pattern that ends in a backslash");
      add(parts, {PartKind::kByte, static_cast<unsigned char>(pattern[at++])});
    } else {
      const char c = pattern[at++];
      add(parts, {c == '*' ? PartKind::kRun : c == '?' ? PartKind::kOne : PartKind::kByte, static_cast<unsigned char>(c)});
    }
  }
  return parts;
}

}  // namespace

void Glob::reserve_states(std::size_t count) {
  words_ = (count + 63) / 64;
  steps_.assign(kBytes * words_, 0);
  stays_.assign(kBytes * words_, 0);
  skips_.assign(words_, 0);
}

Result<Glob> Glob::compile(std::string_view pattern, GlobSyntax syntax) {
  if (pattern.empty()) return fail(ErrorCode::kInvalidArgument, "an empty path pattern");
  if (pattern.size() > kGlobBytesMax) return fail(ErrorCode::kTooLarge, "a path pattern is over the limit of {} bytes", kGlobBytesMax);
  std::vector<Part> parts;
  if (syntax == GlobSyntax::kPaths) {
    parts = parse(pattern);
  } else {
    FOOTNOTE_TRY(parts, parse_ignore_line(pattern));
  }
  Glob out;
  out.reserve_states(parts.size() + 1);
  std::size_t state = 0;
  for (const Part& part : parts) {
    switch (part.kind) {
      case PartKind::kByte: out.set(out.steps_, part.byte, state++); break;
      case PartKind::kOne:
        for (std::size_t byte = 0; byte < kBytes; ++byte) {
          if (byte != '/' && !continues_character(byte)) out.set(out.steps_, byte, state);
        }
        ++state;
        // The continuation bytes of the character. Both texts are UTF-8, so no other part starts with one.
        for (std::size_t byte = 0x80; byte < 0xC0; ++byte) out.set(out.stays_, byte, state);
        break;
      case PartKind::kSet:
        for (std::size_t byte = 0; byte < kBytes; ++byte) {
          if (part.set.test(byte)) out.set(out.steps_, byte, state);
        }
        ++state;
        for (std::size_t byte = 0x80; byte < 0xC0; ++byte) out.set(out.stays_, byte, state);
        break;
      case PartKind::kRun:
      case PartKind::kAny:
        for (std::size_t byte = 0; byte < kBytes; ++byte) {
          if (byte != '/' || part.kind == PartKind::kAny) out.set(out.stays_, byte, state);
        }
        break;
      case PartKind::kFolders:
        for (std::size_t byte = 0; byte < kBytes; ++byte) out.set(out.stays_, byte, state);
        out.set(out.skips_, 0, state);
        out.set(out.steps_, '/', state++);
        break;
    }
  }
  out.last_ = state;
  const auto is_byte = [](const Part& part) { return part.kind == PartKind::kByte; };
  const auto head = std::ranges::find_if_not(parts, is_byte);
  for (auto part = parts.begin(); part != head; ++part) out.prefix_ += static_cast<char>(part->byte);
  if (head != parts.end()) {
    for (auto part = parts.rbegin(); is_byte(*part); ++part) out.suffix_ += static_cast<char>(part->byte);
    std::ranges::reverse(out.suffix_);
  }
  out.takes_any_rest_ = parts.back().kind == PartKind::kAny;
  return out;
}

/// Adds the states that are reachable without input.
void Glob::close(Word* states) const {
  Word carry = 0;
  for (std::size_t w = 0; w < words_; ++w) {
    const Word skipped = states[w] & skips_[w];
    states[w] |= skipped << 1 | carry;
    carry = skipped >> 63;
  }
}

bool Glob::matches(std::string_view path) const {
  if (!path.starts_with(prefix_) || !path.ends_with(suffix_)) return false;
  return words_ == 1 ? matches_short(path) : matches_long(path);
}

bool Glob::matches_short(std::string_view path) const {
  const Word final_state = Word{1} << last_;
  Word states = Word{1} << prefix_.size();
  close(&states);
  for (const char c : path.substr(prefix_.size())) {
    if (takes_any_rest_ && (states & final_state) != 0) return true;
    const auto byte = static_cast<unsigned char>(c);
    Word next = (states & steps_[byte]) << 1;
    next |= (next & skips_[0]) << 1;
    states = next | (states & stays_[byte]);
    if (states == 0) return false;
  }
  return (states & final_state) != 0;
}

bool Glob::matches_long(std::string_view path) const {
  constexpr std::size_t kWordsMax = (kGlobBytesMax + 2 + 63) / 64;
  std::array<Word, kWordsMax> states{};
  std::array<Word, kWordsMax> next{};
  states[prefix_.size() / 64] = Word{1} << prefix_.size() % 64;
  close(states.data());
  const auto is_in_last = [&] { return (states[last_ / 64] >> last_ % 64 & 1) != 0; };
  for (const char c : path.substr(prefix_.size())) {
    if (takes_any_rest_ && is_in_last()) return true;
    const Word* const steps = &steps_[static_cast<unsigned char>(c) * words_];
    const Word* const stays = &stays_[static_cast<unsigned char>(c) * words_];
    Word carry = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      const Word stepped = states[w] & steps[w];
      next[w] = stepped << 1 | carry;
      carry = stepped >> 63;
    }
    close(next.data());
    for (std::size_t w = 0; w < words_; ++w) states[w] = next[w] | (states[w] & stays[w]);
  }
  return is_in_last();
}

Result<PathGlobs> PathGlobs::compile(const std::vector<std::string>& patterns) {
  PathGlobs out;
  for (const std::string_view pattern : patterns) {
    const bool excludes = pattern.starts_with('!');
    FOOTNOTE_TRY(auto glob, Glob::compile(excludes ? pattern.substr(1) : pattern));
    (excludes ? out.excluded_ : out.wanted_).push_back(std::move(glob));
  }
  return out;
}

bool PathGlobs::matches(std::string_view path) const {
  const auto fits = [&](const Glob& glob) { return glob.matches(path); };
  return (wanted_.empty() || std::ranges::any_of(wanted_, fits)) && std::ranges::none_of(excluded_, fits);
}

}  // namespace footnote
