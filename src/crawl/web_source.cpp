#include "crawl/web_source.h"

#include "base/text.h"

namespace footnote::crawl {

namespace {

constexpr std::size_t kDocumentsPerRead = 1'000;

Result<std::size_t> read_number(const std::map<std::string, std::string>& options, std::string_view name, std::size_t otherwise,
                                std::size_t max) {
  const auto found = options.find(std::string(name));
  if (found == options.end()) return otherwise;
  const auto number = parse_whole_number<std::size_t>(found->second);
  if (!number || *number > max) return fail_field(ErrorCode::kInvalidArgument, name, "'{}' is a number from 0 to {}", name, max);
  return *number;
}

}  // namespace

Result<WebReaderOptions> read_web_options(SourceKind kind, const std::map<std::string, std::string>& options) {
  WebReaderOptions out;
  const auto site = options.find(std::string(kSiteOption));
  const bool is_site = site != options.end() && site->second == "true";
  out.reach = kind == SourceKind::kSitemap ? Reach::kSitemap
              : kind == SourceKind::kFeed  ? Reach::kFeed
              : is_site                    ? Reach::kSite
                                           : Reach::kPage;
  // A page that somebody named is read like in a browser; robots.txt is for those who follow links.
  out.robots = out.reach != Reach::kPage;
  FOOTNOTE_TRY(out.depth, read_number(options, kDepthOption, kDepthDefault, kDepthMax));
  FOOTNOTE_TRY(out.pages_max, read_number(options, kPagesOption, kPagesDefault, kPagesMax));
  if (out.pages_max == 0) out.pages_max = kPagesDefault;
  return out;
}

Result<SourceSpec> WebSourceKind::accept(SourceSpec spec) const {
  const auto url = parse_web_url(spec.location);
  if (!url) return fail_field(ErrorCode::kInvalidArgument, "location", "{}", url.error().message);
  spec.location = url->text;
  FOOTNOTE_CHECK(read_web_options(kind_, spec.options));
  return spec;
}

Result<std::vector<std::string>> WebSourceKind::known_keys(const CallContext& call, const SourceRecord& source) const {
  std::vector<std::string> out;
  std::string after;
  for (;;) {
    FOOTNOTE_TRY(const auto documents, chunks_.documents(call, source.spec.corpus, after, kDocumentsPerRead));
    for (const Document& document : documents) {
      if (document.source == source.id) out.push_back(document.key);
    }
    if (documents.size() < kDocumentsPerRead) return out;
    after = documents.back().key;
  }
}

Result<std::unique_ptr<ingest::SourceReader>> WebSourceKind::open(const CallContext& call, const SourceRecord& source,
                                                                  const std::map<std::string, std::string>& stamps) const {
  FOOTNOTE_TRY(WebUrl start, parse_web_url(source.spec.location));
  FOOTNOTE_TRY(const WebReaderOptions options, read_web_options(kind_, source.spec.options));
  std::vector<std::string> known;
  if (options.reach == Reach::kSite) {
    FOOTNOTE_TRY(known, known_keys(call, source));
  }
  return std::make_unique<WebReader>(crawler_, std::move(start), options, std::move(known), stamps);
}

}  // namespace footnote::crawl
