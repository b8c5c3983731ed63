#include "project/memory.h"

#include <gtest/gtest.h>

#include "fakes/fake_embedder.h"
#include "fakes/memory_keyword_index.h"
#include "fakes/memory_project_store.h"
#include "fakes/memory_store.h"
#include "fakes/memory_vector_store.h"
#include "ingest/index_sync.h"
#include "project/index_runner.h"
#include "support/source_folder.h"
#include "support/temp_folder.h"

namespace footnote::project {
namespace {

class ProjectTest : public testing::Test {
 protected:
  void copy_laravel() {
    std::filesystem::copy(test::source_folder() / "tests/fixtures/laravel", folder_.path(), std::filesystem::copy_options::recursive);
  }
  IndexReport index() {
    auto report = indexer_.index({}, project_);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report.value_or(IndexReport{});
  }
  RetrieveResult ask(std::string_view query, RetrieveOptions options = {}) {
    auto found = memory_.retrieve({}, project_, query, options);
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return found.value_or(RetrieveResult{});
  }
  static std::vector<std::string> symbols(const RetrieveResult& found, std::string_view reason) {
    std::vector<std::string> out;
    for (const FoundChunk& chunk : found.chunks) {
      if (chunk.reason == reason) out.push_back(chunk.symbol);
    }
    return out;
  }
  static const FoundChunk* chunk_named(const RetrieveResult& found, std::string_view symbol) {
    for (const FoundChunk& chunk : found.chunks) {
      if (chunk.symbol == symbol) return &chunk;
    }
    return nullptr;
  }

  const test::TempFolder folder_;
  ManualClock clock_{*parse_rfc3339("2026-03-01T09:00:00Z")};
  fakes::MemoryStore store_{clock_};
  fakes::FakeEmbedder embedder_;
  fakes::MemoryVectorStore vectors_;
  fakes::MemoryKeywordIndex keywords_;
  ingest::IndexSync sync_{store_, {&vectors_, &keywords_}, clock_};
  const retrieve::Retriever retriever_{{embedder_, vectors_, keywords_, store_}};
  const retrieve::AskedCorpora corpora_{store_, embedder_, ""};
  const Indexer indexer_{{store_, store_, embedder_, &sync_}, ingest::Secrets::kKeepOut};
  const Memory memory_{{indexer_, store_, retriever_, corpora_}};
  const Project project_{
      .id = {1}, .workspace = store_.find_workspace({}, kDefaultWorkspace)->id, .slug = "shop", .root = folder_.path().string()};
};

TEST_F(ProjectTest, IndexesAnApplicationOnceAndThenNothing) {
  copy_laravel();
  const IndexReport first = index();
  EXPECT_EQ(first.framework, "laravel");
  EXPECT_EQ(first.language, "php");
  EXPECT_EQ(first.tables, 6u);
  EXPECT_EQ(first.changed, first.files);
  EXPECT_EQ(first.embedded + first.reused, first.chunks);
  EXPECT_TRUE(first.problems.empty()) << first.problems.front().path << first.problems.front().reason;
  const std::size_t texts = embedder_.texts();
  const IndexReport second = index();
  EXPECT_EQ(second.unchanged, first.files);
  EXPECT_EQ(second.changed, 0u);
  EXPECT_EQ(second.embedded, 0u);
  EXPECT_EQ(embedder_.texts(), texts);
}

TEST_F(ProjectTest, AOneLineEditEmbedsOneChunk) {
  folder_.write("a.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n");
  EXPECT_EQ(index().embedded, 3u);
  folder_.write("a.py", "def one():\n    return 1\n\n\ndef two():\n    return 22\n\n\ndef three():\n    return 3\n");
  EXPECT_EQ(index().embedded, 1u);
  // Moved down the file: another range, no new vector.
  folder_.write("a.py", "\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 22\n\n\ndef three():\n    return 3   \n");
  EXPECT_EQ(index().embedded, 0u);
  const FoundChunk* moved = nullptr;
  const RetrieveResult found = ask("what does `one` return", {.min_score = 0});
  ASSERT_NE(moved = chunk_named(found, "one"), nullptr);
  EXPECT_EQ(moved->first_line, 4);
  EXPECT_EQ(moved->last_line, 5);
}

TEST_F(ProjectTest, FilesThatAreGoneAreForgotten) {
  folder_.write("a.py", "def one():\n    return 1\n");
  folder_.write("b.py", "def other():\n    return 1\n");
  index();
  folder_.remove("a.py");
  EXPECT_EQ(index().deleted, 1u);
  const auto files = memory_.files({}, project_, "", 10).value();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path, "b.py");
  ASSERT_TRUE(memory_.with_graph({}, project_, [](const code::Graph& graph) { EXPECT_TRUE(graph.find("one").empty()); }));
}

TEST_F(ProjectTest, ARouteIsWalkedToItsTables) {
  copy_laravel();
  index();
  const RetrieveResult found = ask("What controller serves route invoices.store and which model and table does it touch?");
  EXPECT_EQ(found.strategy, "route_walk");
  EXPECT_EQ(symbols(found, "graph"),
            (std::vector<std::string>{"invoices.store", "App\\Http\\Controllers\\InvoiceController::store",
                                      "App\\Http\\Requests\\StoreInvoiceRequest", "App\\Services\\InvoiceService", "App\\Models\\Invoice",
                                      "App\\Models\\InvoiceLine", "invoices", "invoice_lines"}));
  const FoundChunk* table = chunk_named(found, "invoices");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->path, "database/migrations/2024_01_02_000000_create_invoices_table.php");
  EXPECT_EQ(table->first_line, 11);
  EXPECT_NE(table->text.find("amount decimal(10, 2) default 0"), std::string::npos);
}

