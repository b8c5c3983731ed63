#include "answer/echo_guard.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace footnote::answer {

namespace {

bool is_of_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

EchoGuard::EchoGuard(std::span<const std::string_view> rules) {
  for (const std::string_view rule : rules) {
    std::string word;
    for (const char c : rule) {
      if (is_of_word(c)) {
        word += ascii_lower(c);
      } else if (!word.empty()) {
        rules_.push_back(std::exchange(word, {}));
      }
    }
    if (!word.empty()) rules_.push_back(std::move(word));
    rules_.emplace_back();
  }
}

std::string EchoGuard::take(std::string_view piece) {
  if (recited_) return {};
  held_ += piece;
  for (const char c : piece) {
    if (is_of_word(c)) {
      if (word_.empty()) word_begin_ = seen_;
      word_ += ascii_lower(c);
    } else {
      end_word();
    }
    ++seen_;
    if (recited_) break;
  }
  return show_until(held_from());
}

std::string EchoGuard::finish() {
  if (recited_) return {};
  end_word();
  return show_until(recited_ ? held_from() : seen_);
}

std::size_t EchoGuard::held_from() const {
  std::size_t out = seen_;
  for (const Run& run : runs_) {
    if (run.words >= kHeldFrom) out = std::min(out, run.begin);
  }
  return out;
}

void EchoGuard::end_word() {
  if (word_.empty()) return;
  std::vector<Run> next;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i] != word_) continue;
    const auto longer = std::ranges::find(runs_, i, &Run::next);
    next.push_back(longer == runs_.end() ? Run{i + 1, 1, word_begin_} : Run{i + 1, longer->words + 1, longer->begin});
    recited_ = recited_ || next.back().words >= kWordsMax;
  }
  runs_ = std::move(next);
  word_.clear();
}

std::string EchoGuard::show_until(std::size_t end) {
  if (end <= shown_) return {};
  std::string out = held_.substr(0, end - shown_);
  held_.erase(0, end - shown_);
  shown_ = end;
  return out;
}

}  // namespace footnote::answer
