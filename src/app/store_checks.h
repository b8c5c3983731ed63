#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/check_routes.h"
#include "config/settings.h"
#include "upkeep/stores.h"

namespace footnote::app {

/// What stored corpora are compared with.
struct IndexFacts {
  std::string model;            ///< The model that embeds questions; empty: not known.
  std::uint32_t code_form = 0;  ///< Format of the questions' token codes; 0: they have none.
  /// The generation that a corpus's indexes reach.
  std::function<Result<Generation>(const CallContext&, upkeep::Stores&, const Corpus&)> reach;
};

/// For a process without indexes: uses the configured model, and indexes built from scratch.
IndexFacts configured_index_facts(const Settings& settings);

/// Checks the stored bytes, the corpora of a workspace, and their index files.
std::vector<api::Check> check_stores(const CallContext& call, upkeep::Stores& stores, WorkspaceId workspace, const IndexFacts& facts);

}  // namespace footnote::app
