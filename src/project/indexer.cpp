#include "project/indexer.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "code/graph.h"
#include "ingest/committer.h"
#include "ingest/secret_filter.h"

namespace footnote::project {
namespace {

using ingest::Prepared;
using ingest::ProblemKind;

constexpr std::size_t kDocumentsPage = 1'000;

std::string hash_of_file(std::string_view bytes) {
  return fmt::format("{}-c{}-s{}", sha256_hex(bytes), code::kCodeVersion, ingest::kSecretRulesVersion);
}

chunk::Piece piece_of(const code::Unit& unit, std::string_view text) {
  chunk::Piece out;
  out.text = unit.range.size() == 0 ? unit.own_text : std::string(text.substr(unit.range.begin, unit.range.size()));
  if (!unit.header.empty()) out.heading_path = {unit.header};
  out.symbol = unit.part > 1 ? fmt::format("{} (part {})", unit.symbol, unit.part) : unit.symbol;
  out.source_type = to_string(unit.type);
  out.content_hash = code::chunk_hash(chunk::embedding_text(out));
  out.range = unit.range;
  out.first_line = unit.first_line;
  out.last_line = unit.last_line;
  return out;
}

bool is_migration_path(std::string_view path) { return path.ends_with(".php") && path.find("migrations/") != std::string_view::npos; }

/// One run over a folder or a file.
class Run {
 public:
  Run(const CallContext& call, const Indexer::Ports& ports, ingest::Secrets secrets, const Corpus& corpus, SourceId source)
      : call_(call),
        ports_(ports),
        secrets_(secrets),
        corpus_(corpus),
        source_(source),
        committer_(call_, corpus_, ports.chunks, ports.embedder, ports.sync, no_progress_) {}

  Result<void> add_file(const ingest::WalkResult& walked, const ingest::FoundFile& file) {
    FOOTNOTE_CHECK(call_.check());
    const code::Detected detected = code::detect(file.key);
    if (detected.language == code::Language::kNone) return {};
    auto bytes = ingest::read_found(walked, file);
    if (!bytes) {
      add_problem({file.key, bytes.error().message, ProblemKind::kProblem});
      return {};
    }
    ++report_.files;
    languages_[std::string(to_string(detected.language))] += bytes->size();
    note_framework(file.key, *bytes);
    const std::string hash = hash_of_file(*bytes);
    FOOTNOTE_TRY(const auto live, ports_.chunks.find_document(call_, corpus_.id, file.key));
    const bool unchanged = live && live->content_hash == hash;
    if (unchanged) ++report_.unchanged;
    if (unchanged && !is_migration_path(file.key)) return {};
    return add_content(file.key, *bytes, hash, live.has_value(), unchanged);
  }

  Result<void> remove(const std::vector<std::string>& keys) {
    report_.deleted += keys.size();
    return committer_.remove(keys);
  }

  /// The schema after all migrations: one document per table.
  Result<void> add_tables() {
    std::vector<std::string> paths;
    const auto units = code::table_units(migrations_, paths);
    std::set<std::string> present;
    for (std::size_t i = 0; i < units.size(); ++i) {
      Prepared out;
      out.state = Prepared::State::kReady;
      out.key = std::string(kTablesPrefix) + units[i].symbol;
      out.source = source_;
      out.document.text = units[i].own_text;
      out.document.attributes.title = units[i].header;
      out.document.attributes.media_type = "text/plain";
      out.pieces.push_back(piece_of(units[i], {}));
      out.pieces.back().range = {0, units[i].own_text.size()};
      out.content_hash = hash_of_file(out.pieces.back().content_hash + paths[i]);
      present.insert(out.key);
      FOOTNOTE_TRY(const auto live, ports_.chunks.find_document(call_, corpus_.id, out.key));
      if (live && live->content_hash == out.content_hash) continue;
      out.is_update = live.has_value();
      FOOTNOTE_CHECK(committer_.add(std::move(out)));
    }
    report_.tables = units.size();
    return remove_others(kTablesPrefix, present, {});
  }

  /// Deletes documents with that prefix that are neither present nor unknown.
  Result<void> remove_others(std::string_view prefix, const std::set<std::string>& present, const std::vector<std::string>& unknown) {
    std::vector<std::string> gone;
    std::string after;
    while (true) {
      FOOTNOTE_TRY(const auto page, ports_.chunks.documents(call_, corpus_.id, after, kDocumentsPage));
      for (const Document& document : page) {
        const bool is_table = document.key.starts_with(kTablesPrefix);
        if (is_table != (prefix == kTablesPrefix) || present.contains(document.key)) continue;
        const auto covers = [&](const std::string& folder) {
          return folder.empty() || document.key == folder || document.key.starts_with(folder + "/");
        };
        if (std::ranges::none_of(unknown, covers)) gone.push_back(document.key);
      }
      if (page.size() < kDocumentsPage) break;
      after = page.back().key;
    }
    return gone.empty() ? Result<void>{} : remove(gone);
  }

