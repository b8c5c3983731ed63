#include "app/commands.h"
#include "app/open_link.h"
#include "base/json_view.h"
#include "cli/text_table.h"
#include "http/url.h"

namespace footnote::app {
namespace {

constexpr std::size_t kPageRows = 1000;

Json document_json(const Json& document) {
  JsonObject out{{"path", text_at(document, "source_path")}};
  for (const std::string_view field : {"title", "version", "content_hash", "media_type", "chunks", "indexed_at"}) {
    out[field] = value_at(document, field);
  }
  return out;
}

void add_row(cli::TextTable& table, const Json& document) {
  table.add({cli::printable(text_at(document, "source_path")), fmt::format("{}", integer_at(document, "version")),
             fmt::format("{}", integer_at(document, "chunks")), std::string(text_at(document, "indexed_at").substr(0, 16)),
             cli::printable(text_at(document, "title"))});
}

}  // namespace

Result<int> run_documents(const cli::CommandContext& context) {
  FOOTNOTE_TRY(const auto link, open_link(context, {}));
  const std::string& name = context.settings.text(Setting::kCorpus);
  const std::string target = fmt::format("/api/kb/documents?project_key={}&limit={}", http::percent_encode(name), kPageRows);
  cli::TextTable table({{"path", cli::Align::kLeft},
                        {"version", cli::Align::kRight},
                        {"chunks", cli::Align::kRight},
                        {"indexed", cli::Align::kLeft},
                        {"title", cli::Align::kLeft}});
  std::size_t count = 0;
  Json page;
  std::string after;
  do {
    FOOTNOTE_TRY(page, link->get(context.call, after.empty() ? target : fmt::format("{}&after={}", target, http::percent_encode(after))));
    for (const Json& document : array_at(page, "documents")) {
      ++count;
      if (context.form == cli::OutputForm::kText) {
        add_row(table, document);
      } else {
        cli::write_out(to_text(document_json(document)) + "\n");
      }
    }
    after = text_at(page, "next");
  } while (!after.empty());
  if (context.form == cli::OutputForm::kText) {
    cli::write_out(count == 0 ? std::string() : table.render());
    cli::write_out(fmt::format("{} documents in {}, generation {}\n", count, cli::corpus_label(name), integer_at(page, "generation")));
  }
  return cli::kExitOk;
}

}  // namespace footnote::app
