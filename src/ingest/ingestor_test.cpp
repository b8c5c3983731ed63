#include "ingest/ingestor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "fakes/memory_keyword_index.h"
#include "ingest/folder_reader.h"
#include "ingest/index_sync.h"
#include "ingest/recorders_for_test.h"
#include "ingest/secret_names.h"
#include "support/temp_folder.h"

namespace footnote::ingest {
namespace {

using footnote::test::TempFolder;
using testing::Each;
using testing::ElementsAre;
using testing::Le;

class IngestorTest : public testing::Test {
 protected:
  struct Folder {
    std::filesystem::path path;
    SourceId source = {};
    std::string prefix = {};
  };
  /// Ingests a folder as callers do: in batches, then the listing.
  Result<IngestReport> ingest(const Folder& folder, IngestOptions options = {}, const CallContext& call = {}) {
    options.origin = Origin::kFile;
    FOOTNOTE_TRY(FolderReader reader, FolderReader::open(call, folder.path, folder.prefix, clock_));
    IngestReport total;
    for (;;) {
      FOOTNOTE_TRY(const auto batch, reader.next(call));
      if (batch.empty()) break;
      FOOTNOTE_TRY(const auto report, ingestor_.ingest_documents(call, corpus_, source_of(folder), batch, options, record()));
      add(total, report);
    }
    if (options.prune == Prune::kOn) {
      FOOTNOTE_TRY(const auto report, ingestor_.prune(call, corpus_, source_of(folder), reader.listing(), record()));
      add(total, report);
    }
    total.problems.insert(total.problems.begin(), reader.problems().begin(), reader.problems().end());
    return total;
  }
  Result<IngestReport> ingest(const std::filesystem::path& path, IngestOptions options = {}) {
    return ingest(Folder{.path = path}, std::move(options));
  }
  static void add(IngestReport& total, const IngestReport& report) {
    total.added += report.added;
    total.updated += report.updated;
    total.unchanged += report.unchanged;
    total.deleted += report.deleted;
    total.chunks += report.chunks;
    total.embedded_chunks += report.embedded_chunks;
    total.reused_chunks += report.reused_chunks;
    total.secret_passages += report.secret_passages;
    total.problems.insert(total.problems.end(), report.problems.begin(), report.problems.end());
  }
  ProgressCallback record() {
    return [this](const IngestProgress& progress) {
      constexpr std::string_view kNames[] = {"added", "updated", "unchanged", "deleted"};
      reported_.push_back(std::string(kNames[static_cast<int>(progress.change)]) + " " + progress.key);
      last_ = progress;
      if (on_step_) on_step_();
    };
  }
  SourceId source_of(const Folder& folder) { return folder.source ? folder.source : source(7); }
  SourceId source(int number) { return store_.ensure_source({}, corpus_.id, SourceKind::kFolder, std::to_string(number))->id; }
  Generation generation() { return store_.corpus({}, corpus_.id)->generation; }
  std::string stored_keys() {
    std::vector<std::string> out;
    const auto documents = store_.documents({}, corpus_.id, {}, 1000).value();
    for (const Document& document : documents) out.push_back(document.key);
    return join(out, " ");
  }
  void check(const Result<IngestReport>& report, std::string_view expected) {
    ASSERT_TRUE(report.has_value()) << report.error().message;
    std::string got =
        fmt::format("added {} updated {} unchanged {} deleted {}", report->added, report->updated, report->unchanged, report->deleted);
    for (const Problem& problem : report->problems) {
      const std::string_view kind = problem.kind == ProblemKind::kWarning  ? "warning"
                                    : problem.kind == ProblemKind::kSecret ? "secret"
                                                                           : "problem";
      got += fmt::format("; {} {}: {}", kind, problem.path, problem.reason);
    }
    EXPECT_EQ(got, expected);
  }

