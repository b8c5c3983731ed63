#include "recorder.h"

#include <gtest/gtest.h>

#include "scenario_file.h"

namespace footnote::behaviour {

Result<void> Recorder::on_start(const TurnId& turn) {
  EXPECT_TRUE(turn) << "a turn has an id from the start";
  EXPECT_TRUE(events_.empty()) << "a turn starts once";
  writes_at_start_ = store_.writes();
  events_.push_back("start");
  return {};
}

Result<void> Recorder::on_sources(std::span<const SourceBlock> sources) {
  EXPECT_FALSE(has_sources_) << "sources come once";
  EXPECT_TRUE(text_.empty()) << "sources come before the text";
  has_sources_ = true;
  std::string line = "sources";
  for (const SourceBlock& block : sources) line += fmt::format(" [{}] {}", block.number, block.hit.document_key);
  events_.push_back(line);
  return {};
}

Result<void> Recorder::on_text(std::string_view text) {
  EXPECT_TRUE(has_sources_) << "no text before its sources";
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(store_.writes(), writes_at_start_) << "nothing is written while an answer streams";
  if (plan_.leaves_after && texts_ >= *plan_.leaves_after) {
    events_.push_back("gone");
    return fail(ErrorCode::kCancelled, "the client disconnected");
  }
  ++texts_;
  text_ += text;
  events_.push_back("text " + in_quotes(text));
  if (plan_.stops_after && texts_ == *plan_.stops_after) stop_.request_stop();
  return {};
}

Result<void> Recorder::on_withdraw(const answer::Withdrawal& withdrawal) {
  EXPECT_FALSE(text_.empty()) << "only a text can be withdrawn";
  EXPECT_FALSE(withdrawal.notice.empty());
  text_.clear();
  has_sources_ = false;
  events_.push_back("withdrawn " + std::string(answer::to_string(withdrawal.reason)));
  return {};
}

}  // namespace footnote::behaviour
