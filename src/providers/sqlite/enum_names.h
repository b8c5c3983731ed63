#pragma once

#include <string_view>

#include "base/result.h"
#include "domain/agent.h"
#include "domain/answer.h"
#include "domain/catalog.h"
#include "domain/conversation.h"
#include "domain/document.h"
#include "domain/retrieval.h"

namespace footnote {

/// Names under which enum values are stored. They are part of the file format: a name never changes.
std::string_view stored_name(DocumentStatus value);
std::string_view stored_name(EvidenceTier value);
std::string_view stored_name(SourceKind value);
std::string_view stored_name(KeyScope value);
std::string_view stored_name(Distance value);
std::string_view stored_name(TurnState value);
std::string_view stored_name(Support value);
std::string_view stored_name(Stage value);
std::string_view stored_name(RefusalReason value);
std::string_view stored_name(GapReason value);
std::string_view stored_name(GapStatus value);
std::string_view stored_name(Rating value);
std::string_view stored_name(WidgetPosition value);

/// The value of a stored name; kCorrupted for a name unknown to this build. Instantiated for the enums above.
template <class Enum>
Result<Enum> from_stored_name(std::string_view name);

}  // namespace footnote
