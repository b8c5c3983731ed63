#include "api/grounded_chat.h"

#include "answer/marker_scan.h"
#include "api/error_mapping.h"
#include "api/upstream_answer.h"
#include "base/utf8.h"

namespace footnote::api {

namespace {

/// The prepared chat, and the request for the upstream.
struct Prepared {
  JsonObject body;
  proxy::ChatPlan plan;
  std::unique_ptr<answer::RelayedTurn> turn;  ///< Null: not recorded.
};

Result<Prepared> prepare(const GroundedChat& chat) {
  const auto began = std::chrono::steady_clock::now();
  FOOTNOTE_TRY(const std::string question, question_of(chat.ask.body));
  Prepared out{.body = chat.ask.body, .plan = {}, .turn = {}};
  FOOTNOTE_TRY(out.plan, chat.services.chats.plan(chat.call, chat.caller.workspace, chat.target, question));
  if (out.plan.kind == proxy::ChatPlan::Kind::kGround) out.body["messages"] = grounded_messages(chat.ask.body, out.plan.prompt);
  if (out.plan.own) {
    out.turn = chat.services.turns.begin(chat.call,
                                         {.workspace = chat.caller.workspace,
                                          .corpus = out.plan.own->corpus,
                                          .text = std::string(proxy::searchable(question)),
                                          .profile = out.plan.own->profile,
                                          .retrieval = std::move(out.plan.own->retrieval),
                                          .given = std::move(out.plan.own->given)},
                                         began);
  }
  return out;
}

/// Sends an answer made by this program as chunks.
class OwnChunks {
 public:
  OwnChunks(ChunkSink& sink, std::string_view model) : sink_(sink), head_(fresh_chunk_head(model)) {}

  Result<void> text(std::string_view text) {
    JsonObject delta;
    if (!std::exchange(started_, true)) delta["role"] = "assistant";
    delta["content"] = text;
    return sink_.take(render_chunk(head_, std::move(delta)));
  }

  struct End {
    JsonArray annotations = {};
    JsonObject footnote = {};
    TokenCounts tokens = {};
  };
  Result<void> finish(End end, bool with_usage) {
    if (!end.annotations.empty()) {
      FOOTNOTE_CHECK(sink_.take(render_chunk(head_, JsonObject{{"annotations", std::move(end.annotations)}})));
    }
    JsonObject last = render_chunk(head_, JsonObject{}, "stop");
    if (!end.footnote.empty()) last["footnote"] = std::move(end.footnote);
    FOOTNOTE_CHECK(sink_.take(last));
    if (with_usage) {
      JsonObject usage = render_chunk(head_, JsonObject{});
      usage["choices"] = JsonArray{};
      usage["usage"] = JsonObject{{"prompt_tokens", end.tokens.prompt},
                                  {"completion_tokens", end.tokens.completion},
                                  {"total_tokens", end.tokens.prompt + end.tokens.completion}};
      FOOTNOTE_CHECK(sink_.take(usage));
    }
    return sink_.finish();
  }

 private:
  ChunkSink& sink_;
  const ChunkHead head_;
  bool started_ = false;
};

/// Whole responses always include usage; streams only on request.
bool wants_usage(const ChatAsk& ask) { return !ask.stream || ask.include_usage; }

void refuse(const GroundedChat& chat, const Prepared& prepared, ChunkSink& sink) {
  const Refusal& refusal = prepared.plan.refusal;
  OwnChunks::End end{.footnote = {{"refusal_reason", to_string(refusal.reason)}}};
  if (prepared.turn) {
    prepared.turn->refuse(refusal.reason, refusal.text);
    if (!prepared.turn->id().empty()) end.footnote["turn_id"] = prepared.turn->id();
  }
  OwnChunks chunks(sink, chat.ask.model);
  // An error here means that the client disconnected.
  if (!chunks.text(refusal.text)) return;
  (void)chunks.finish(std::move(end), wants_usage(chat.ask));
}

/// Sends a turn answered by this program as chunks. A streamed text cannot be taken back: a notice follows it, and then the answer. A
/// whole answer waits for the end.
class TurnChunks final : public answer::TurnListener {
 public:
  TurnChunks(ChunkSink& sink, const ChatAsk& ask) : chunks_(sink, ask.model), is_streamed_(ask.stream) {}

  Result<void> on_start(const TurnId&) override { return {}; }
  Result<void> on_sources(std::span<const SourceBlock> sources) override {
    for (const SourceBlock& block : sources) {
      const Hit& hit = block.hit;
      sources_.push_back({hit.document.url.empty() ? hit.document_key : hit.document.url, hit.document.title, {}});
    }
    return {};
  }
  Result<void> on_text(std::string_view text) override {
    text_ += text;
    return is_streamed_ ? chunks_.text(text) : Result<void>{};
  }
  Result<void> on_withdraw(const answer::Withdrawal& withdrawal) override {
    sources_.clear();
    if (is_streamed_) FOOTNOTE_CHECK(on_text(fmt::format("\n\n{}\n\n", withdrawal.notice)));
    if (!is_streamed_) text_.clear();
    answer_begin_ = text_.size();
    return {};
  }