TEST_F(ProjectTest, FiltersAskTheGraphByName) {
  copy_laravel();
  index();
  EXPECT_EQ(symbols(ask("schema", {.table_name = "invoices"}), "graph"),
            (std::vector<std::string>{"2024_01_02_000000_create_invoices_table invoices", "2024_03_01_000000_alter_invoices invoices",
                                      "invoices"}));
  const auto migrations = ask("schema", {.source_types = {code::SourceType::kMigration}, .table_name = "invoices"});
  for (const FoundChunk& chunk : migrations.chunks) EXPECT_EQ(chunk.source_type, "migration");
  EXPECT_EQ(ask("x", {.controller_class = "ReminderController"}).subject, "App\\Http\\Controllers\\ReminderController");
}

TEST_F(ProjectTest, WhatIsSearchedHasItsMetadata) {
  copy_laravel();
  index();
  const RetrieveResult found = ask("remind customer invoice", {.source_types = {code::SourceType::kRoute}, .min_score = 0});
  const FoundChunk* route = chunk_named(found, "invoices.remind");
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(route->reason, "search");
  EXPECT_EQ(route->facts.at("uri"), (std::vector<std::string>{"/invoices/{invoice}/remind"}));
  EXPECT_EQ(route->path, "routes/web.php");
}

TEST_F(ProjectTest, SecretsAreNeverStored) {
  const std::string secret = "ghp_" + std::string("u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8d");
  folder_.write("a.py", "def one():\n    return 1\n\n\ndef two():\n    token = \"" + secret + "\"\n    return token\n");
  folder_.write(".env", "SECRET=" + secret + "\n");
  const IndexReport report = index();
  EXPECT_EQ(report.secret_chunks, 1u);
  const RetrieveResult found = ask("token two one", {.min_score = 0});
  for (const FoundChunk& chunk : found.chunks) EXPECT_EQ(chunk.text.find(secret), std::string::npos);
  EXPECT_EQ(chunk_named(found, "two"), nullptr);
}

TEST_F(ProjectTest, IgnoreFilesAndLinksOutOfTheRootAreHonoured) {
  const test::TempFolder outside;
  outside.write("secret.py", "def outside():\n    return 1\n");
  folder_.write(".gitignore", "build/\n");
  folder_.write("build/made.py", "def made():\n    return 1\n");
  folder_.write(".cursor/rules/a.mdc", "# Rules\n\nBe brief.\n");
  std::filesystem::create_symlink(outside.path() / "secret.py", folder_.path() / "link.py");
  index();
  const auto files = memory_.files({}, project_, "", 10).value();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path, ".cursor/rules/a.mdc");
}