  TempFolder folder_;
  ManualClock clock_{UtcTime{}};
  test::RecordedStore store_{clock_};
  test::RecordedEmbedder embedder_;
  Corpus corpus_ = store_.ensure_corpus({}, store_.find_workspace({}, "default")->id, "memory", embedder_.space()).value();
  Ingestor ingestor_{store_, embedder_, nullptr};
  std::vector<std::string> reported_;
  IngestProgress last_;
  std::function<void()> on_step_;
};

TEST_F(IngestorTest, TellsOfACorpusThatChanged) {
  std::vector<std::string> changed;
  ingestor_.on_change([&](const Corpus& corpus) { changed.push_back(corpus.name); });
  folder_.write("a.md", "# A\n\nOne.");
  ASSERT_TRUE(ingest(folder_.path()).has_value());
  EXPECT_THAT(changed, ElementsAre("memory"));
  ASSERT_TRUE(ingest(folder_.path()).has_value());
  EXPECT_THAT(changed, ElementsAre("memory")) << "nothing is new";
  const std::vector<std::string> keys{"a.md"};
  ASSERT_TRUE(ingestor_.delete_documents({}, corpus_, keys).has_value());
  EXPECT_THAT(changed, ElementsAre("memory", "memory"));
}

TEST_F(IngestorTest, AddsUpdatesKeepsAndDeletes) {
  folder_.write("a.md", "# A\n\nOne.");
  folder_.write("dir/b.txt", "Two.");
  folder_.write("c.html", "<p>Three.</p>");
  check(ingest(folder_.path()), "added 3 updated 0 unchanged 0 deleted 0");
  EXPECT_EQ(stored_keys(), "a.md c.html dir/b.txt");
  EXPECT_THAT(reported_, ElementsAre("added a.md", "added c.html", "added dir/b.txt"));
  EXPECT_EQ(last_.done, 3u);
  EXPECT_EQ(last_.total, 3u);

  reported_.clear();
  check(ingest(folder_.path()), "added 0 updated 0 unchanged 3 deleted 0");
  EXPECT_EQ(generation(), 1);

  folder_.write("a.md", "# A\n\nOther.");
  folder_.remove("dir");
  folder_.write("d.md", "Four.");
  reported_.clear();
  check(ingest(folder_.path()), "added 1 updated 1 unchanged 1 deleted 1");
  EXPECT_EQ(stored_keys(), "a.md c.html d.md");
  EXPECT_THAT(reported_, ElementsAre("unchanged c.html", "updated a.md", "added d.md", "deleted dir/b.txt"));
}

TEST_F(IngestorTest, DraftsHoldTextRangesAndEmbeddedHeadings) {
  folder_.write("a.md", "---\ntitle: Guide\ntags: [x]\n---\n## Setup\n\nDo it.\n");
  check(ingest(folder_.path()), "added 1 updated 0 unchanged 0 deleted 0");
  const DocumentDraft& draft = store_.draft("a.md");
  EXPECT_EQ(draft.text, "## Setup\n\nDo it.\n");
  EXPECT_EQ(draft.attributes.title, "Guide");
  EXPECT_EQ(draft.attributes.media_type, "text/markdown");
  EXPECT_EQ(draft.source, source(7));
  ASSERT_EQ(draft.chunks.size(), 1u);
  EXPECT_EQ(draft.chunks[0].text, draft.text.substr(draft.chunks[0].range.begin, draft.chunks[0].range.size()));
  EXPECT_THAT(draft.chunks[0].heading_path, ElementsAre("Guide", "Setup"));
  EXPECT_EQ(draft.chunks[0].source_type, "doc");
  EXPECT_EQ(draft.chunks[0].first_line, 5);
  EXPECT_THAT(embedder_.seen, ElementsAre("Guide > Setup\n## Setup\n\nDo it."));
  EXPECT_EQ(draft.content_hash, sha256_hex("---\ntitle: Guide\ntags: [x]\n---\n## Setup\n\nDo it.\n") + "-p5-s1");
}

TEST_F(IngestorTest, EqualChunksAreNotEmbeddedAgain) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("# Part {}\n\n{}\n\n", i, std::string(780, static_cast<char>('a' + i % 26)));
  folder_.write("a.md", text);
  const auto first = ingest(folder_.path());
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->embedded_chunks, 40u);
  EXPECT_EQ(first->reused_chunks, 0u);
  folder_.write("a.md", text + "# New\n\nWords.\n");
  folder_.write("copy.md", text);
  const auto second = ingest(folder_.path());
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->chunks, 81u);
  EXPECT_EQ(second->embedded_chunks, 1u);
  EXPECT_EQ(second->reused_chunks, 80u);
  // The same text twice in one batch is embedded once.
  folder_.write("x.md", "Same words.");
  folder_.write("y.md", "Same words.");
  EXPECT_EQ(ingest(folder_.path())->embedded_chunks, 1u);
}

