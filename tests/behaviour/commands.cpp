#include "commands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "base/text.h"
#include "proxied_chat.h"
#include "render.h"
#include "visitor_world.h"

namespace footnote::behaviour {

namespace {

/// A running scenario: the world, and the results of the last commands.
struct Stage {
  VisitorWorld site;
  World& world = site.world;
  proxy::Policy proxy_rules = {};
  ingest::IngestReport ingest;
  std::vector<std::string> events;
  double confidence = 0;  // of the last answer
  double evidence = 0;    // of its sources
  std::string out;
};

/// The words after a command's name. Each accessor fails with a message that says what was expected.
class Words {
 public:
  explicit Words(const std::vector<std::string>& words) : words_(words) {}

  bool is(std::size_t i, std::string_view word) const { return i < words_.size() && words_[i] == word; }
  Result<std::string> text(std::size_t i) const {
    if (i >= words_.size()) return fail(ErrorCode::kInvalidArgument, "a word is missing");
    return words_[i];
  }
  Result<std::size_t> number(std::size_t i) const {
    FOOTNOTE_TRY(const std::string word, text(i));
    std::size_t value = 0;
    const char* end = word.data() + word.size();
    if (std::from_chars(word.data(), end, value).ptr != end) return fail(ErrorCode::kInvalidArgument, "'{}' is not a number", word);
    return value;
  }
  Result<ErrorCode> code(std::size_t i) const {
    FOOTNOTE_TRY(const std::string word, text(i));
    for (ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kResourceExhausted, ErrorCode::kInvalidArgument, ErrorCode::kInternal,
                           ErrorCode::kUnauthenticated, ErrorCode::kDeadlineExceeded}) {
      if (word == to_string(code)) return code;
    }
    return fail(ErrorCode::kInvalidArgument, "'{}' is not an error code", word);
  }

 private:
  const std::vector<std::string>& words_;
};

std::unexpected<Error> unknown() { return fail(ErrorCode::kInvalidArgument, "not a form of this command"); }

Result<void> document(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string key, words.text(1));
  FOOTNOTE_TRY(const std::string content, words.text(2));
  std::string url;
  if (words.is(3, "at")) {
    FOOTNOTE_TRY(url, words.text(4));
  }
  stage.ingest = stage.world.put_document(key, content, url);
  return {};
}

Result<void> delete_document(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string key, words.text(1));
  stage.ingest = stage.world.delete_document(key);
  return {};
}

Result<void> corpus(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string name, words.text(1));
  stage.world.use_corpus(name);
  return {};
}

Result<void> profile(Stage& stage, const Words& words) {
  if (!words.is(1, "kb") && !words.is(1, "ask")) return unknown();
  stage.world.profile = words.is(1, "kb") ? kKnowledgeBaseProfile : kAskProfile;
  return {};
}

Result<void> chunks(Stage& stage, const Words& words) {
  if (!words.is(1, "of") || !words.is(3, "bytes")) return unknown();
  FOOTNOTE_TRY(const std::size_t bytes, words.number(2));
  stage.world.chunking = {.target_bytes = bytes, .max_bytes = 2 * bytes, .overlap_bytes_max = 0};
  return {};
}

Result<void> top_k(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(stage.world.profile.top_k, words.number(1));
  return {};
}

Result<void> per_document(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(stage.world.profile.per_document_max, words.number(1));
  return {};
}

Result<void> no(Stage& stage, const Words& words) {
  if (!words.is(1, "llm")) return unknown();
  stage.world.has_llm = false;
  return {};
}

Result<void> llm_says(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string text, words.text(2));
  std::vector<std::string> pieces;
  for (std::string_view piece : split(text, '|')) pieces.emplace_back(piece);
  stage.world.llm.say(std::move(pieces));
  return {};
}

Result<void> llm(Stage& stage, const Words& words) {
  stage.world.has_llm = true;
  if (words.is(1, "says")) return llm_says(stage, words);
  if (words.is(1, "fails") && words.is(3, "after")) {
    FOOTNOTE_TRY(const ErrorCode code, words.code(2));
    FOOTNOTE_TRY(const std::size_t pieces, words.number(4));
    stage.world.llm.fail_after(pieces, code);
    return {};
  }
  if (words.is(1, "hangs") && words.is(2, "after")) {
    FOOTNOTE_TRY(const std::size_t pieces, words.number(3));
    stage.world.llm.hang_after(pieces);
    return {};
  }
  return unknown();
}

