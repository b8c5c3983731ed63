#include "api/visitor_quota.h"

namespace footnote::api {

void VisitorQuota::forget_old(UtcTime now) {
  if (now - turned_at_ < std::chrono::minutes{1} && young_.size() < kNamesMax) return;
  old_ = std::move(young_);
  young_.clear();
  turned_at_ = now;
}

std::optional<std::chrono::seconds> VisitorQuota::count(std::string_view name, UtcTime now) {
  MutexLock lock(mutex_);
  forget_old(now);
  const std::string key(name);
  auto found = young_.find(key);
  if (found == young_.end()) {
    const auto known = old_.find(key);
    const access::RateMeter meter =
        known == old_.end() ? access::RateMeter({.requests_per_minute = calls_per_minute_}, {}, now) : known->second;
    found = young_.emplace(key, meter).first;
  }
  return found->second.count(now).retry_after;
}

}  // namespace footnote::api
