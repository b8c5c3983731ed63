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
  explicit RemoteBackend(std::string url) : server_(std::move(url)) {}

  Result<Json> ask(const CallContext& call, const std::string& question, const std::string& corpus, const OnText&) override {
    return server_.post(call, "/api/kb/chat", JsonObject{{"question", question}, {"project_key", corpus}});
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

/// The line of the file on which a citation's support starts, or 0.
int line_of(const Citation& citation, const Answer& answer) {
  for (const SourceBlock& block : answer.sources) {
    const Chunk& chunk = block.hit.chunk;
    if (block.number != citation.number || !citation.support_range) continue;
    const std::size_t begin = citation.support_range->begin;
    if (begin < chunk.range.begin || begin - chunk.range.begin > chunk.text.size()) return chunk.first_line;
    const std::string_view before = std::string_view(chunk.text).substr(0, begin - chunk.range.begin);
    return chunk.first_line + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  }
  return 0;
}

/// Adds to each mark the line that it starts on: a terminal opens "path:line", where a page highlights characters.
void add_lines(const Answer& answer, Json& rendered) {
  for (Json& source : rendered.as_object()["citations"].as_array()) {
    auto& fields = source.as_object();
    JsonArray& marks = fields["marks"].as_array();
    auto mark = marks.begin();
    for (const Citation& citation : answer.citations) {
      if (fields["number"].as_int64() != citation.number || mark == marks.end()) continue;
      if (const int line = line_of(citation, answer); line > 0) mark->as_object()["line"] = line;
      ++mark;
    }
  }
}

class LocalBackend final : public Backend {
 public:
  explicit LocalBackend(std::unique_ptr<Composition> parts) : parts_(std::move(parts)) {}

  Result<Json> ask(const CallContext& call, const std::string& question, const std::string& corpus_name, const OnText& on_text) override {
    FOOTNOTE_TRY(const Corpus corpus, find_corpus(call, corpus_name));
    const answer::Question asked{
        .workspace = parts_->workspace(), .corpus = corpus.id, .conversation = {}, .text = question, .filter = {}, .profile = kAskProfile};
    TextListener listener(on_text);
    FOOTNOTE_TRY(const answer::TurnReport report, parts_->answers().answer(call, asked, listener));
    api::CitedTexts texts(call, parts_->chunks(), parts_->workspace());
    Json rendered = api::render_kb_answer(report, corpus_name, texts);
    if (const Answer* answer = std::get_if<Answer>(&report.turn.outcome)) add_lines(*answer, rendered);
    return rendered;
  }

  Result<Json> search(const CallContext& call, const std::string& query, const std::string& corpus_name, std::size_t limit) override {
    FOOTNOTE_TRY(const Corpus corpus, find_corpus(call, corpus_name));
    retrieve::RetrieveOptions options{.profile = kAskProfile, .filter = {}};
    options.profile.top_k = limit;
    FOOTNOTE_TRY(const auto retrieval, parts_->retriever().retrieve(call, corpus.id, query, options));
    return api::render_retrieval(retrieval);
  }

 private:
  /// Vectors of another model can't be compared with the question's.
  Result<Corpus> find_corpus(const CallContext& call, const std::string& name) {
    FOOTNOTE_TRY(Corpus corpus, parts_->catalog().find_corpus(call, parts_->workspace(), name));
    if (corpus.space == parts_->embedder().space()) return corpus;
    return fail(ErrorCode::kFailedPrecondition,
                "corpus {} was embedded by {}, the model here is {}; set MODEL_NAME={} or ingest into another corpus", name,
                corpus.space.model_id, parts_->embedder().space().model_id, corpus.space.model_id);
  }

  std::unique_ptr<Composition> parts_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(const CommandContext& context) {
  FOOTNOTE_TRY(FolderAccess access, access_folder(context.settings, Missing::kRefuse));
  if (const auto* server = std::get_if<HeldByServer>(&access)) return std::make_unique<RemoteBackend>(server->url);
  FOOTNOTE_TRY(auto parts, Composition::open(context.call, context.settings, std::get<DataFolder>(std::move(access))));
  FOOTNOTE_CHECK(build_indexes(context.call, *parts, context.terminal));
  return std::make_unique<LocalBackend>(std::move(parts));
}

}  // namespace footnote::app
