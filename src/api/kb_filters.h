#pragma once

#include <optional>
#include <string>

#include "access/caller.h"
#include "base/json.h"
#include "domain/retrieval.h"

namespace footnote::api {

/// Maximum entries in one filter list, and in `doc_ids`.
inline constexpr std::size_t kFilterEntriesMax = 50;
inline constexpr std::size_t kFilterDocumentsMax = 10'000;
/// Maximum bytes of an entry; a path may be as long as a document's.
inline constexpr std::size_t kFilterTextBytesMax = 200;
inline constexpr std::size_t kFilterPathBytesMax = 1'024;

/// The search scope parsed from a request body.
struct AskedFilter {
  Filter filter;
  /// From `filters.project_keys`, which takes precedence over `project_key`; empty: the default corpus.
  std::optional<std::string> corpus_name;
};

/// Parses "filters" and "acl_labels" (the asker's labels) of a body: see docs/filters.md. Unknown names, values of the wrong type and
/// values over their limit are errors that name the field.
Result<AskedFilter> parse_asked_filter(const JsonReader& body);

/// kPermissionDenied unless the caller may set the asker's labels. Only admins may: naming a label gives access to its documents.
Result<void> check_labels(const access::Caller& caller, const Filter& filter);

}  // namespace footnote::api
