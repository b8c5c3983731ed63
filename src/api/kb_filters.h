#pragma once

#include <optional>
#include <string>

#include "access/caller.h"
#include "base/json.h"
#include "domain/retrieval.h"

namespace footnote::api {

/// The most entries of one list of a filter, and of `doc_ids`.
inline constexpr std::size_t kFilterEntriesMax = 50;
inline constexpr std::size_t kFilterDocumentsMax = 10'000;
/// The longest entry in bytes; a path may be as long as a document's.
inline constexpr std::size_t kFilterTextBytesMax = 200;
inline constexpr std::size_t kFilterPathBytesMax = 1'024;

/// What the body of a question says of where to look.
struct AskedFilter {
  Filter filter;
  /// Of `filters.project_keys`, which counts before `project_key`; the default corpus where it is empty.
  std::optional<std::string> corpus_name;
};

/// Reads "filters" and "acl_labels" (what the asker has) of a body: see docs/filters.md. A name that is not known, a value of another
/// kind and one past its bound are errors that name the field.
Result<AskedFilter> parse_asked_filter(const JsonReader& body);

/// kPermissionDenied unless the caller may say which labels an asker has: with admin rights alone, as whoever names a label reads
/// its documents.
Result<void> check_labels(const access::Caller& caller, const Filter& filter);

}  // namespace footnote::api
