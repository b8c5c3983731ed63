#pragma once

#include <memory>

#include "api/proxy_routes.h"
#include "app/answer_parts.h"
#include "providers/remote/qdrant_search.h"

namespace footnote::app {

/// The OpenAI-compatible proxy: the policy of rag/ models, their sources, and the model server.
class ProxyDoor {
 public:
  /// Borrows `parts`.
  static Result<std::unique_ptr<ProxyDoor>> open(const Settings& settings, AnswerParts& parts);

  api::ProxyServices services();

 private:
  ProxyDoor(proxy::Policy policy, const Settings& settings, AnswerParts& parts);
  proxy::SearchElsewhere search_elsewhere();

  AnswerParts& parts_;
  const proxy::Policy policy_;
  const std::unique_ptr<http::Client> qdrant_client_;  ///< Null: searches our own store.
  const std::unique_ptr<QdrantSearch> qdrant_;
  const proxy::SourceFinder finder_;
  const proxy::ChatPolicy chats_;
  answer::RelayedTurns turns_;
  const std::string upstream_url_;
  const std::string upstream_key_;
};

}  // namespace footnote::app
