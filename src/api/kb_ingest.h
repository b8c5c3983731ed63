#pragma once

#include "api/routes.h"

namespace footnote::api {

inline constexpr std::size_t kIngestDocumentsMax = 100;

/// POST /api/kb/ingest {"documents":[{"project_key"?,"source_path","title"?,"mime_type"?,"content" or "content_base64","url"?,"language"?,
/// "tags"?,"evidence_tier"?,"status"?,"updated_at"?,"acl_labels"?}], "project_key"?, "take_over"?, "profile"?}: each document is durable
/// when the answer comes. 200, or 207 when some could not be read; all of one call go to one corpus.
///
/// A folder comes in several calls with "folder" and "keep_deleted"?; the last one also lists what the folder holds: "present", "unknown"?,
/// "prefix"?, "listed_at"? (ingest::FolderListing). Ingestor::prune decides then which documents are deleted.
Result<http::Response> ingest_documents(const Services& services, const access::Caller& caller, const http::Request& request,
                                        const CallContext& call);

}  // namespace footnote::api
