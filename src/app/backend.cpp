#include "app/backend.h"

#include <algorithm>

#include "api/kb_search.h"
#include "api/kb_wire.h"
#include "app/compose.h"
#include "app/folder_access.h"
#include "app/server_link.h"

namespace footnote::app {
namespace {

class RemoteBackend final : public Backend {
 public:
  RemoteBackend(const HeldByServer& server, const std::string& workspace) : server_(server, workspace) {}

  Result<Json> ask(const CallContext& call, const std::string& question, const std::string& corpus, const OnText&) override {
    return server_.post(call, "/api/kb/chat", JsonObject{{"question", question}, {"project_key", corpus}, {"profile", "ask"}});
  }
  Result<Json> search(const CallContext& call, const std::string& query, const std::string& corpus, std::size_t limit) override {
    return server_.post(call, "/api/search", JsonObject{{"query", query}, {"project_key", corpus}, {"limit", limit}});
  }

 private:
  ServerLink server_;
};

class TextListener final : public answer::TurnListener {
 public:
  explicit TextListener(const Backend::OnText& on_text) : on_text_(on_text) {}
  Result<void> on_start(const TurnId&) override { return {}; }
  Result<void> on_sources(std::span<const SourceBlock>) override { return {}; }
  Result<void> on_text(std::string_view text) override {
    if (on_text_) on_text_(text);
    return {};
  }

 private:
  const Backend::OnText& on_text_;
};

class LocalBackend final : public Backend {
 public:
  explicit LocalBackend(std::unique_ptr<Composition> parts) : parts_(std::move(parts)) {}

  Result<Json> ask(const CallContext& call, const std::string& question, const std::string& corpus_name, const OnText& on_text) override {
    FOOTNOTE_TRY(const Corpus corpus, find_corpus(call, corpus_name));
    const answer::Question asked{.workspace = parts_->workspace(),
                                 .corpus = corpus.id,
                                 .conversation = {},
                                 .text = question,
                                 .filter = {},
                                 .profile = api::profile_for(corpus, kAskProfile)};
    TextListener listener(on_text);
    FOOTNOTE_TRY(const answer::TurnReport report, parts_->answers().answer(call, asked, listener));
    api::CitedTexts texts(call, parts_->chunks(), parts_->workspace());
    return api::render_kb_answer(report, corpus_name, texts);
  }

  Result<Json> search(const CallContext& call, const std::string& query, const std::string& corpus_name, std::size_t limit) override {
    FOOTNOTE_TRY(const Corpus corpus, find_corpus(call, corpus_name));
    retrieve::RetrieveOptions options{.profile = api::profile_for(corpus, kAskProfile), .filter = {}};
    options.profile.top_k = limit;
    FOOTNOTE_TRY(const auto retrieval, parts_->retriever().retrieve(call, corpus.id, query, options));
    return api::render_retrieval(retrieval);
  }

 private:
  Result<Corpus> find_corpus(const CallContext& call, const std::string& name) {
    return api::find_asked_corpus(call, parts_->catalog(), parts_->workspace(), parts_->embedder().space(), name);
  }

  std::unique_ptr<Composition> parts_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(const CommandContext& context) {
  FOOTNOTE_TRY(FolderAccess access, access_folder(context.settings, Missing::kRefuse));
  if (const auto* server = std::get_if<HeldByServer>(&access)) {
    return std::make_unique<RemoteBackend>(*server, context.settings.text(Setting::kWorkspace));
  }
  FOOTNOTE_TRY(auto parts, Composition::open(context.call, context.settings, std::get<DataFolder>(std::move(access))));
  FOOTNOTE_CHECK(build_indexes(context.call, *parts, context.terminal));
  return std::make_unique<LocalBackend>(std::move(parts));
}

}  // namespace footnote::app
