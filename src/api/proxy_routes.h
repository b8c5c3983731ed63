#pragma once

#include <optional>
#include <vector>

#include "answer/answer_service.h"
#include "api/chat_upstream.h"
#include "api/route.h"
#include "ports/embedder.h"
#include "proxy/policy.h"
#include "proxy/source_finder.h"
#include "retrieve/asked_corpora.h"

namespace footnote::api {

/// What these routes need. Borrowed.
struct ProxyServices {
  const answer::AnswerService& answers;
  const retrieve::AskedCorpora& corpora;
  const Embedder& embedder;
  const proxy::SourceFinder& finder;
  const proxy::Policy& policy;
  std::optional<ChatUpstream> upstream;  ///< Empty: only rag/footnote answers.
};

/// OpenAI's chat completions, responses and models: names that begin with rag/ are answered from the store, all others are handed on to
/// the upstream. See docs/proxy.md.
std::vector<Route> make_proxy_routes(const ProxyServices& services);

}  // namespace footnote::api