TEST_F(ProjectTest, SkippedFilesHaveAReason) {
  folder_.write("big.js", std::string(3 << 20, '\n'));
  folder_.write("min.js", std::string(20'000, 'a'));
  folder_.write("bad.php", "<?php class A { function ( ");
  const IndexReport report = index();
  std::vector<std::string> reasons;
  for (const ingest::Problem& problem : report.problems) reasons.push_back(problem.path + ": " + problem.reason);
  EXPECT_EQ(reasons,
            (std::vector<std::string>{"bad.php: not all of its syntax could be read", "big.js: larger than 2.1 MB, generated or data",
                                      "min.js: minified: 20000 bytes in 1 lines"}));
}

TEST_F(ProjectTest, EqualContentsAreOneChunkWithAllPaths) {
  folder_.write("a/README.md", "# Same\n\nThe same words in two files.\n");
  folder_.write("b/README.md", "# Same\n\nThe same words in two files.\n");
  EXPECT_EQ(index().embedded, 1u);
  const RetrieveResult found = ask("same words", {.min_score = 0});
  ASSERT_EQ(found.chunks.size(), 1u);
  EXPECT_EQ(found.chunks[0].also_at.size(), 1u);
}

TEST_F(ProjectTest, ChunksThatDoNotFitTheWindowAreNamed) {
  copy_laravel();
  index();
  const RetrieveResult all = ask("invoice", {.top_k = 10, .min_score = 0});
  const RetrieveResult few = ask("invoice", {.top_k = 10, .min_score = 0, .context_tokens = 400});
  EXPECT_LT(few.chunks.size(), all.chunks.size());
  EXPECT_EQ(few.chunks.size() + few.dropped.size(), all.chunks.size());
  EXPECT_EQ(ask("invoice", {.min_score = 0, .context_tokens = 1}).chunks.size(), 0u);
}

TEST_F(ProjectTest, NothingFoundOffersTheNearestNames) {
  copy_laravel();
  index();
  const RetrieveResult found = ask("InvoiceServise", {.source_types = {code::SourceType::kJob}, .min_score = 1});
  EXPECT_TRUE(found.chunks.empty());
  ASSERT_FALSE(found.nearest.empty());
  EXPECT_EQ(found.nearest.front(), "App\\Services\\InvoiceService");
  EXPECT_FALSE(memory_.retrieve({}, project_, "  ", {}).has_value());
}

TEST_F(ProjectTest, AnInvalidatedFileIsIndexedAgain) {
  folder_.write("a.py", "def one():\n    return 1\n");
  index();
  EXPECT_TRUE(indexer_.invalidate({}, project_, "a.py").value());
  EXPECT_FALSE(indexer_.invalidate({}, project_, "a.py").value());
  EXPECT_TRUE(memory_.files({}, project_, "", 10).value().empty());
  EXPECT_EQ(index().changed, 1u);
}

TEST_F(ProjectTest, IdentifiersAreSearchedByTheirPartsToo) {
  EXPECT_EQ(expand_identifiers("where is InvoiceController used"), "where is InvoiceController used invoice controller");
  EXPECT_EQ(expand_identifiers("how does it work"), "how does it work");
}

TEST_F(ProjectTest, ARunIsJoinedAndItsResultIsKept) {
  folder_.write("a.py", "def one():\n    return 1\n");
  fakes::MemoryProjectStore projects(clock_);
  const Project added = projects.add_project({}, {.workspace = project_.workspace, .slug = "shop", .root = project_.root}).value();
  IndexRunner runner(indexer_, projects, clock_);
  const IndexJob job = runner.start(added).value();
  EXPECT_FALSE(job.id.empty());
  while (runner.last(added.id)->state == IndexJob::State::kQueued || runner.last(added.id)->state == IndexJob::State::kRunning)
    std::this_thread::yield();
  EXPECT_EQ(runner.last(added.id)->state, IndexJob::State::kDone);
  EXPECT_EQ(runner.last(added.id)->report.files, 1u);
  EXPECT_EQ(projects.project({}, project_.workspace, "shop")->language, "python");
  EXPECT_NE(runner.start(added)->id, job.id);
}

TEST_F(ProjectTest, AFailedRunSaysWhy) {
  fakes::MemoryProjectStore projects(clock_);
  const Project added = projects.add_project({}, {.workspace = project_.workspace, .slug = "gone", .root = "/no/such/folder"}).value();
  IndexRunner runner(indexer_, projects, clock_);
  ASSERT_TRUE(runner.start(added));
  while (runner.last(added.id)->state == IndexJob::State::kQueued || runner.last(added.id)->state == IndexJob::State::kRunning)
    std::this_thread::yield();
  EXPECT_EQ(runner.last(added.id)->state, IndexJob::State::kFailed);
  EXPECT_EQ(projects.project({}, project_.workspace, "gone")->status, ProjectStatus::kFailed);
}

}  // namespace
}  // namespace footnote::project