  Result<IndexReport> finish() {
    FOOTNOTE_TRY(const ingest::IngestReport done, committer_.finish());
    report_.chunks = done.chunks;
    report_.embedded = done.embedded_chunks;
    report_.reused = done.reused_chunks;
    report_.secret_chunks = done.secret_passages;
    for (const ingest::Problem& problem : done.problems) add_problem(problem);
    std::size_t most = 0;
    for (const auto& [language, bytes] : languages_) {
      const bool is_data = language == "json" || language == "yaml" || language == "markdown";
      if (is_data || bytes <= most) continue;
      most = bytes;
      report_.language = language;
    }
    return std::move(report_);
  }

  void add_problem(ingest::Problem problem) {
    if (problem.kind == ProblemKind::kIgnored) return;
    if (report_.problems.size() < kProblemsNamedMax) {
      report_.problems.push_back(std::move(problem));
    } else {
      ++report_.problems_left_out;
    }
  }

 private:
  void note_framework(std::string_view path, std::string_view bytes) {
    if (path == "composer.json" && bytes.find("\"laravel/framework\"") != std::string_view::npos) report_.framework = "laravel";
    if (path != "package.json" || !report_.framework.empty()) return;
    for (const std::string_view name : {"next", "nuxt", "vue", "react", "svelte", "express"}) {
      if (bytes.find("\"" + std::string(name) + "\":") != std::string_view::npos) {
        report_.framework = name;
        return;
      }
    }
  }

  /// `known`: the file is a migration that did not change; only what it does to the schema is wanted.
  Result<void> add_content(const std::string& key, std::string_view bytes, const std::string& hash, bool is_update, bool known) {
    Prepared out;
    out.key = key;
    out.source = source_;
    out.content_hash = hash;
    out.is_update = is_update;
    out.document.text = chunk::normalise_text(bytes);
    out.document.attributes.title = key;
    out.document.attributes.media_type = "text/plain";
    ingest::SecretFilter filter;
    if (secrets_ == ingest::Secrets::kKeepOut) filter.mask_document(out.document);
    // Secrets are masked before a parser sees the text, so no name or fact holds one.
    auto file = code::read_code(key, out.document.text, call_);
    if (!file) {
      FOOTNOTE_CHECK(call_.check());
      add_problem({key, file.error().message, ProblemKind::kProblem});
      return is_update ? remove({key}) : Result<void>{};
    }
    if (!file->schema.empty()) migrations_.push_back({key, file->schema});
    if (known) return {};
    ++report_.changed;
    for (const std::string& warning : file->warnings) add_problem({key, warning, ProblemKind::kWarning});
    out.document.text = file->text;
    for (const code::Unit& unit : file->units) out.pieces.push_back(piece_of(unit, file->text));
    filter.drop_pieces(out.pieces);
    out.secret_passages = filter.passages();
    if (filter.found_any()) out.problems.push_back({key, filter.reason(), ProblemKind::kSecret});
    out.state = Prepared::State::kReady;
    return committer_.add(std::move(out));
  }

  const CallContext& call_;
  const Indexer::Ports& ports_;
  const ingest::Secrets secrets_;
  const Corpus& corpus_;
  const SourceId source_;
  const ingest::ProgressCallback no_progress_;
  ingest::Committer committer_;
  IndexReport report_;
  std::map<std::string, std::size_t> languages_;
  std::vector<code::Migration> migrations_;
};

}  // namespace

Result<Corpus> Indexer::corpus(const CallContext& call, const Project& project) const {
  return ports_.catalog.ensure_corpus(call, project.workspace, project_corpus(project.slug), ports_.embedder.space());
}

Result<IndexReport> Indexer::index(const CallContext& call, const Project& project) const {
  FOOTNOTE_TRY(const Corpus found, corpus(call, project));
  FOOTNOTE_TRY(const Source source, ports_.catalog.ensure_source(call, found.id, SourceKind::kFolder, project.root));
  FOOTNOTE_TRY(const ingest::WalkResult walked,
               ingest::walk(call, project.root, {.files_max = kProjectFilesMax, .what = ingest::WalkFor::kCode}));
  Run run(call, ports_, secrets_, found, source.id);
  for (const ingest::Problem& problem : walked.problems) run.add_problem(problem);
  std::set<std::string> present;
  for (const ingest::FoundFile& file : walked.files) {
    present.insert(file.key);
    FOOTNOTE_CHECK(run.add_file(walked, file));
  }
  FOOTNOTE_CHECK(run.remove_others("", present, walked.unknown));
  FOOTNOTE_CHECK(run.add_tables());
  return run.finish();
}

Result<bool> Indexer::invalidate(const CallContext& call, const Project& project, std::string_view path) const {
  FOOTNOTE_TRY(const Corpus found, corpus(call, project));
  FOOTNOTE_TRY(const auto live, ports_.chunks.find_document(call, found.id, path));
  if (!live) return false;
  Run run(call, ports_, secrets_, found, live->source);
  FOOTNOTE_CHECK(run.remove({std::string(path)}));
  FOOTNOTE_CHECK(run.finish());
  return true;
}

}  // namespace footnote::project
