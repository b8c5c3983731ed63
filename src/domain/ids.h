#pragma once

#include "base/ids.h"

namespace footnote {

using WorkspaceId = Id<struct WorkspaceTag>;
using CorpusId = Id<struct CorpusTag>;
using SourceId = Id<struct SourceTag>;
using DocumentId = Id<struct DocumentTag>;
using ChunkId = Id<struct ChunkTag>;
using GapId = Id<struct GapTag>;
using EventId = Id<struct EventTag>;
using ApiKeyId = Id<struct ApiKeyTag>;
using CuratedId = Id<struct CuratedTag>;
using WebhookId = Id<struct WebhookTag>;
using DeliveryId = Id<struct DeliveryTag>;

using ConversationId = TextId<struct ConversationTag>;
using TurnId = TextId<struct TurnTag>;
using AgentId = TextId<struct AgentTag>;
using VisitorId = TextId<struct VisitorTag>;

/// One atomic state of a corpus. Each commit increments it; 0 is the empty corpus. A chunk is visible in generation g if born <= g and (it
/// is alive or g < died), so a reader that stays in one generation sees either a document's old version or its new one, never neither and
/// never both.
using Generation = std::int64_t;

/// A half-open range of bytes in a UTF-8 text; both ends are code point boundaries.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  bool operator==(const TextRange&) const = default;
};

}  // namespace footnote
