#include "app/commands.h"
#include "app/folder_access.h"
#include "base/json.h"
#include "cli/text_table.h"
#include "upkeep/stores.h"

namespace footnote::app {
namespace {

constexpr std::size_t kPageRows = 1000;

Json document_json(const Document& document) {
  return JsonObject{{"path", document.key},
                    {"title", document.attributes.title},
                    {"version", document.version},
                    {"content_hash", document.content_hash},
                    {"media_type", document.attributes.media_type},
                    {"chunks", document.chunk_count},
                    {"indexed_at", to_rfc3339(document.indexed_at)}};
}

}  // namespace

Result<int> run_documents(const cli::CommandContext& context) {
  FOOTNOTE_TRY(DataFolder folder, own_folder(context.settings, Missing::kRefuse));
  FOOTNOTE_TRY(const auto stores, upkeep::Stores::open(context.call, std::move(folder), context.settings.text(Setting::kWorkspace)));
  const std::string& name = context.settings.text(Setting::kCorpus);
  FOOTNOTE_TRY(const Corpus corpus, stores->catalog().find_corpus(context.call, stores->workspace(), name));
  cli::TextTable table({{"path", cli::Align::kLeft},
                        {"version", cli::Align::kRight},
                        {"chunks", cli::Align::kRight},
                        {"indexed", cli::Align::kLeft},
                        {"title", cli::Align::kLeft}});
  std::string after;
  std::size_t count = 0;
  while (true) {
    FOOTNOTE_TRY(const auto page, stores->chunks().documents(context.call, corpus.id, after, kPageRows));
    for (const Document& document : page) {
      if (context.form == cli::OutputForm::kJson) {
        cli::write_out(to_text(document_json(document)) + "\n");
      } else {
        table.add({cli::printable(document.key), fmt::format("{}", document.version), fmt::format("{}", document.chunk_count),
                   to_rfc3339(document.indexed_at).substr(0, 16), cli::printable(document.attributes.title)});
      }
    }
    count += page.size();
    if (page.size() < kPageRows) break;
    after = page.back().key;
  }
  if (context.form == cli::OutputForm::kText) {
    cli::write_out(count == 0 ? std::string() : table.render());
    cli::write_out(fmt::format("{} documents in {}, generation {}\n", count, cli::corpus_label(name), corpus.generation));
  }
  return cli::kExitOk;
}

}  // namespace footnote::app
