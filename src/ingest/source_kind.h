#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "domain/source.h"
#include "ingest/ingestor.h"

namespace footnote::ingest {

/// One document of a source, before it is read.
struct SourceItem {
  std::string key;          ///< The document's key in the corpus: a path or an address.
  std::string locator;      ///< What read() needs, in the kind's own form.
  std::uint64_t bytes = 0;  ///< For the time to go; 0: not known.
  std::string stamp = {};   ///< Differs when the content may differ (time and size, ETag, lastmod). Empty: not known.
  bool fresh = false;       ///< Changed a moment ago: it may change again under the same stamp.
};

/// What a source holds, without the contents.
struct SourceItems {
  std::vector<SourceItem> items;
  std::vector<std::string> unknown;  ///< Keys at or below which documents are kept: what is there is not known at the moment.
  std::vector<Problem> problems;     ///< Paths that are no items, and why.
  std::map<std::string, std::size_t> no_documents;  ///< Left out without a problem, by kind ("images").
  std::optional<UtcTime> listed_at;                 ///< Taken before the listing began.
  bool complete = true;                             ///< False: documents that are not listed are kept.
};

/// The outcome of reading one item.
struct ItemRead {
  enum class State {
    kDocument,    ///< `document` is set.
    kUnchanged,   ///< Known to be the same without its content (304 Not Modified).
    kNoDocument,  ///< No document, and no problem; `reason` is its kind ("images").
    kGone,        ///< No longer there: its document is deleted.
    kFailed,      ///< `reason` says why; the live document stays.
  };
  State state = State::kDocument;
  MemoryDocument document = {};
  std::string reason = {};
  std::string stamp = {};              ///< If reading showed a better one than the listing (an ETag).
  std::vector<SourceItem> found = {};  ///< More items that only reading showed (links of a page); a key that is known is left out.
};

/// One sync of one source. Used by one thread.
class SourceReader {
 public:
  virtual ~SourceReader() = default;
  /// Errors end the sync and delete nothing.
  virtual Result<SourceItems> list(const CallContext& call) = 0;
  /// Errors end the sync: the whole source is out of reach. What is wrong with one item alone is a kFailed.
  virtual Result<ItemRead> read(const CallContext& call, const SourceItem& item) = 0;
};

/// Lists and reads the sources of one kind. A kind is added by implementing this and naming it in app/. Thread-safe.
class SourceKindReader {
 public:
  virtual ~SourceKindReader() = default;
  /// Checks a new description and brings it into its stored form (a canonical path or address). kInvalidArgument with the field;
  /// kPermissionDenied: the operator does not allow it.
  virtual Result<SourceSpec> accept(SourceSpec spec) const = 0;
  /// Opens a source for one sync. `stamps` holds those of the last sync by key: for conditional requests.
  virtual Result<std::unique_ptr<SourceReader>> open(const CallContext& call, const SourceRecord& source,
                                                     const std::map<std::string, std::string>& stamps) const = 0;
  /// Files: equal bytes mean unchanged, and a file that is no longer text is deleted. Uploads and pages bring attributes.
  virtual Origin origin() const = 0;
};

/// The kinds of sources that can be synced.
using SourceKinds = std::map<SourceKind, std::unique_ptr<SourceKindReader>>;

}  // namespace footnote::ingest
