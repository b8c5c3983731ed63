#pragma once

#include <memory>

#include "api/chunk_sink.h"
#include "api/proxy_routes.h"

namespace footnote::api {

/// One request to a model named rag/.... Borrows everything.
struct GroundedChat {
  const ProxyServices& services;
  const access::Caller& caller;
  const http::Request& request;  ///< The client's request; its headers are forwarded.
  const CallContext& call;
  const ChatAsk& ask;
  const proxy::Target& target;
};

/// The error for a model when no model server is configured.
Error no_such_model(std::string_view model);

/// Answers into a sink, chunk by chunk: by the upstream with sources in the prompt, or by this program. The upstream is always asked for a
/// stream; if the client asked for one too, the answer continues after the handler has returned. REQUIRES: the sink writes to `response`.
void answer_chunks(const GroundedChat& chat, std::unique_ptr<ChunkSink> sink, http::ResponseStream& response);

/// Answers with the upstream's whole completion, under the client's name for the model. REQUIRES: a target of kind kGrounded.
void answer_whole(const GroundedChat& chat, http::ResponseStream& response);

}  // namespace footnote::api
