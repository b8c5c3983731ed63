#pragma once

#include <optional>
#include <string>

#include "access/caller.h"
#include "base/json.h"
#include "domain/retrieval.h"

namespace footnote::api {

/// Maximum entries in one filter list, and in `doc_ids`.
inline constexpr std::size_t kFilterEntriesMax = 50;
inline constexpr std::size_t kFilterDocumentsMax = 1'000;
/// Maximum bytes of an entry; a path may be as long as a document's.
inline constexpr std::size_t kFilterTextBytesMax = 200;
inline constexpr std::size_t kFilterPathBytesMax = 1'024;

/// The search scope parsed from a request body.
struct AskedFilter {
  Filter filter;
  /// From `filters.project_keys`, which takes precedence over `project_key`; an empty list means the default corpus.
  std::optional<std::vector<std::string>> corpus_names;
};

/// Parses "filters" and "acl_labels" (the asker's labels) of a body: see docs/filters.md. Unknown names, values of the wrong type and
/// values over their limit are errors that name the field.
Result<AskedFilter> parse_asked_filter(const JsonReader& body);

/// This API answers a value over its limit with 422, like any other wrong value of a field.
template <class T>
Result<T> too_much_is_invalid(Result<T> result) {
  if (!result && result.error().code == ErrorCode::kTooLarge && !result.error().field.empty()) {
    Error error = std::move(result).error();
    error.code = ErrorCode::kInvalidArgument;
    return std::unexpected(std::move(error));
  }
  return result;
}

/// Adds the labels of the caller's key. kPermissionDenied if the request names labels and the caller is no admin: naming a label gives
/// access to its documents.
Result<void> apply_labels(const access::Caller& caller, Filter& filter);

/// Whether the caller may see a document with these labels.
bool may_see(const access::Caller& caller, const std::vector<std::string>& labels);

}  // namespace footnote::api
