#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/check_routes.h"
#include "config/settings.h"
#include "upkeep/stores.h"

namespace footnote::app {

/// What the stored corpora are compared with.
struct IndexFacts {
  std::string model;            ///< What questions are embedded by; empty: not known.
  std::uint32_t code_form = 0;  ///< Of the token codes of questions; 0: they have none.
  /// The generation that the indexes of a corpus reach.
  std::function<Result<Generation>(const CallContext&, upkeep::Stores&, const Corpus&)> reach;
};

/// For a process without indexes: the configured model, and indexes that are built from nothing.
IndexFacts configured_index_facts(const Settings& settings);

/// The stored bytes, the corpora of a workspace, and their index files.
std::vector<api::Check> check_stores(const CallContext& call, upkeep::Stores& stores, WorkspaceId workspace, const IndexFacts& facts);

}  // namespace footnote::app