/// rewriter says TEXT | fails CODE | hangs
Result<void> rewriter(Stage& stage, const Words& words) {
  stage.site.has_rewriter = true;
  if (words.is(1, "says")) {
    FOOTNOTE_TRY(const std::string text, words.text(2));
    stage.site.rewriter.say({text});
  } else if (words.is(1, "fails")) {
    FOOTNOTE_TRY(const ErrorCode code, words.code(2));
    stage.site.rewriter.fail_after(0, code);
  } else if (words.is(1, "hangs")) {
    stage.site.rewriter.say({});
    stage.site.rewriter.hang_after(0);
  } else {
    return unknown();
  }
  return {};
}

Result<void> client(Stage& stage, const Words& words) {
  if (words.is(1, "stays")) {
    stage.world.client = {};
    stage.site.stops_after.reset();
    return {};
  }
  if (!words.is(2, "after")) return unknown();
  FOOTNOTE_TRY(const std::size_t texts, words.number(3));
  if (words.is(1, "leaves")) {
    stage.world.client.leaves_after = texts;
  } else if (words.is(1, "stops")) {
    stage.world.client.stops_after = texts;
    stage.site.stops_after = texts;
  } else {
    return unknown();
  }
  return {};
}

Result<void> fails(fakes::Faults& faults, const Words& words) {
  if (words.is(1, "works")) {
    faults.heal();
    return {};
  }
  if (!words.is(1, "fails")) return unknown();
  FOOTNOTE_TRY(const ErrorCode code, words.code(2));
  faults.fail_after(0, code);
  return {};
}

Result<void> check(Stage& stage, const Words& words) {
  using enum answer::CheckPolicy;
  for (const answer::CheckPolicy policy : {kOff, kMark, kDrop, kStop}) {
    if (!words.is(1, answer::to_string(policy))) continue;
    stage.world.check = policy;
    return {};
  }
  return unknown();
}

Result<void> reranker(Stage& stage, const Words& words) { return fails(stage.world.reranker.faults(), words); }
Result<void> store(Stage& stage, const Words& words) { return fails(stage.world.store.finish_turn_faults(), words); }
Result<void> embedder(Stage& stage, const Words& words) {
  if (!words.is(1, "speaks")) return fails(stage.world.embedder.faults(), words);
  FOOTNOTE_TRY(const std::string language, words.text(2));
  stage.world.embedder.speak({language});
  return {};
}
Result<void> reader(Stage& stage, const Words& words) { return fails(stage.world.reader.faults(), words); }

Result<void> synonym(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string word, words.text(1));
  FOOTNOTE_TRY(const std::string same_as, words.text(2));
  stage.world.embedder.add_synonym(word, same_as);
  return {};
}

Result<void> wait(Stage& stage, const Words& words) {
  if (!words.is(2, "minutes")) return unknown();
  FOOTNOTE_TRY(const std::size_t minutes, words.number(1));
  stage.world.clock.advance(std::chrono::minutes{static_cast<long>(minutes)});
  return {};
}

Result<void> purge(Stage& stage, const Words&) {
  stage.out += fmt::format("purged up to generation {}\n", stage.world.purge());
  return {};
}

/// "text", or "text" times N.
Result<std::string> question_of(const Words& words) {
  FOOTNOTE_TRY(const std::string once, words.text(1));
  if (!words.is(2, "times")) return once;
  FOOTNOTE_TRY(const std::size_t times, words.number(3));
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += once;
  return out;
}

Result<void> ask(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string question, question_of(words));
  const Asked asked = stage.world.ask(question);
  stage.events = asked.events;
  const auto* answer = asked.report ? std::get_if<Answer>(&asked.report->turn.outcome) : nullptr;
  stage.confidence = answer == nullptr ? 0 : answer->confidence;
  stage.evidence = answer == nullptr ? 0 : asked.report->retrieval.gate.confidence;
  stage.out += render(asked, stage.world);
  return {};
}

