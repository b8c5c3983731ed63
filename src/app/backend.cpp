#include "app/backend.h"

#include <algorithm>

#include "api/kb_filters.h"
#include "api/kb_search.h"
#include "api/kb_wire.h"
#include "app/answer_parts.h"
#include "app/folder_access.h"
#include "base/text.h"
#include "cli/server_link.h"

namespace footnote::app {
namespace {

JsonObject body_of(const Where& where, JsonObject body) {
  body["project_key"] = where.corpus;
  body["filters"] = where.filters;
  body["acl_labels"] = where.labels;
  return body;
}

class RemoteBackend final : public Backend {
 public:
  RemoteBackend(const HeldByServer& server, const std::string& workspace) : server_(server.url, server.token, workspace) {}

  Result<Json> ask(const CallContext& call, const std::string& question, const Where& where, const OnText&) override {
    return server_.post(call, "/api/kb/chat", body_of(where, {{"question", question}, {"profile", "ask"}}));
  }
  Result<Json> search(const CallContext& call, const SearchWish& wish, const Where& where) override {
    JsonObject body{{"query", wish.query}, {"limit", wish.limit}, {"prefix", wish.prefix}, {"typos", wish.typos}};
    return server_.post(call, "/api/search", body_of(where, std::move(body)));
  }

 private:
  cli::ServerLink server_;
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
  explicit LocalBackend(std::unique_ptr<AnswerParts> parts) : parts_(std::move(parts)) {}

  Result<Json> ask(const CallContext& call, const std::string& question, const Where& where, const OnText& on_text) override {
    FOOTNOTE_TRY(const Place place, find(call, where));
    const answer::Question asked{.workspace = parts_->base().workspace(),
                                 .corpus = place.corpus.id,
                                 .conversation = {},
                                 .text = question,
                                 .filter = place.filter,
                                 .profile = place.profile};
    TextListener listener(on_text);
    FOOTNOTE_TRY(const answer::TurnReport report, parts_->answers().answer(call, asked, listener));
    api::CitedTexts texts(call, parts_->base().chunks(), parts_->base().workspace());
    return api::render_kb_answer(report, place.corpus.name, texts);
  }

  Result<Json> search(const CallContext& call, const SearchWish& wish, const Where& where) override {
    FOOTNOTE_TRY(const Place place, find(call, where));
    retrieve::RetrieveOptions options{.profile = place.profile, .filter = place.filter};
    options.profile.top_k = wish.limit;
    options.prefix = wish.prefix;
    options.typos = wish.typos;
    FOOTNOTE_TRY(const auto retrieval, parts_->retriever().retrieve(call, place.corpus.id, wish.query, options));
    return api::render_retrieval(retrieval);
  }

 private:
  struct Place {
    Corpus corpus;
    Profile profile;
    Filter filter;
  };
  Result<Place> find(const CallContext& call, const Where& where) {
    const Json body = body_of(where, {});
    FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
    FOOTNOTE_TRY(api::AskedFilter asked, api::parse_asked_filter(reader));
    FOOTNOTE_TRY(retrieve::AskedCorpus found,
                 parts_->corpora().find(call, parts_->base().workspace(), asked.corpus_name.value_or(where.corpus), kAskProfile));
    return Place{std::move(found.corpus), found.profile, std::move(asked.filter)};
  }

  std::unique_ptr<AnswerParts> parts_;
};

}  // namespace

Result<Where> where_of(const std::string& corpus, const cli::FilterArguments& filters, const std::vector<std::string>& labels) {
  constexpr std::string_view kSingle[] = {"date_from", "date_to", "evidence_tier_min"};
  Where where{.corpus = corpus, .filters = {}, .labels = JsonArray(labels.begin(), labels.end())};
  for (const std::string& argument : filters) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) return fail(ErrorCode::kInvalidArgument, "--filter {}: NAME=VALUE is wanted", argument);
    const std::string name = argument.substr(0, equals);
    const std::string value = argument.substr(equals + 1);
    const auto id = name == "doc_ids" ? parse_whole_number(value) : std::nullopt;
    const Json entry = id ? Json(*id) : Json(value);
    if (std::ranges::find(kSingle, name) != std::end(kSingle)) {
      where.filters[name] = entry;
      continue;
    }
    Json& list = where.filters[name];
    if (!list.is_array()) list = JsonArray{};
    list.get_array().push_back(entry);
  }
  return where;
}

Result<std::unique_ptr<Backend>> open_backend(const cli::CommandContext& context) {
  FOOTNOTE_TRY(FolderAccess access, access_folder(context.settings, Missing::kRefuse));
  if (const auto* server = std::get_if<HeldByServer>(&access)) {
    return std::make_unique<RemoteBackend>(*server, context.settings.text(Setting::kWorkspace));
  }
  FOOTNOTE_TRY(auto parts, AnswerParts::open(context.call, context.settings, std::get<DataFolder>(std::move(access))));
  FOOTNOTE_CHECK(parts->base().build_indexes(context.call, context.terminal));
  return std::make_unique<LocalBackend>(std::move(parts));
}

}  // namespace footnote::app
