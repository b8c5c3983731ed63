#include <algorithm>
#include <iostream>
#include <map>

#include "app/answer_parts.h"
#include "app/commands.h"
#include "app/folder_access.h"
#include "base/sha256.h"
#include "base/text.h"
#include "bench/case.h"
#include "bench/indexes.h"
#include "cli/progress.h"
#include "cli/text_table.h"
#include "retrieve/retriever.h"

namespace footnote::app {
namespace {

namespace fs = std::filesystem;

/// A folder that is deleted with its contents on destruction.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make() {
    ScratchFolder out(fs::temp_directory_path() / ("footnote-bench-" + random_base62(12)));
    FOOTNOTE_CHECK(make_folders(out.path_));
    return out;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;

  const fs::path& path() const { return path_; }

 private:
  explicit ScratchFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

/// Runs every question through the whole retrieval of a data folder's corpus: embedding, both recalls, fusion and all configured stages.
class RetrieveBench {
 public:
  static Result<std::unique_ptr<RetrieveBench>> make(const cli::CommandContext& context, std::vector<std::string> questions) {
    FOOTNOTE_TRY(DataFolder folder, own_folder(context.settings, Missing::kRefuse));
    FOOTNOTE_TRY(auto parts, AnswerParts::open(context.call, context.settings, std::move(folder)));
    IngestParts& base = parts->base();
    FOOTNOTE_CHECK(base.build_indexes(context.call, context.terminal));
    FOOTNOTE_TRY(const auto corpora, base.catalog().corpora(context.call, base.workspace()));
    const auto corpus = std::ranges::find(corpora, context.settings.text(Setting::kCorpus), &Corpus::name);
    if (corpus == corpora.end()) {
      return fail(ErrorCode::kNotFound, "no corpus '{}' in the data folder; fill it first (--fill)",
                  context.settings.text(Setting::kCorpus));
    }
    base.index_files().save(context.call, *corpus, upkeep::IndexFiles::When::kInBackground);  // like a server after its first minute
    FOOTNOTE_TRY(const CorpusCounts counts, base.chunks().counts(context.call, corpus->id));
    return std::unique_ptr<RetrieveBench>(
        new RetrieveBench(std::move(parts), corpus->id, static_cast<std::size_t>(counts.chunks), std::move(questions)));
  }

  bench::BenchCase bench_case() {
    bench::BenchCase out{"retrieve.all", rows_, questions_.size(), {}, {}};
    out.run = [this](std::size_t question) -> Result<void> {
      FOOTNOTE_TRY(const auto found, parts_->retriever().retrieve({}, corpus_, questions_[question], {}));
      for (const auto& timing : found.timings) {
        stages_[to_string(timing.stage)].push_back(static_cast<double>(timing.took.count()));
        if (timing.stage == TurnStage::kFetch) ranked_.push_back(static_cast<double>(timing.start.count()));
      }
      return {};
    };
    out.more = [this]() -> Result<JsonObject> {
      const auto drop_warm_up = [](std::vector<double>& times) {
        times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(bench::kBenchWarmUp));
        std::ranges::sort(times);
      };
      JsonObject medians;
      for (auto& [stage, times] : stages_) {
        drop_warm_up(times);
        medians[stage] = bench::percentile(times, 0.5);
      }
      drop_warm_up(ranked_);
      JsonObject more{{"ranked_p50_us", bench::percentile(ranked_, 0.5)},
                      {"ranked_p99_us", bench::percentile(ranked_, 0.99)},
                      {"stages_p50_us", std::move(medians)}};
      stages_.clear();
      ranked_.clear();
      return more;
    };
    return out;
  }

 private:
  RetrieveBench(std::unique_ptr<AnswerParts> parts, CorpusId corpus, std::size_t rows, std::vector<std::string> questions)
      : parts_(std::move(parts)), corpus_(corpus), rows_(rows), questions_(std::move(questions)) {}