/// proxy passes | refuses | neighbours N | sources N
Result<void> proxy_policy(Stage& stage, const Words& words) {
  if (words.is(1, "neighbours") || words.is(1, "sources")) {
    FOOTNOTE_TRY((words.is(1, "sources") ? stage.proxy_rules.sources_max : stage.proxy_rules.top_k), words.number(2));
    return {};
  }
  if (!words.is(1, "passes") && !words.is(1, "refuses")) return unknown();
  stage.proxy_rules.no_hits = words.is(1, "refuses") ? proxy::NoHits::kRefuse : proxy::NoHits::kPass;
  return {};
}

Result<void> relay(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string question, question_of(words));
  stage.out += run_proxied_chat(stage.world, stage.proxy_rules, question);
  return {};
}

/// agent avoids TOPIC | max_chars N | threshold PERCENT | speaks LANGUAGE | prompt TEXT | searches CORPUS...
Result<void> agent(Stage& stage, const Words& words) {
  AgentSettings& settings = stage.site.settings;
  FOOTNOTE_TRY(const std::string value, words.text(2));
  if (words.is(1, "avoids")) {
    settings.guardrails.avoid.push_back(value);
  } else if (words.is(1, "max_chars")) {
    FOOTNOTE_TRY(settings.guardrails.max_chars, words.number(2));
  } else if (words.is(1, "threshold")) {
    FOOTNOTE_TRY(const std::size_t percent, words.number(2));
    settings.confidence_threshold = static_cast<double>(percent) / 100;
  } else if (words.is(1, "speaks")) {
    settings.language_default = value;
  } else if (words.is(1, "prompt")) {
    settings.system_prompt = value;
  } else if (words.is(1, "searches")) {
    settings.corpora.clear();
    for (std::size_t i = 2; words.text(i); ++i)
      settings.corpora.push_back(
          stage.world.store.ensure_corpus({}, stage.world.workspace(), *words.text(i), stage.world.embedder.space())->id);
    stage.site.corpora = settings.corpora;
  } else {
    return unknown();
  }
  return {};
}

/// curated PATTERNS ANSWER [priority N] [on PAGE]
Result<void> curated(Stage& stage, const Words& words) {
  CuratedAnswer answer;
  FOOTNOTE_TRY(answer.pattern, words.text(1));
  FOOTNOTE_TRY(answer.answer, words.text(2));
  if (words.is(3, "priority")) {
    FOOTNOTE_TRY(const std::size_t priority, words.number(4));
    answer.priority = static_cast<std::int64_t>(priority);
  } else if (words.is(3, "on")) {
    FOOTNOTE_TRY(answer.page_url_prefix, words.text(4));
  }
  stage.site.add_curated(std::move(answer));
  return {};
}

/// page URL [TITLE TEXT]: the visitor is on this page; title and text are what the widget read there.
Result<void> page(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(stage.site.page_url, words.text(1));
  stage.site.page.reset();
  const auto title = words.text(2);
  const auto text = words.text(3);
  if (title && text) stage.site.page = answer::PageContext{.title = *title, .visible_text = *text};
  return {};
}

Result<void> locale(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(stage.site.locale, words.text(1));
  return {};
}

Result<void> accept_language(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(stage.site.accept_language, words.text(1));
  return {};
}

/// playground: the owner tests the draft; "playground over" ends it.
Result<void> playground(Stage& stage, const Words& words) {
  stage.site.playground = !words.is(1, "over");
  return {};
}

/// vote up | down [REASON], on the last turn.
Result<void> vote(Stage& stage, const Words& words) {
  const std::vector<Turn> turns = stage.world.store.all_turns();
  if (turns.empty() || (!words.is(1, "up") && !words.is(1, "down"))) return unknown();
  const Feedback feedback{words.is(1, "up") ? Rating::kUp : Rating::kDown, words.text(2).value_or("")};
  return stage.world.store.rate_turn({}, stage.world.workspace(), {"vis_1"}, turns.back().id, feedback);
}

/// webhook EVENT...
Result<void> webhook(Stage& stage, const Words& words) {
  WebhookEndpoint endpoint{.workspace = stage.world.workspace(), .url = "https://hooks.example/", .events = {}};
  for (std::size_t i = 1; words.text(i); ++i) endpoint.events.push_back(*words.text(i));
  FOOTNOTE_CHECK(stage.site.webhooks.add_endpoint({}, endpoint));
  return {};
}