TEST_F(IngestorTest, BatchesHaveTheirBounds) {
  for (int i = 0; i < 70; ++i) folder_.write(fmt::format("{:03}.md", i), fmt::format("Text {}.", i));
  ASSERT_TRUE(ingest(folder_.path()).has_value());
  EXPECT_THAT(store_.commit_sizes, ElementsAre(kCommitDocumentsMax, kCommitDocumentsMax, 70 - 2 * kCommitDocumentsMax));
  std::string large;
  for (std::size_t i = 0; i < kCommitChunksMax + 10; ++i) large += fmt::format("# Part {}\n\n{}\n\n", i, std::string(790, 'x'));
  TempFolder other;
  other.write("1.md", large);
  other.write("2.md", "Small.");
  store_.commit_sizes.clear();
  ASSERT_TRUE(ingest({other.path(), source(8)}).has_value());
  EXPECT_THAT(store_.commit_sizes, ElementsAre(1, 1));
  EXPECT_THAT(embedder_.batches, Each(Le(kEmbedBatchMax)));
}

TEST_F(IngestorTest, BadFilesAreReportedAndTheRestGoesOn) {
  folder_.write("a.docx", "x");
  folder_.write("b.md", "");
  folder_.write("c.txt", "caf\xE9");
  folder_.write("d.txt", std::string("a\0b", 3));
  folder_.write("e.md", "x");
  ASSERT_EQ(::truncate((folder_.path() / "e.md").c_str(), 100'000'000), 0);
  ASSERT_EQ(::mkfifo((folder_.path() / "f.md").c_str(), 0600), 0);
  std::filesystem::create_symlink("g.md", folder_.path() / "g.md");
  folder_.write("h.html", "<script>x</script>");
  folder_.write("i.md", "  \n ");
  folder_.write("j.md", "Fine.");
  folder_.write(".hidden.md", "x");
  check(ingest(folder_.path()),
        "added 2 updated 0 unchanged 0 deleted 0"
        "; problem b.md: empty file; problem e.md: 100 MB; the limit is 16.8 MB; problem f.md: a FIFO, not a file"
        "; problem g.md: symbolic link that loops; problem a.docx: not a .docx file, whatever its name: damaged, or renamed"
        "; warning c.txt: read as windows-1252; problem d.txt: binary file"
        "; problem h.html: no text in it; problem i.md: no text in it");
  EXPECT_EQ(stored_keys(), "c.txt j.md");
  EXPECT_EQ(store_.draft("c.txt").text, "caf\xC3\xA9");
}

TEST_F(IngestorTest, AFileThatTurnedBadTakesItsOldTextAlong) {
  for (const char* name : {"a.md", "b.md", "c.md"}) folder_.write(name, "Old.");
  ASSERT_TRUE(ingest(folder_.path()).has_value());
  folder_.write("a.md", "");
  folder_.write("b.md", std::string("\0", 1));
  check(ingest(folder_.path()), "added 0 updated 0 unchanged 1 deleted 2; problem a.md: empty file; problem b.md: binary file");
  EXPECT_EQ(stored_keys(), "c.md");
}

TEST_F(IngestorTest, WhatCantBeReadForTheMomentIsKept) {
  folder_.write("locked/a.md", "x");
  folder_.write("closed.md", "x");
  folder_.write("b.md", "x");
  ::chmod(folder_.path().c_str(), 0755);
  ASSERT_TRUE(ingest(folder_.path()).has_value());
  ::chmod((folder_.path() / "locked").c_str(), 0000);
  ::chmod((folder_.path() / "closed.md").c_str(), 0000);
  const bool root = ::geteuid() == 0;
  if (root && ::seteuid(65534) != 0) GTEST_SKIP() << "can't give up root here";
  const auto report = ingest(folder_.path());
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ::chmod((folder_.path() / "locked").c_str(), 0755);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->deleted, 0u);
  EXPECT_EQ(report->problems.size(), 2u);
  EXPECT_EQ(stored_keys(), "b.md closed.md locked/a.md");
}