  const std::unique_ptr<AnswerParts> parts_;
  const CorpusId corpus_;
  const std::size_t rows_;
  const std::vector<std::string> questions_;
  std::map<std::string_view, std::vector<double>> stages_;
  std::vector<double> ranked_;  // From the start until texts are loaded.
};

std::string render_more(const JsonObject& more) {
  if (const Json* recall = more.if_contains("recall")) return fmt::format("recall {:.4f}", recall->to_number<double>());
  std::string out;
  if (const Json* stages = more.if_contains("stages_p50_us")) {
    for (const auto& [stage, time] : stages->get_object()) {
      out += fmt::format("{}{} {:.0f}", out.empty() ? "" : ", ", std::string_view(stage), time.to_number<double>());
    }
  }
  return out;
}

JsonObject to_json(const bench::IndexBuild& build) {
  return {{"build", build.index},
          {"rows", build.rows},
          {"build_seconds", build.build_seconds},
          {"save_seconds", build.save_seconds},
          {"load_seconds", build.load_seconds},
          {"file_bytes", build.file_bytes},
          {"resident_bytes", build.resident_bytes}};
}

JsonObject to_json(const bench::BenchCase& bench, const bench::BenchFigures& figures) {
  JsonObject out{{"case", bench.name},       {"rows", bench.rows},       {"queries", bench.queries},   {"runs", figures.runs},
                 {"p50_us", figures.p50_us}, {"p99_us", figures.p99_us}, {"mean_us", figures.mean_us}, {"cpu_us", figures.cpu_us}};
  for (const auto& [key, value] : figures.more) out[key] = value;
  return out;
}

void write_line(const JsonObject& object) { cli::write_out(to_text(object) + "\n"); }

/// All requested benchmarks, set up.
class IndexBench {
 public:
  static Result<IndexBench> make(const cli::CommandContext& context, const cli::BenchIndexCommand& command) {
    IndexBench out(context, command.seconds);
    FOOTNOTE_TRY(const ScratchFolder folder, ScratchFolder::make());
    if (!command.vectors.empty()) {
      FOOTNOTE_TRY(auto rows, bench::read_vectors(command.vectors, command.dimension, command.rows));
      FOOTNOTE_TRY(auto queries, bench::read_vectors(command.queries, command.dimension));
      FOOTNOTE_TRY(out.vectors_, bench::VectorBench::make(context.call, std::move(rows), std::move(queries), folder.path()));
      out.builds_.push_back(out.vectors_->build());
      std::ranges::move(out.vectors_->cases(), std::back_inserter(out.cases_));
    }
    if (!command.texts.empty()) {
      FOOTNOTE_TRY(const auto texts, bench::read_texts(command.texts, command.rows));
      FOOTNOTE_TRY(auto questions, bench::read_texts(command.questions));
      FOOTNOTE_TRY(out.keywords_, bench::KeywordBench::make(context.call, texts, std::move(questions), folder.path()));
      out.builds_.push_back(out.keywords_->build());
      std::ranges::move(out.keywords_->cases(), std::back_inserter(out.cases_));
    }
    if (command.retrieve) {
      FOOTNOTE_TRY(auto questions, bench::read_texts(command.questions));
      FOOTNOTE_TRY(out.retrieve_, RetrieveBench::make(context, std::move(questions)));
      out.cases_.push_back(out.retrieve_->bench_case());
    }
    return out;
  }

  /// Runs every case once.
  Result<void> run() const {
    const bool json = context_->form == cli::OutputForm::kJson;
    cli::TextTable builds({{"index"},
                           {"rows", cli::Align::kRight},
                           {"build", cli::Align::kRight},
                           {"save", cli::Align::kRight},
                           {"load", cli::Align::kRight},
                           {"file", cli::Align::kRight},
                           {"bytes/row", cli::Align::kRight},
                           {"resident/row", cli::Align::kRight}});
    for (const bench::IndexBuild& build : builds_) {
      if (json) write_line(to_json(build));
      const double rows = static_cast<double>(std::max<std::uint64_t>(1, build.rows));
      builds.add({build.index, fmt::format("{}", build.rows), fmt::format("{:.2f} s", build.build_seconds),
                  fmt::format("{:.2f} s", build.save_seconds), fmt::format("{:.3f} s", build.load_seconds), human_bytes(build.file_bytes),
                  fmt::format("{:.0f}", static_cast<double>(build.file_bytes) / rows),
                  fmt::format("{:.0f}", static_cast<double>(build.resident_bytes) / rows)});
    }
    if (!json && !builds_.empty()) cli::write_out(builds.render() + "\n");
    cli::TextTable table({{"case"},
                          {"rows", cli::Align::kRight},
                          {"p50 us", cli::Align::kRight},
                          {"p99 us", cli::Align::kRight},
                          {"cpu us", cli::Align::kRight},
                          {"runs", cli::Align::kRight},
                          {""}});
    for (const bench::BenchCase& bench : cases_) {
      FOOTNOTE_TRY(const bench::BenchFigures figures, bench::measure(bench, seconds_));
      if (json) write_line(to_json(bench, figures));
      table.add({bench.name, fmt::format("{}", bench.rows), fmt::format("{:.1f}", figures.p50_us), fmt::format("{:.1f}", figures.p99_us),
                 fmt::format("{:.1f}", figures.cpu_us), fmt::format("{}", figures.runs), render_more(figures.more)});
    }
    if (!json) cli::write_out(table.render());
    return {};
  }

