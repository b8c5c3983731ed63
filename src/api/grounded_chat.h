#pragma once

#include <memory>

#include "api/chunk_sink.h"
#include "api/proxy_routes.h"

namespace footnote::api {

/// One request to a model whose name begins with rag/. Borrows all of it.
struct GroundedChat {
  const ProxyServices& services;
  const access::Caller& caller;
  const http::Request& request;  ///< Of the client: its headers go on.
  const CallContext& call;
  const ChatAsk& ask;
  const proxy::Target& target;
};

/// What is said of a model while there is no model server.
Error no_such_model(std::string_view model);

/// Answers into a sink, chunk by chunk: by the upstream with sources put into the prompt, or by this program. The upstream is asked for a
/// stream; where the client asked for one too, its answer goes on after the handler has returned. REQUIRES: the sink writes to `response`.
void answer_chunks(const GroundedChat& chat, std::unique_ptr<ChunkSink> sink, http::ResponseStream& response);

/// Answers by the upstream's own whole completion, under the client's name for the model. REQUIRES: a target of kind kGrounded.
void answer_whole(const GroundedChat& chat, http::ResponseStream& response);

}  // namespace footnote::api