TEST_F(IngestorTest, PruneTouchesOnlyItsOwnSourceAndPrefix) {
  folder_.write("a.md", "x");
  TempFolder other;
  other.write("b.md", "y");
  const Folder one{folder_.path(), source(1), "one/"};
  ASSERT_TRUE(ingest(one).has_value());
  ASSERT_TRUE(ingest({folder_.path(), source(1), "again/"}).has_value());
  ASSERT_TRUE(ingest({other.path(), source(2), "one/"}).has_value());
  EXPECT_EQ(stored_keys(), "again/a.md one/a.md one/b.md");
  folder_.remove("a.md");
  IngestOptions keep;
  keep.prune = Prune::kOff;
  ASSERT_TRUE(ingest(one, keep).has_value());
  EXPECT_EQ(stored_keys(), "again/a.md one/a.md one/b.md");
  ASSERT_TRUE(ingest(one).has_value());
  EXPECT_EQ(stored_keys(), "again/a.md one/b.md");
}

TEST_F(IngestorTest, PruneKeepsWhatIsUnknownOrCameLater) {
  for (const char* name : {"a.md", "b.md", "c/d.md", "c/e/f.md", "cc/g.md"}) folder_.write(name, "x");
  ASSERT_TRUE(ingest(folder_.path()).has_value());
  FolderListing listing{.key_prefix = {}, .present = {"a.md"}, .unknown = {"c"}, .listed_at = UtcTime{} - std::chrono::milliseconds{1}};
  check(ingestor_.prune({}, corpus_, source(7), listing), "added 0 updated 0 unchanged 0 deleted 0");
  listing.listed_at = UtcTime{};
  check(ingestor_.prune({}, corpus_, source(7), listing, record()), "added 0 updated 0 unchanged 0 deleted 2");
  EXPECT_EQ(stored_keys(), "a.md c/d.md c/e/f.md");
  listing.unknown = {""};
  listing.present = {};
  check(ingestor_.prune({}, corpus_, source(7), listing), "added 0 updated 0 unchanged 0 deleted 0");
}

TEST_F(IngestorTest, ASingleFileIsASourceOfItsOwn) {
  folder_.write("a.md", "x");
  folder_.write("b.md", "y");
  ASSERT_TRUE(ingest(folder_.path()).has_value());
  folder_.write("c.md", "z");
  const Folder file{folder_.path() / "c.md", source(8)};
  check(ingest(file), "added 1 updated 0 unchanged 0 deleted 0");
  folder_.write("c.md", "");
  check(ingest(file), "added 0 updated 0 unchanged 0 deleted 1; problem c.md: empty file");
  EXPECT_EQ(stored_keys(), "a.md b.md");
}

TEST_F(IngestorTest, NamesThatCanBeNoKeysAreReported) {
  folder_.write("a\nb.md", "x");
  folder_.write("c.md", "x");
  check(ingest(folder_.path()), "added 1 updated 0 unchanged 0 deleted 0; problem a\nb.md: its name holds a control character; rename it");
  const std::string long_prefix(1024, 'p');
  const auto report = ingest({.path = folder_.path(), .prefix = long_prefix});
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->problems.size(), 2u);
}

TEST_F(IngestorTest, TwoSourcesDoNotOverwriteEachOther) {
  folder_.write("README.md", "one");
  TempFolder other;
  other.write("README.md", "two");
  ASSERT_TRUE(ingest({folder_.path(), source(1)}).has_value());
  const std::string problem = "; problem README.md: another source has a document with this path; remove it there, or use a prefix";
  check(ingest({other.path(), source(2)}), "added 0 updated 0 unchanged 0 deleted 0" + problem);
  IngestOptions take_over;
  take_over.foreign_key = ForeignKey::kTakeOver;
  check(ingest({other.path(), source(2)}, take_over), "added 0 updated 1 unchanged 0 deleted 0");
  EXPECT_EQ(store_.draft("README.md").text, "two");
}

TEST_F(IngestorTest, NothingIsToldThatIsNotCommitted) {
  for (int i = 0; i < 40; ++i) folder_.write(fmt::format("{:03}.md", i), fmt::format("Text {}.", i));
  embedder_.faults().fail_after(1, ErrorCode::kUnavailable);
  const auto report = ingest(folder_.path());
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(reported_.size(), kCommitDocumentsMax);
  EXPECT_EQ(split(stored_keys(), ' ').size(), kCommitDocumentsMax);
  embedder_.faults().heal();
  check(ingest(folder_.path()), "added 8 updated 0 unchanged 32 deleted 0");

  store_.commit_faults().fail_after(0, ErrorCode::kStorageFull);
  reported_.clear();
  folder_.write("new.md", "x");
  EXPECT_EQ(ingest(folder_.path()).error().code, ErrorCode::kStorageFull);
  EXPECT_EQ(std::ranges::count(reported_, "added new.md"), 0);
}

