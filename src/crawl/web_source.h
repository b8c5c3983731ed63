#pragma once

#include "crawl/web_reader.h"
#include "ingest/source_kind.h"
#include "ports/chunk_store.h"

namespace footnote::crawl {

/// Options of a web source: "site" ("true": the whole site, not the page alone), "depth", "max_pages".
inline constexpr std::string_view kSiteOption = "site";
inline constexpr std::string_view kDepthOption = "depth";
inline constexpr std::string_view kPagesOption = "max_pages";

/// Sources of kind url, sitemap and feed.
class WebSourceKind final : public ingest::SourceKindReader {
 public:
  /// Borrows both.
  WebSourceKind(SourceKind kind, Crawler& crawler, const ChunkReader& chunks) : kind_(kind), crawler_(crawler), chunks_(chunks) {}

  Result<SourceSpec> accept(SourceSpec spec) const override;
  Result<std::unique_ptr<ingest::SourceReader>> open(const CallContext& call, const SourceRecord& source,
                                                     const std::map<std::string, std::string>& stamps) const override;
  ingest::Origin origin() const override { return ingest::Origin::kUpload; }

 private:
  Result<std::vector<std::string>> known_keys(const CallContext& call, const SourceRecord& source) const;

  const SourceKind kind_;
  Crawler& crawler_;
  const ChunkReader& chunks_;
};

/// What the options of a source ask for. kInvalidArgument names the field.
Result<WebReaderOptions> read_web_options(SourceKind kind, const std::map<std::string, std::string>& options);

}  // namespace footnote::crawl