  /// Runs the case named on each line of standard input, so that another process can alternate with this one.
  Result<void> run_paced() const {
    for (const bench::IndexBuild& build : builds_) write_line(to_json(build));
    JsonArray names;
    for (const bench::BenchCase& bench : cases_) names.emplace_back(bench.name);
    write_line({{"ready", std::move(names)}});
    std::string name;
    while (std::getline(std::cin, name)) {
      const auto bench = std::ranges::find(cases_, name, &bench::BenchCase::name);
      if (bench == cases_.end()) return fail(ErrorCode::kInvalidArgument, "no case '{}'", name);
      FOOTNOTE_TRY(const bench::BenchFigures figures, bench::measure(*bench, seconds_));
      write_line(to_json(*bench, figures));
    }
    return {};
  }

 private:
  IndexBench(const cli::CommandContext& context, double seconds) : context_(&context), seconds_(seconds) {}

  const cli::CommandContext* context_;
  double seconds_;
  std::unique_ptr<bench::VectorBench> vectors_;
  std::unique_ptr<bench::KeywordBench> keywords_;
  std::unique_ptr<RetrieveBench> retrieve_;
  std::vector<bench::IndexBuild> builds_;
  std::vector<bench::BenchCase> cases_;  // They borrow the three above.
};

/// Commits texts, with given vectors or embedded, directly to the empty corpus of a data folder, so that a start or a retrieval can be
/// measured on many chunks without reading and embedding them.
class CorpusFill {
 public:
  CorpusFill(const cli::CommandContext& context, IngestParts& parts) : context_(context), parts_(parts) {}

  /// Chunks with given vectors take their codes from that folder's corpus in order, wrapping around.
  Result<void> take_codes_of(const fs::path& path) {
    FOOTNOTE_TRY(DataFolder folder, DataFolder::open(path));
    FOOTNOTE_TRY(codes_from_, upkeep::Stores::open(context_.call, std::move(folder), context_.settings.text(Setting::kWorkspace)));
    FOOTNOTE_TRY(const Corpus corpus,
                 codes_from_->catalog().find_corpus(context_.call, codes_from_->workspace(), context_.settings.text(Setting::kCorpus)));
    codes_corpus_ = corpus.id;
    FOOTNOTE_TRY(codes_chunks_, codes_from_->chunks().chunk_ids(context_.call, corpus.id, 0, corpus.generation));
    if (codes_chunks_.empty()) return fail(ErrorCode::kNotFound, "the corpus in {} is empty", path.string());
    return {};
  }

  /// With more rows than texts, the texts repeat. Without vectors, the texts are embedded.
  Result<void> run(const std::vector<std::string>& texts, const bench::VectorRows& vectors, std::size_t rows) {
    const std::string& name = context_.settings.text(Setting::kCorpus);
    FOOTNOTE_TRY(const Corpus corpus, parts_.catalog().ensure_corpus(context_.call, parts_.workspace(), name, parts_.embedder().space()));
    if (corpus.generation != 0) {
      return fail(ErrorCode::kFailedPrecondition, "corpus '{}' is not empty; name another one (--corpus) or another folder (--data)", name);
    }
    FOOTNOTE_TRY(const Source source, parts_.catalog().ensure_source(context_.call, corpus.id, SourceKind::kText, ""));
    cli::ProgressBar bar = cli::progress_bar("chunks", context_.terminal);
    for (std::size_t begin = 0; begin < rows; begin += kCommitRows) {
      bar.update(begin, rows);
      const std::size_t end = std::min(rows, begin + kCommitRows);
      FOOTNOTE_TRY(auto chunks, vectors.count() > 0 ? given(texts, vectors, begin, end) : embedded(texts, begin, end));
      FOOTNOTE_CHECK(commit(corpus.id, source.id, begin, std::move(chunks)));
    }
    return {};
  }

 private:
  static constexpr std::size_t kCommitRows = 1000;  // Whole documents.
  static_assert(kCommitRows % bench::kRowsPerDocument == 0);

  static ChunkDraft draft_of(const std::string& text) {
    ChunkDraft out;
    out.text = text;
    out.source_type = "doc";
    out.content_hash = sha256_hex(text);
    return out;
  }

  Result<std::vector<ChunkDraft>> given(const std::vector<std::string>& texts, const bench::VectorRows& vectors, std::size_t begin,
                                        std::size_t end) {
    std::vector<ChunkDraft> out;
    std::vector<PassageCodes> codes(end - begin);
    if (codes_from_) {
      std::vector<ChunkId> ids;
      for (std::size_t row = begin; row < end; ++row) ids.push_back(codes_chunks_[row % codes_chunks_.size()]);
      FOOTNOTE_TRY(codes, codes_from_->chunks().passage_codes(context_.call, codes_corpus_, ids));
    }
    for (std::size_t row = begin; row < end; ++row) {
      out.push_back(draft_of(texts[row % texts.size()]));
      const auto values = vectors.row(row);
      out.back().vectors.emplace_back(values.begin(), values.end());
      out.back().codes = std::move(codes[row - begin]);
    }
    return out;
  }