TEST_F(IngestorTest, AFailureDeletesNothing) {
  folder_.write("a.md", "x");
  folder_.write("b.md", "y");
  ASSERT_TRUE(ingest(folder_.path()).has_value());
  folder_.remove("a.md");
  folder_.write("b.md", "z");
  embedder_.faults().fail_after(0, ErrorCode::kUnavailable);
  EXPECT_FALSE(ingest(folder_.path()).has_value());
  EXPECT_EQ(stored_keys(), "a.md b.md");
  EXPECT_EQ(ingest(folder_.path() / "missing").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(stored_keys(), "a.md b.md");
}

TEST_F(IngestorTest, StopsWhenTheCallerGoes) {
  for (int i = 0; i < 200; ++i) folder_.write(fmt::format("{:03}.md", i), fmt::format("Text {}.", i));
  std::stop_source stop;
  CallContext call;
  call.stop = stop.get_token();
  on_step_ = [&] { stop.request_stop(); };
  const auto report = ingest({.path = folder_.path()}, {}, call);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(store_.commit_sizes.size(), 1u);
}

TEST_F(IngestorTest, AnotherModelIsRefused) {
  corpus_.space = {"other", 8};
  folder_.write("a.md", "x");
  EXPECT_EQ(ingest(folder_.path()).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(store_.commit_sizes.empty());
}

TEST_F(IngestorTest, DocumentsInMemory) {
  std::vector<MemoryDocument> documents(3);
  documents[0] = {.key = "faq", .media_type = "text/markdown", .content = "First."};
  documents[1] = {
      .key = "page.html", .content = "<title>T</title><p>Words here.</p>", .url = "https://e.org", .tags = {"a"}, .acl_labels = {"staff"}};
  documents[2] = {.key = "faq", .media_type = "text/markdown", .content = "Second.", .title = "Questions"};
  check(ingestor_.ingest_documents({}, corpus_, source(3), documents), "added 2 updated 0 unchanged 0 deleted 0");
  EXPECT_EQ(store_.draft("faq").text, "Second.");
  EXPECT_EQ(store_.draft("faq").attributes.title, "Questions");
  EXPECT_THAT(store_.draft("faq").chunks.at(0).heading_path, ElementsAre("Questions"));
  EXPECT_EQ(store_.draft("page.html").attributes.url, "https://e.org");
  EXPECT_THAT(store_.draft("page.html").attributes.acl_labels, ElementsAre("staff"));

  check(ingestor_.ingest_documents({}, corpus_, source(3), std::span(documents).last(2)), "added 0 updated 0 unchanged 2 deleted 0");
  documents[1].tags = {"b"};
  const auto changed = ingestor_.ingest_documents({}, corpus_, source(3), std::span(documents).subspan(1, 1));
  check(changed, "added 0 updated 1 unchanged 0 deleted 0");
  EXPECT_EQ(changed->embedded_chunks, 0u);
}

TEST_F(IngestorTest, BadDocumentsInMemoryTakeNothingAway) {
  const MemoryDocument good{.key = "a.md", .content = "Good."};
  ASSERT_TRUE(ingestor_.ingest_documents({}, corpus_, source(3), std::span(&good, 1)).has_value());
  const std::vector<MemoryDocument> bad = {{.key = "a.md", .media_type = "application/pdf", .content = "x"},
                                           {.key = "", .content = "x"},
                                           {.key = std::string(kFileBytesMax / 8, 'k'), .content = "x"},
                                           {.key = "b\xFF.md", .content = "x"},
                                           {.key = "c.md", .content = " "}};
  const auto report = ingestor_.ingest_documents({}, corpus_, source(3), bad);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->problems.size(), 5u);
  EXPECT_EQ(stored_keys(), "a.md");
}

constexpr std::string_view kToken = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

TEST_F(IngestorTest, SecretsStayOutOfTheStoreAndTheEmbedder) {
  folder_.write("a.md", fmt::format("# Guide\n\nPlain words.\n\n# Access\n\nUse {} here.\n", kToken));
  folder_.write("b.md", fmt::format("Only {}.", kToken));
  folder_.write("id_rsa", "x");
  const IngestOptions small{.chunking = {.target_bytes = 16, .max_bytes = 100}};
  const auto report = ingest(folder_.path(), small);
  check(report, fmt::format("added 2 updated 0 unchanged 0 deleted 0; secret id_rsa: {}; secret a.md: 1 passage kept out: GitHub or GitLab "
                            "token; secret b.md: 1 passage kept out: GitHub or GitLab token",
                            kSecretNameReason));
  EXPECT_EQ(report->secret_passages, 2u);
  EXPECT_EQ(stored_keys(), "a.md b.md");
  EXPECT_EQ(store_.draft("a.md").chunks.size(), 1u);
  for (const char* key : {"a.md", "b.md"}) EXPECT_EQ(store_.draft(key).text.find(kToken), std::string::npos) << key;
  for (const std::string& text : embedder_.seen) EXPECT_EQ(text.find(kToken), std::string::npos);
  check(ingest(folder_.path(), small), fmt::format("added 0 updated 0 unchanged 2 deleted 0; secret id_rsa: {}", kSecretNameReason));
  // Allowing secrets ingests the files again, and so does disallowing them.
  IngestOptions allow = small;
  allow.secrets = Secrets::kAllow;
  EXPECT_EQ(ingest(folder_.path(), allow)->updated, 2u);
  EXPECT_NE(store_.draft("b.md").text.find(kToken), std::string::npos);
  EXPECT_EQ(ingest(folder_.path(), small)->updated, 2u);
  EXPECT_EQ(store_.draft("b.md").text.find(kToken), std::string::npos);
}

TEST_F(IngestorTest, SecretsOfDocumentsInMemory) {
  const std::vector<MemoryDocument> documents = {
      {.key = "a", .media_type = "text/plain", .content = "Fine.", .title = fmt::format("On {}", kToken)},
      {.key = "keys/id_ed25519", .media_type = "text/plain", .content = "Fine."},
      {.key = std::string(kToken) + ".md", .content = "Fine."}};
  const auto report = ingestor_.ingest_documents({}, corpus_, source(3), documents);
  check(report,
        fmt::format("added 1 updated 0 unchanged 0 deleted 0; secret a: masked: GitHub or GitLab token; secret keys/id_ed25519: {}; "
                    "problem {}.md: its name is that of a credential file; rename it",
                    kSecretNameReason, std::string(kToken.size(), '*')));
  EXPECT_EQ(store_.draft("a").attributes.title, "On " + std::string(kToken.size(), '*'));
  check(ingestor_.ingest_documents({}, corpus_, source(3), std::span(documents).first(1)), "added 0 updated 0 unchanged 1 deleted 0");
}

TEST_F(IngestorTest, DeletesByKey) {
  folder_.write("a.md", "x");
  folder_.write("b.md", "y");
  ASSERT_TRUE(ingest(folder_.path()).has_value());
  const std::vector<std::string> keys = {"b.md", "nothing", "b.md"};
  check(ingestor_.delete_documents({}, corpus_, keys, record()), "added 0 updated 0 unchanged 0 deleted 1");
  EXPECT_EQ(stored_keys(), "a.md");
  EXPECT_EQ(reported_.back(), "deleted b.md");
}

TEST_F(IngestorTest, IndexesFollow) {
  fakes::MemoryKeywordIndex index;
  IndexSync sync(store_, {&index}, clock_);
  Ingestor ingestor(store_, embedder_, &sync);
  MemoryDocument document{.key = "a.md", .media_type = {}, .content = "Words."};
  ASSERT_TRUE(ingestor.ingest_documents({}, corpus_, source(7), std::span(&document, 1)).has_value());
  EXPECT_EQ(index.generation({}, corpus_.id), generation());
  EXPECT_THAT(index.texts(corpus_.id), ElementsAre("Words."));
  document.content = "Other.";
  index.apply_faults().fail_after(0, ErrorCode::kFailedPrecondition);
  const auto report = ingestor.ingest_documents({}, corpus_, source(7), std::span(&document, 1));
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_EQ(report->problems[0].kind, ProblemKind::kWarning);
}

}  // namespace
}  // namespace footnote::ingest
