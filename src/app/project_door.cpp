#include "app/project_door.h"

#include "base/text.h"

namespace footnote::app {
namespace {

/// Folders that do not exist are left out: nothing lies below them.
std::vector<std::filesystem::path> project_roots(std::string_view text) {
  std::vector<std::filesystem::path> out;
  for (const std::string_view part : split(text, ':')) {
    std::error_code error;
    std::filesystem::path root = std::filesystem::canonical(trim(part), error);
    if (!error && !trim(part).empty()) out.push_back(std::move(root));
  }
  return out;
}

ingest::Secrets secrets_of(const Settings& settings) {
  return settings.text(Setting::kIngestSecrets) == "allow" ? ingest::Secrets::kAllow : ingest::Secrets::kKeepOut;
}

}  // namespace

ProjectDoor::ProjectDoor(const Settings& settings, AnswerParts& parts)
    : parts_(parts),
      roots_(project_roots(settings.text(Setting::kProjectsRoots))),
      indexer_({.chunks = parts.base().chunks(),
                .catalog = parts.base().catalog(),
                .embedder = parts.base().embedder(),
                .sync = &parts.base().sync()},
               secrets_of(settings)),
      memory_({.indexer = indexer_, .chunks = parts.base().chunks(), .retriever = parts.retriever(), .corpora = parts.corpora()}),
      runner_(indexer_, parts.base().stores().projects(), parts.base().clock()) {}

api::ProjectServices ProjectDoor::services() {
  return {.projects = parts_.base().stores().projects(),
          .indexer = indexer_,
          .runner = runner_,
          .memory = memory_,
          .clock = parts_.base().clock(),
          .roots = roots_,
          .remove_corpus = [this](const CallContext& call, const Project& project) { return remove_corpus(call, project); }};
}

Result<void> ProjectDoor::remove_corpus(const CallContext& call, const Project& project) {
  IngestParts& base = parts_.base();
  const auto corpus = base.catalog().find_corpus(call, project.workspace, project_corpus(project.slug));
  if (!corpus) return corpus.error().code == ErrorCode::kNotFound ? Result<void>{} : std::unexpected(corpus.error());
  FOOTNOTE_CHECK(base.stores().points().delete_collection(call, corpus->id));
  base.forget_corpus(call, corpus->id);
  return {};
}

}  // namespace footnote::app
