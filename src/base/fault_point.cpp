#include "base/fault_point.h"

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>

namespace footnote {

namespace {

struct Chosen {
  std::optional<FaultPoint> point;
  long number = 0;
};

/// Reads "NAME:NUMBER". An unknown name or a missing number chooses no point.
Chosen parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view digits = text.substr(colon + 1);
  Chosen out;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), out.number).ec != std::errc()) return {};
  for (int i = 0; i < kFaultPoints; ++i) {
    const auto point = static_cast<FaultPoint>(i);
    if (to_string(point) == text.substr(0, colon)) out.point = point;
  }
  return out;
}

Chosen chosen_by_environment() {
  const char* const text = std::getenv("FOOTNOTE_FAULT_POINT");
  return text == nullptr ? Chosen{} : parse(text);
}

}  // namespace

std::string_view to_string(FaultPoint point) {
  switch (point) {
    case FaultPoint::kCommitBefore: return "commit-before";
    case FaultPoint::kCommitAfter: return "commit-after";
    case FaultPoint::kCheckpointPage: return "checkpoint-page";
    case FaultPoint::kCheckpointAfter: return "checkpoint-after";
    case FaultPoint::kMigrationStep: return "migration-step";
    case FaultPoint::kMigrationBetween: return "migration-between";
    case FaultPoint::kPurgeStep: return "purge-step";
    case FaultPoint::kStoreCopyStep: return "store-copy-step";
    case FaultPoint::kIndexApply: return "index-apply";
    case FaultPoint::kIndexFileSection: return "index-file-section";
    case FaultPoint::kFileBeforeSync: return "file-before-sync";
    case FaultPoint::kFileBeforeRename: return "file-before-rename";
    case FaultPoint::kFileAfterRename: return "file-after-rename";
  }
  return "unknown";
}

void fault_point(FaultPoint point) {
  static const Chosen chosen = chosen_by_environment();
  if (chosen.point != point) return;
  static std::atomic<long> reached{0};
  if (++reached == chosen.number) (void)std::raise(SIGKILL);
}

}  // namespace footnote
