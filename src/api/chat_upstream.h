#pragma once

#include <functional>
#include <string>

#include "access/caller.h"
#include "http/client.h"
#include "http/stream.h"

namespace footnote::api {

/// The upstream server for language models. Borrows the client.
struct ChatUpstream {
  http::Client& client;
  std::string base_url;  ///< Includes the version path.
  std::string api_key;   ///< Replaces the client's key. Empty: the client's key is forwarded, unless it is one of ours.
};

/// Whether the answer is passed to the client unchanged or parsed here.
enum class AnswerUse { kPassThrough, kRead };

/// The client's request rewritten for `path` of the upstream: forwards its headers except hop-by-hop, browser and our own ones.
http::ClientRequest upstream_request(const ChatUpstream& upstream, const access::Caller& caller, const http::Request& request,
                                     std::string_view path, std::string body, AnswerUse use);

/// Whether this process already forwarded this request: the upstream loops back to us.
bool came_from_here(const http::Request& request);

/// The upstream headers forwarded to the client: all but hop-by-hop headers, cookies and those that we set.
http::Headers answer_headers(const http::Headers& upstream);

/// An upstream failure, worded for the client.
Error upstream_failure(Error error);

/// Renders a non-200 answer for the client: unchanged if it is in OpenAI's error format, else converted to it.
http::Response error_answer(int status, const http::Headers& headers, std::string body);

/// Forwards a request and streams the answer back: status, headers and bytes. Buffers little, whatever the length; a slow client slows the
/// upstream. If the answer breaks off between two events of an event stream, an error event is sent; otherwise the answer is cut. Continues
/// after the handler has returned.
void relay(const ChatUpstream& upstream, http::ClientRequest request, http::ResponseStream& response);

/// Answers with a Content-Length up to this are sent whole instead of chunked.
inline constexpr std::size_t kWholeAnswerBytesMax = 64 << 10;

}  // namespace footnote::api
