#include <chrono>

#include "app/commands.h"
#include "app/folder_access.h"
#include "app/index_files.h"
#include "app/stores.h"
#include "base/json.h"
#include "base/text.h"
#include "ingest/index_sync.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"

namespace footnote::app {
namespace {

struct Rebuilt {
  IndexExtent extent;
  std::uint64_t bytes = 0;
  std::chrono::milliseconds time{0};
};

/// Away with the files of a corpus, and new ones out of the store. Nothing is embedded: the vectors are in the store.
Result<Rebuilt> rebuild(const CallContext& call, Stores& stores, const Corpus& corpus) {
  const auto start = std::chrono::steady_clock::now();
  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  IndexFiles files(stores.folder().path(), stores.chunks(), {&vectors, &keywords});
  files.remove(corpus.id);
  FOOTNOTE_CHECK(ingest::IndexSync(stores.chunks(), {&vectors, &keywords}, stores.clock()).sync(call, corpus.id));
  files.save(call, corpus, IndexFiles::When::kAnythingChanged);
  Rebuilt out{.extent = vectors.extent(corpus.id)};
  for (const SavedIndex* index : {static_cast<const SavedIndex*>(&vectors), static_cast<const SavedIndex*>(&keywords)}) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(files.path_of(corpus.id, index->kind()), error);
    if (error && corpus.generation > 0)
      return fail(ErrorCode::kUnavailable, "the index files of corpus '{}' were not written; the log says why", corpus.name);
    if (!error) out.bytes += bytes;
  }
  out.time = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  return out;
}

}  // namespace

Result<int> run_rebuild_index(const CommandContext& context) {
  FOOTNOTE_TRY(DataFolder folder, own_folder(context.settings, Missing::kRefuse));
  FOOTNOTE_TRY(const auto stores, Stores::open(context.call, std::move(folder), context.settings.text(Setting::kWorkspace)));
  FOOTNOTE_TRY(const auto corpora, stores->catalog().corpora(context.call, stores->workspace()));
  for (const Corpus& corpus : corpora) {
    FOOTNOTE_TRY(const Rebuilt rebuilt, rebuild(context.call, *stores, corpus));
    if (context.form == OutputForm::kJson) {
      write_out(to_text(JsonObject{{"corpus", corpus.name},
                                   {"generation", rebuilt.extent.generation},
                                   {"rows", rebuilt.extent.rows},
                                   {"bytes", rebuilt.bytes},
                                   {"milliseconds", rebuilt.time.count()}}) +
                "\n");
    } else {
      write_out(fmt::format("corpus {}: {} chunks at generation {}, {} in {} ms\n", corpus.name, rebuilt.extent.rows,
                            rebuilt.extent.generation, human_bytes(rebuilt.bytes), rebuilt.time.count()));
    }
  }
  return kExitOk;
}

}  // namespace footnote::app
