#include "upkeep/readiness.h"

#include "base/log.h"
#include "base/text.h"

namespace footnote::upkeep {
namespace {

/// A store that takes longer to answer is not ready.
constexpr std::chrono::seconds kProbeTimeout{2};

}  // namespace

std::vector<std::string> not_ready_reasons(Stores& stores, std::uint64_t free_bytes_min) {
  std::vector<std::string> reasons;
  if (!stores.store().healthy()) {
    reasons.emplace_back("the disk failed to make a write durable, so nothing more is written; restart after a look at the disk");
  }
  if (stores.store().full()) reasons.emplace_back("no space is left for the store: reads go on, writes are refused until there is");
  const auto probe = stores.catalog().find_workspace(CallContext::with_timeout(kProbeTimeout), kDefaultWorkspace);
  if (!probe) {
    reasons.emplace_back("the store can't be read; the server's log says why");
    log(LogLevel::kWarn, "app", "the store can't be read", {{"error", probe.error().message}});
  }
  std::error_code error;
  const auto space = std::filesystem::space(stores.folder().path(), error);
  if (!error && space.available < free_bytes_min) {
    reasons.push_back(fmt::format("the disk of the data folder is nearly full: {} are left, {} are wanted; free some space",
                                  human_bytes(space.available), human_bytes(free_bytes_min)));
  }
  return reasons;
}

}  // namespace footnote::upkeep