Result<void> index(Stage& stage, const Words& words) {
  const auto searched = words.is(0, "vectors") ? &stage.world.vectors.faults() : &stage.world.keywords.faults();
  return fails(*searched, words);
}

Result<void> visit(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string question, question_of(words));
  const Visited visited = stage.site.ask(question);
  stage.events = visited.events;
  stage.out += render(visited);
  return {};
}

Result<void> search(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string question, question_of(words));
  const auto retrieval = stage.world.search(question);
  stage.out += retrieval ? render(*retrieval) : fmt::format("error {}\n", to_string(retrieval.error().code));
  return {};
}

Result<void> show(Stage& stage, const Words& words) {
  if (words.is(1, "ingest")) {
    stage.out += render(stage.ingest);
  } else if (words.is(1, "events")) {
    for (const std::string& event : stage.events) stage.out += "event " + event + "\n";
  } else if (words.is(1, "turns")) {
    const std::vector<Turn> turns = stage.world.store.all_turns();
    for (const Turn& turn : turns) stage.out += render(turn);
    if (turns.empty()) stage.out += "no turns\n";
  } else if (words.is(1, "gaps")) {
    for (const Gap& gap : stage.world.gaps()) stage.out += fmt::format("gap {} x{}\n", in_quotes(gap.question), gap.occurrences);
  } else if (words.is(1, "confidence")) {
    stage.out += fmt::format("confidence {:.2f} of {:.2f}\n", stage.confidence, stage.evidence);
  } else if (words.is(1, "site")) {
    stage.out += render_site(stage.site);
  } else {
    return unknown();
  }
  return {};
}

Result<void> prompt(Stage& stage, const Words& words) {
  FOOTNOTE_TRY(const std::string text, words.text(2));
  const bool found = stage.world.last_prompt().find(text) != std::string::npos;
  if (!words.is(1, "contains") && !words.is(1, "hides")) return unknown();
  const bool holds = found == words.is(1, "contains");
  FOOTNOTE_TRY(const std::string verb, words.text(1));
  stage.out += fmt::format("{}prompt {} {}\n", holds ? "" : "FALSE: ", verb, in_quotes(text));
  return {};
}

using Handler = Result<void> (*)(Stage&, const Words&);

constexpr std::array<std::pair<std::string_view, Handler>, 36> kCommands = {{{"document", document},
                                                                             {"delete", delete_document},
                                                                             {"corpus", corpus},
                                                                             {"profile", profile},
                                                                             {"chunks", chunks},
                                                                             {"top_k", top_k},
                                                                             {"per_document", per_document},
                                                                             {"no", no},
                                                                             {"llm", llm},
                                                                             {"rewriter", rewriter},
                                                                             {"client", client},
                                                                             {"store", store},
                                                                             {"embedder", embedder},
                                                                             {"reader", reader},
                                                                             {"synonym", synonym},
                                                                             {"wait", wait},
                                                                             {"purge", purge},
                                                                             {"check", check},
                                                                             {"reranker", reranker},
                                                                             {"ask", ask},
                                                                             {"proxy", proxy_policy},
                                                                             {"relay", relay},
                                                                             {"search", search},
                                                                             {"show", show},
                                                                             {"prompt", prompt},
                                                                             {"agent", agent},
                                                                             {"curated", curated},
                                                                             {"page", page},
                                                                             {"locale", locale},
                                                                             {"accept_language", accept_language},
                                                                             {"playground", playground},
                                                                             {"vote", vote},
                                                                             {"webhook", webhook},
                                                                             {"vectors", index},
                                                                             {"keywords", index},
                                                                             {"visit", visit}}};

Result<void> run_one(Stage& stage, const Command& command) {
  const auto found = std::ranges::find(kCommands, command.words.at(0), &std::pair<std::string_view, Handler>::first);
  if (found == kCommands.end()) return fail(ErrorCode::kInvalidArgument, "unknown command '{}'", command.words[0]);
  return found->second(stage, Words(command.words));
}

}  // namespace

Result<std::string> run(const Scenario& scenario) {
  Stage stage;
  for (const Command& command : scenario.commands) {
    if (auto done = run_one(stage, command); !done) return with_context(done.error(), fmt::format("line {}", command.line));
  }
  return stage.out;
}

}  // namespace footnote::behaviour
