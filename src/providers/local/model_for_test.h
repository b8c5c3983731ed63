#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/assert.h"
#include "providers/local/local_embedder.h"
#include "support/source_folder.h"

namespace footnote {

/// The real model, loaded once per test program. tools/setup.sh downloads it; without it the program aborts, because tests must not pass
/// without the model.
inline LocalEmbedder& model_for_test() {
  static const std::unique_ptr<LocalEmbedder> model = [] {
    const char* models = std::getenv("FOOTNOTE_MODELS");
    const std::filesystem::path folder = models != nullptr ? std::filesystem::path(models) : test::source_folder() / ".deps/models";
    auto opened = LocalEmbedder::open((folder / "all-MiniLM-L6-v2").string() + "/");
    FOOTNOTE_ASSERT(opened.has_value());
    return *std::move(opened);
  }();
  return *model;
}

}  // namespace footnote