  Result<void> finish(const answer::TurnReport& report, bool with_usage) {
    OwnChunks::End end{.tokens = report.tokens.value_or(TokenCounts{})};
    end.footnote["turn_id"] = report.turn.id.value;
    if (report.fallback) {
      end.footnote["fallback"] = answer::to_string(*report.fallback);
      end.footnote["answer_start"] = count_code_points(std::string_view(text_).substr(0, answer_begin_));
    }
    if (!is_streamed_ && !text_.empty()) FOOTNOTE_CHECK(chunks_.text(text_));
    if (const auto* refusal = std::get_if<Refusal>(&report.turn.outcome)) {
      FOOTNOTE_CHECK(chunks_.text(refusal->text));
      end.footnote["refusal_reason"] = to_string(refusal->reason);
    } else if (std::holds_alternative<Answer>(report.turn.outcome)) {
      end.annotations = annotations();
    }
    return chunks_.finish(std::move(end), with_usage);
  }

 private:
  /// Of the answer; a withdrawn text has none.
  JsonArray annotations() const {
    answer::MarkerScan scan(sources_.size());
    scan.feed(text_);
    std::vector<answer::MarkerScan::Mark> marks = scan.marks();
    std::erase_if(marks, [&](const auto& mark) { return mark.byte_begin < answer_begin_; });
    return render_annotations(marks, sources_);
  }

  OwnChunks chunks_;
  const bool is_streamed_;
  std::string text_;
  std::size_t answer_begin_ = 0;  // bytes of text_
  std::vector<proxy::Source> sources_;
};

Result<void> answer_here(const GroundedChat& chat, ChunkSink& sink) {
  FOOTNOTE_TRY(const std::string question, question_of(chat.ask.body));
  const ProxyServices& services = chat.services;
  FOOTNOTE_TRY(const retrieve::AskedCorpus found,
               services.corpora.find(chat.call, chat.caller.workspace, chat.target.corpus, kKnowledgeBaseProfile));
  const answer::Question asked{.workspace = chat.caller.workspace, .corpus = found.corpus.id, .text = question, .profile = found.profile};
  TurnChunks turn(sink, chat.ask);
  FOOTNOTE_TRY(const auto report, services.answers.answer(chat.call, asked, turn));
  (void)turn.finish(report, wants_usage(chat.ask));  // on error the client disconnected; the turn is stored
  return {};
}

/// Requests usage if the client did, and always for a collecting sink.
void ask_for_stream(JsonObject& body, const ChatAsk& ask) {
  body["stream"] = true;
  if (!wants_usage(ask)) return;
  Json& options = body["stream_options"];
  if (!options.is_object()) options = JsonObject{};
  options.get_object()["include_usage"] = true;
}

AnswerForm form_of(const GroundedChat& chat, Prepared& prepared) {
  const Json* choices = chat.ask.body.if_contains("n");
  return {.model = chat.ask.model,
          .sources = std::move(prepared.plan.sources),
          .unspoken = chat.target.system,
          .is_one_choice = choices == nullptr || choices->is_null() || *choices == 1};
}

std::unique_ptr<UpstreamAsk> make_ask(const GroundedChat& chat, JsonObject body, std::unique_ptr<AnswerReader> reader) {
  return std::make_unique<UpstreamAsk>(
      upstream_request(*chat.services.upstream, chat.caller, chat.request, "/chat/completions", {}, AnswerUse::kRead), std::move(body),
      chat.target.fallback, std::move(reader));
}

}  // namespace

Error no_such_model(std::string_view model) {
  return {
      ErrorCode::kNotFound,
      fmt::format("the model '{}' does not exist: no model server is configured (LLM_BASE_URL or LITELLM_BASE); rag/{} answers without one",
                  model, proxy::kBuiltInName),
      {}};
}

void answer_chunks(const GroundedChat& chat, std::unique_ptr<ChunkSink> sink, http::ResponseStream& response) {
  if (chat.target.kind == proxy::Target::Kind::kBuiltIn) {
    if (const auto answered = answer_here(chat, *sink); !answered) send_error(*sink, answered.error());
    return;
  }
  if (!chat.services.upstream) return send_error(*sink, no_such_model(chat.ask.model));
  auto prepared = prepare(chat);
  if (!prepared) return send_error(*sink, prepared.error());
  if (prepared->plan.kind == proxy::ChatPlan::Kind::kRefuse) return refuse(chat, *prepared, *sink);
  ask_for_stream(prepared->body, chat.ask);
  http::Client& client = chat.services.upstream->client;
  auto ask = make_ask(chat, std::move(prepared->body),
                      read_chunks(form_of(chat, *prepared), RelayedTurnTap(std::move(prepared->turn)), std::move(sink)));
  http::ClientRequest request = ask->request_for(chat.target.model);
  if (chat.ask.stream) return response.relay(client, std::move(request), std::move(ask));
  http::run_relay(chat.call, client, std::move(request), *ask);
}

void answer_whole(const GroundedChat& chat, http::ResponseStream& response) {
  if (!chat.services.upstream) return response.reply(render_openai_error(no_such_model(chat.ask.model)));
  auto prepared = prepare(chat);
  if (!prepared) return response.reply(render_openai_error(prepared.error()));
  if (prepared->plan.kind == proxy::ChatPlan::Kind::kRefuse) {
    WholeCompletion sink(response);
    return refuse(chat, *prepared, sink);
  }
  const auto ask = make_ask(chat, std::move(prepared->body),
                            read_completion(form_of(chat, *prepared), RelayedTurnTap(std::move(prepared->turn)), response));
  http::run_relay(chat.call, chat.services.upstream->client, ask->request_for(chat.target.model), *ask);
}

}  // namespace footnote::api
