#pragma once

#include <functional>
#include <string>

#include "access/caller.h"
#include "http/client.h"
#include "http/stream.h"

namespace footnote::api {

/// The server that language models are asked through. Borrows the client.
struct ChatUpstream {
  http::Client& client;
  std::string base_url;  ///< With its version path.
  std::string api_key;   ///< In place of what the client sent; empty: the client's own goes on, unless it is a key of ours.
};

/// Whether the answer's bytes go to the client as they are, or are read here.
enum class AnswerUse { kPassThrough, kRead };

/// A client's request as it goes to `path` of the upstream: its headers but those of the connection, of browsers and of our own.
http::ClientRequest upstream_request(const ChatUpstream& upstream, const access::Caller& caller, const http::Request& request,
                                     std::string_view path, std::string body, AnswerUse use);

/// Whether this process has passed the request on before: its upstream leads back to it.
bool came_from_here(const http::Request& request);

/// The upstream's headers that the client gets: all but those of the connection, cookies, and what is ours to say.
http::Headers answer_headers(const http::Headers& upstream);

/// An upstream's failure to answer, in words for the client.
Error upstream_failure(Error error);

/// An answer that is not 200, for the client: as it is where it has OpenAI's form, else in that form.
http::Response error_answer(int status, const http::Headers& headers, std::string body);

/// Hands a request on and its answer back as it comes: status, headers and bytes. Little is held, whatever its length; a slow client slows
/// the upstream. An answer that breaks off is told of in an event where it is a stream of them and stands between two, else cut.
/// Goes on after the handler has returned.
void relay(const ChatUpstream& upstream, http::ClientRequest request, http::ResponseStream& response);

/// Answers up to this length that say it are sent whole rather than in pieces.
inline constexpr std::size_t kWholeAnswerBytesMax = 64 << 10;

}  // namespace footnote::api
