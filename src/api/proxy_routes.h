#pragma once

#include <optional>
#include <vector>

#include "answer/answer_service.h"
#include "answer/relayed_turn.h"
#include "api/chat_upstream.h"
#include "api/route.h"
#include "ports/embedder.h"
#include "proxy/chat_policy.h"
#include "retrieve/asked_corpora.h"

namespace footnote::api {

/// Dependencies of these routes. Borrowed.
struct ProxyServices {
  const answer::AnswerService& answers;
  const retrieve::AskedCorpora& corpora;
  const Embedder& embedder;
  const proxy::ChatPolicy& chats;
  answer::RelayedTurns& turns;
  std::optional<ChatUpstream> upstream;  ///< Empty: only rag/footnote answers.
};

/// OpenAI's chat completions, responses and models: models named rag/... are answered from the store, all others are forwarded to the
/// upstream. See docs/proxy.md.
std::vector<Route> make_proxy_routes(const ProxyServices& services);

}  // namespace footnote::api
