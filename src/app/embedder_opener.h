#pragma once

#include "app/compose_models.h"
#include "upkeep/index_rebuilder.h"

namespace footnote::app {

/// The configured embedder's name; empty: its server reports it.
std::string configured_model(const Settings& settings);

/// Opens embedders for rebuilds: the configured one (for agents' notes their own, if set), or a built-in one by name. Copies `settings`;
/// `metrics` outlives it.
upkeep::OpenEmbedder embedder_opener(const Settings& settings, Metrics& metrics);

}  // namespace footnote::app