  Result<std::vector<ChunkDraft>> embedded(const std::vector<std::string>& texts, std::size_t begin, std::size_t end) {
    std::vector<std::string_view> views;
    for (std::size_t row = begin; row < end; ++row) views.push_back(texts[row % texts.size()]);
    FOOTNOTE_TRY(const auto embeddings, parts_.embedder().embed(context_.call, views, {.codes = true}));
    std::vector<ChunkDraft> out;
    for (std::size_t i = 0; i < views.size(); ++i) {
      out.push_back(draft_of(std::string(views[i])));
      for (const WindowVector& window : embeddings[i].windows) out.back().vectors.push_back(window.values);
      out.back().codes = embeddings[i].passage_codes;
    }
    return out;
  }

  Result<void> commit(CorpusId corpus, SourceId source, std::size_t first_row, std::vector<ChunkDraft> chunks) {
    std::vector<DocumentDraft> drafts;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const std::size_t row = first_row + i;
      if (row % bench::kRowsPerDocument == 0) {
        DocumentDraft& draft = drafts.emplace_back();
        draft.key = fmt::format("{:08}.txt", row / bench::kRowsPerDocument);
        draft.source = source;
        draft.attributes.media_type = "text/plain";
        for (const bench::Tenant& tenant : bench::kTenants) {
          if (tenant.owns(row)) draft.attributes.tags.emplace_back(tenant.tag);
        }
      }
      DocumentDraft& draft = drafts.back();
      chunks[i].range = {draft.text.size(), draft.text.size() + chunks[i].text.size()};
      draft.text += chunks[i].text + "\n";
      draft.chunks.push_back(std::move(chunks[i]));
    }
    for (DocumentDraft& draft : drafts) draft.content_hash = sha256_hex(draft.text);
    FOOTNOTE_CHECK(parts_.chunks().commit(context_.call, corpus, drafts, {}));
    return {};
  }

  const cli::CommandContext& context_;
  IngestParts& parts_;
  std::unique_ptr<upkeep::Stores> codes_from_;
  CorpusId codes_corpus_;
  std::vector<ChunkId> codes_chunks_;
};

Result<int> run_fill(const cli::CommandContext& context, const cli::BenchIndexCommand& command) {
  FOOTNOTE_TRY(const auto texts, bench::read_texts(command.texts));
  bench::VectorRows vectors;
  if (!command.vectors.empty()) {
    FOOTNOTE_TRY(vectors, bench::read_vectors(command.vectors, command.dimension, command.rows));
  }
  const std::size_t rows = command.rows > 0 ? command.rows : vectors.count() > 0 ? vectors.count() : texts.size();
  FOOTNOTE_TRY(DataFolder folder, own_folder(context.settings, Missing::kCreate));
  FOOTNOTE_TRY(const auto parts, IngestParts::open(context.call, context.settings, std::move(folder)));
  CorpusFill fill(context, *parts);
  if (!command.codes.empty()) FOOTNOTE_CHECK(fill.take_codes_of(command.codes));
  FOOTNOTE_CHECK(fill.run(texts, vectors, rows));
  FOOTNOTE_CHECK(parts->build_indexes(context.call, context.terminal));
  parts->save_indexes(context.call, upkeep::IndexFiles::When::kAnythingChanged);
  parts->save_indexes(context.call, upkeep::IndexFiles::When::kInBackground);
  if (context.form == cli::OutputForm::kJson) {
    write_line({{"filled", rows}});
  } else {
    cli::write_out(fmt::format("corpus {}: {} chunks\n", context.settings.text(Setting::kCorpus), rows));
  }
  return cli::kExitOk;
}

Result<void> check(const cli::BenchIndexCommand& command) {
  const auto need = [](bool given, std::string_view what) -> Result<void> {
    if (given) return {};
    return fail(ErrorCode::kInvalidArgument, "{} is missing; `footnote bench index --help` shows examples", what);
  };
  if (command.fill) return need(!command.texts.empty(), "--texts");
  FOOTNOTE_CHECK(need(!command.vectors.empty() || !command.texts.empty() || command.retrieve, "--vectors, --texts or --retrieve"));
  FOOTNOTE_CHECK(need(command.vectors.empty() || !command.queries.empty(), "--queries"));
  return need((command.texts.empty() && !command.retrieve) || !command.questions.empty(), "--questions");
}

}  // namespace

Result<int> run_bench_index(const cli::CommandContext& context, const cli::BenchIndexCommand& command) {
  FOOTNOTE_CHECK(check(command));
  if (command.fill) return run_fill(context, command);
  FOOTNOTE_TRY(const IndexBench bench, IndexBench::make(context, command));
  FOOTNOTE_CHECK(command.paced ? bench.run_paced() : bench.run());
  return cli::kExitOk;
}

}  // namespace footnote::app
