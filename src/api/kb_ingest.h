#pragma once

#include "api/routes.h"

namespace footnote::api {

inline constexpr std::size_t kIngestDocumentsMax = 100;

/// POST /api/kb/ingest {"documents":[{"project_key"?,"source_path","title"?,"mime_type"?,"content" or "content_base64","url"?,"language"?,
/// "tags"?,"evidence_tier"?,"status"?,"updated_at"?,"acl_labels"?}], "project_key"?, "take_over"?, "profile"?, "allow_secrets"?}: each
/// document is durable before the response. 200, or 207 if some could not be read; all documents of a call go to one corpus.
///
/// A folder is sent in several calls with "folder" and "keep_deleted"?; the last one also lists the folder's contents: "present",
/// "unknown"?, "prefix"?, "listed_at"? (ingest::FolderListing). Ingestor::prune then decides which documents to delete.
Result<http::Response> ingest_documents(const Services& services, const access::Caller& caller, const http::Request& request,
                                        const CallContext& call);

}  // namespace footnote::api
