#include "engine/ann/scan_scope.h"

namespace footnote::ann {

std::vector<ScanScope> find_scopes(std::span<const SegmentPtr> segments, std::int64_t generation, const rows::RowFilter& filter) {
  std::vector<ScanScope> scopes;
  for (const SegmentPtr& segment : segments) {
    ScanScope scope{.segment = segment.get()};
    scope.all = filter.passes_all() && segment->rows.all_alive_at(generation);
    scope.rows = scope.all ? segment->rows.size() : segment->rows.find_visible(generation, filter, scope.bits);
    if (scope.rows > 0) scopes.push_back(std::move(scope));
  }
  return scopes;
}

}  // namespace footnote::ann
