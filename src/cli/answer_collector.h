#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace footnote::cli {

/// Collects the events of POST /api/kb/chat/stream into the response of POST /api/kb/chat, as far as it is displayed.
class AnswerCollector {
 public:
  /// Receives an answer's text as it arrives, but not a refusal's.
  using OnText = std::function<void(std::string_view)>;
  explicit AnswerCollector(OnText on_text) : on_text_(std::move(on_text)) {}

  /// kUnavailable: the event reports that the answer failed.
  Result<void> take(const Json& event);
  /// REQUIRES: every event was taken.
  Json answer() const;

 private:
  void take_source(const Json& event);
  void take_marks(const JsonArray& marks);
  void show_held();

  const OnText on_text_;
  std::string text_;
  std::string held_;  ///< Not shown yet: text without sources may be that of a refusal.
  JsonArray citations_;
  JsonArray nearest_;
  Json confidence_;
  Json metadata_;
  bool is_refused_ = false;
};

}  // namespace footnote::cli
