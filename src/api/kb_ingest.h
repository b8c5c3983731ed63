#pragma once

#include "api/routes.h"

namespace footnote::api {

inline constexpr std::size_t kIngestDocumentsMax = 100;

/// POST /api/kb/ingest {"documents":[{"project_key"?,"source_path","title"?,"mime_type"?,"content", "language"?,"tags"?,
/// "evidence_tier"?,"status"?,"updated_at"?,"acl_labels"?}], "project_key"?, "folder"?,
/// "present"?, "take_over"?, "allow_secrets"?}: each document is durable when the answer comes. 200, or 207 when some could not be read;
/// all of one call go to one corpus. "kept_out" of a document names the kinds of secrets whose passages were not stored; a document of
/// which nothing is left has that status too. With `folder` and `present` (every key that the folder holds now) documents of that folder
/// that are not named are deleted.
Result<http::Response> ingest_documents(const Services& services, const access::Caller& caller, const http::Request& request,
                                        const CallContext& call);

}  // namespace footnote::api
