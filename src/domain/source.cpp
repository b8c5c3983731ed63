#include "domain/source.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace footnote {
namespace {

constexpr std::array kKinds = {SourceKind::kFolder,  SourceKind::kUpload, SourceKind::kText, SourceKind::kUrl,
                               SourceKind::kSitemap, SourceKind::kFeed,   SourceKind::kGit};
constexpr std::size_t kOptionBytesMax = 4'096;

}  // namespace

std::string_view to_string(SourceKind kind) {
  switch (kind) {
    case SourceKind::kFolder: return "folder";
    case SourceKind::kUpload: return "upload";
    case SourceKind::kText: return "text";
    case SourceKind::kUrl: return "url";
    case SourceKind::kSitemap: return "sitemap";
    case SourceKind::kFeed: return "feed";
    case SourceKind::kGit: return "git";
  }
  return "";
}

std::optional<SourceKind> parse_source_kind(std::string_view name) {
  const auto found = std::ranges::find_if(kKinds, [&](SourceKind kind) { return to_string(kind) == name; });
  return found == kKinds.end() ? std::nullopt : std::optional(*found);
}

std::chrono::seconds source_retry_wait(int attempts) {
  constexpr std::chrono::seconds kFirst{60};
  constexpr std::chrono::seconds kLongest = std::chrono::hours{24};
  constexpr int kDoublingsMax = 11;
  return std::min(kFirst * (1 << std::clamp(attempts - 1, 0, kDoublingsMax)), kLongest);
}

Result<void> check_source_spec(const SourceSpec& spec) {
  const auto check = [](std::string_view field, std::string_view value, std::size_t bytes_max) -> Result<void> {
    if (value.size() > bytes_max) return fail_field(ErrorCode::kInvalidArgument, field, "'{}' has more than {} bytes", field, bytes_max);
    if (!is_valid_utf8(value)) return fail_field(ErrorCode::kInvalidArgument, field, "'{}' is not UTF-8", field);
    return {};
  };
  FOOTNOTE_CHECK(check("location", spec.location, kSourceLocationBytesMax));
  FOOTNOTE_CHECK(check("title", spec.title, kSourceTitleBytesMax));
  FOOTNOTE_CHECK(check("content", spec.content, kSourceContentBytesMax));
  if (spec.options.size() > kSourceOptionsMax) {
    return fail_field(ErrorCode::kInvalidArgument, "options", "a source has at most {} options", kSourceOptionsMax);
  }
  for (const auto& [name, value] : spec.options) {
    FOOTNOTE_CHECK(check("options", name, kOptionBytesMax));
    FOOTNOTE_CHECK(check("options", value, kOptionBytesMax));
  }
  if (spec.interval.count() != 0 && spec.interval < kSyncIntervalMin) {
    return fail_field(ErrorCode::kInvalidArgument, "interval_seconds", "'interval_seconds' is 0 or at least {}", kSyncIntervalMin.count());
  }
  return {};
}

}  // namespace footnote
