#include "ingest/walk.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>

#include "ingest/ignore_file.h"
#include "ingest/secret_names.h"
#include "support/temp_folder.h"

namespace footnote::ingest {
namespace {

using footnote::test::TempFolder;

std::string show(const WalkResult& found) {
  std::string out;
  for (const FoundFile& file : found.files) out += file.key + "\n";
  for (const Problem& problem : found.problems) {
    const std::string_view kind = problem.kind == ProblemKind::kIgnored  ? "ignored"
                                  : problem.kind == ProblemKind::kSecret ? "secret"
                                                                         : "problem";
    const std::string reason = problem.reason == kSecretNameReason ? "" : ": " + problem.reason;
    out += std::string(kind) + " " + problem.path + reason + "\n";
  }
  return out;
}

void check(const TempFolder& folder, std::string_view expected, const WalkOptions& options = {}) {
  const auto found = walk({}, folder.path(), options);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(show(*found), expected);
}

TEST(Walk, FilesInByteOrderOfTheirKeys) {
  TempFolder folder;
  for (const char* name : {"b.md", "a/z.md", "a-b.md", "a/b/c.txt", "B.md"}) folder.write(name, "x");
  check(folder, "B.md\na-b.md\na/b/c.txt\na/z.md\nb.md\n");
}

TEST(Walk, WhatIsNoDocumentIsCounted) {
  TempFolder folder;
  for (const char* name : {"a.md", "logo.PNG", "b/photo.jpg", "site.css", "app.js", "a.woff2", "pkg/__init__.py"}) folder.write(name, "x");
  folder.write("empty.png", "");
  folder.write("pkg/empty.py", "");
  check(folder, "a.md\napp.js\npkg/__init__.py\n");
  const auto found = walk({}, folder.path());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->no_documents,
            (std::map<std::string, std::size_t>{{"empty source files", 1}, {"fonts", 1}, {"images", 3}, {"style sheets", 1}}));
}

TEST(Walk, ScriptsNextToPagesArePartsOfThem) {
  TempFolder folder;
  for (const char* name : {"index.html", "app.js", "lib/x.mjs", "tool.py"}) folder.write(name, "x");
  check(folder, "index.html\ntool.py\n");
  EXPECT_EQ(walk({}, folder.path())->no_documents.at("scripts of pages"), 2u);
}

TEST(Walk, AFileThatIsNamedItselfIsFoundWhateverItIs) {
  TempFolder folder;
  folder.write("logo.png", "x");
  const auto found = walk({}, folder.path() / "logo.png");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->files.size(), 1u);
}

TEST(Walk, HiddenAndKnownNamesAreIgnored) {
  TempFolder folder;
  for (const char* name : {".git/config", ".env", "node_modules/x/README.md", "a.md~", "ok.md"}) folder.write(name, "x");
  check(folder, "ok.md\nsecret .env\nignored .git: ignored name\nignored a.md~: ignored name\nignored node_modules: ignored name\n");
}

TEST(Walk, FilesNamedLikeCredentialsAreNeverRead) {
  TempFolder folder;
  for (const char* name :
       {"id_rsa", "ID_RSA.bak", "keys/server.pem", "tls.key", ".env.local", "credentials.txt", "credentials", "x.tfstate", ".ssh/config",
        "vault.kdbx", "id_token", "credentials.md", "id_cards.txt", "x/credentials/howto.md", "keyboard.md"}) {
    folder.write(name, "x");
  }
  std::filesystem::create_symlink("id_rsa", folder.path() / "link.md");
  check(folder,
        "credentials.md\nid_cards.txt\nkeyboard.md\nx/credentials/howto.md\n"
        "secret .env.local\nsecret .ssh\nsecret ID_RSA.bak\nsecret credentials\nsecret credentials.txt\nsecret id_rsa\nsecret id_token\n"
        "secret keys/server.pem\nsecret link.md\nsecret tls.key\nsecret vault.kdbx\nsecret x.tfstate\n");
  const auto single = walk({}, folder.path() / "id_rsa");
  ASSERT_TRUE(single.has_value());
  EXPECT_EQ(show(*single), "secret id_rsa\n");
}

TEST(Walk, IgnoreFilesHold) {
  TempFolder folder;
  folder.write(".gitignore", "# build output\n/build/\n*.log\n!keep.log\nnotes/private*.md\n**/tmp/\n");
  folder.write("docs/.gitignore", "draft.md\n!loud.log\n");
  folder.write(".footnoteignore", "*.txt\n!build/\n");
  for (const char* name : {"a.log", "keep.log", "b.txt", "build/out.md", "docs/build/x.md", "docs/draft.md", "draft.md", "docs/loud.log",
                           "docs/quiet.log", "notes/private-1.md", "notes/public.md", "x/notes/private-1.md", "x/y/tmp/z.md", "tmp.md"}) {
    folder.write(name, "x");
  }
  check(folder,
        "build/out.md\ndocs/build/x.md\ndocs/loud.log\ndraft.md\nkeep.log\nnotes/public.md\ntmp.md\nx/notes/private-1.md\n"
        "ignored .footnoteignore: ignored name\nignored .gitignore: ignored name\nignored a.log: named by an ignore file\n"
        "ignored b.txt: named by an ignore file\nignored docs/.gitignore: ignored name\nignored docs/draft.md: named by an ignore file\n"
        "ignored docs/quiet.log: named by an ignore file\nignored notes/private-1.md: named by an ignore file\n"
        "ignored x/y/tmp: named by an ignore file\n");
}

TEST(Walk, TheRepositoryAroundAFolderCounts) {
  TempFolder folder;
  folder.write(".git/info/exclude", "local.md\n");
  folder.write(".gitignore", "/docs/gen/\nsecret-plans.md\n");
  folder.write("docs/.gitignore", "!secret-plans.md\n");
  for (const char* name : {"docs/a.md", "docs/gen/b.md", "docs/local.md", "docs/secret-plans.md", "docs/deep/secret-plans.md"}) {
    folder.write(name, "x");
  }
  const auto found = walk({}, folder.path() / "docs");
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(show(*found),
            "a.md\ndeep/secret-plans.md\nsecret-plans.md\nignored .gitignore: ignored name\nignored gen: named by an ignore file\n"
            "ignored local.md: named by an ignore file\n");
  const auto single = walk({}, folder.path() / "docs/local.md");
  ASSERT_TRUE(single.has_value());
  EXPECT_EQ(show(*single), "local.md\n") << "a file that is named itself is meant";
}

TEST(Walk, AFolderThatIsIgnoredAsAWholeIsAProblem) {
  TempFolder folder;
  folder.write(".gitignore", "*\n");
  folder.write("a.md", "x");
  const auto found = walk({}, folder.path());
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->files.empty());
  EXPECT_EQ(std::ranges::count(found->problems, ProblemKind::kProblem, &Problem::kind), 1) << show(*found);
}

TEST(Walk, AnIgnoreFileThatCannotBeUsedLeavesItsFolderOut) {
  TempFolder folder;
  folder.write("a.md", "x");
  folder.write("large/.gitignore", std::string(kIgnoreFileBytesMax + 1, '#'));
  folder.write("large/b.md", "x");
  folder.write("many/c.md", "x");
  std::string patterns;
  for (std::size_t i = 0; i <= kIgnorePatternsMax; ++i) patterns += "x" + std::to_string(i) + "\n";
  folder.write("many/.gitignore", patterns);
  folder.write("link/d.md", "x");
  std::filesystem::create_symlink("../a.md", folder.path() / "link/.gitignore");
  const auto found = walk({}, folder.path());
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->files.size(), 1u) << show(*found);
  EXPECT_EQ(found->unknown.size(), 3u) << "what was indexed from there stays";
}

TEST(Walk, AControlCharacterInANameLeavesOutThatFile) {
  TempFolder folder;
  folder.write("a.md", "x");
  folder.write(
      "b\x01"
      "c.md",
      "x");
  folder.write("d\ne/f.md", "x");
  check(folder,
        "a.md\nproblem b\x01"
        "c.md: its name holds a control character; rename it\n"
        "problem d\ne: its name holds a control character; rename it\n");
}

TEST(Walk, HardLinksToTheOutsideAreNotRead) {
  TempFolder outside;
  outside.write("passwords.md", "x");
  TempFolder folder;
  folder.write("a.md", "x");
  std::filesystem::create_hard_link(folder.path() / "a.md", folder.path() / "b.md");
  std::filesystem::create_hard_link(outside.path() / "passwords.md", folder.path() / "c.md");
  check(folder, "a.md\nb.md\nproblem c.md: hard link to a file outside the folder; --allow-hard-links reads it\n");
  check(folder, "a.md\nb.md\nc.md\n", {.hard_links = HardLinks::kRead});
  const auto found = walk({}, folder.path());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(read_found(*found, found->files[0]), "x");
  // Swapped after the walk.
  folder.remove("a.md");
  folder.remove("b.md");
  std::filesystem::create_hard_link(outside.path() / "passwords.md", folder.path() / "a.md");
  EXPECT_EQ(read_found(*found, found->files[0]).error().code, ErrorCode::kInvalidArgument);
}

TEST(Walk, LinksNeverLeadOutOrRound) {
  TempFolder outside;
  outside.write("secret.md", "secret");
  TempFolder folder;
  folder.write("a/real.md", "x");
  folder.write(".hidden/b.md", "x");
  const auto link = [&](const std::filesystem::path& target, const char* name) {
    std::filesystem::create_symlink(target, folder.path() / name);
  };
  link(outside.path() / "secret.md", "out.md");
  link(outside.path(), "outdir");
  link("/etc/passwd", "passwd.txt");
  link(".", "here");
  link("..", "a/up");
  link("../..", "a/upup");
  link("loop2", "loop1");
  link("loop1", "loop2");
  link("nowhere", "dangling.md");
  link("a/real.md", "inside.md");
  link(".hidden/b.md", "to-hidden.md");
  check(folder,
        "a/real.md\n"
        "ignored .hidden: ignored name\n"
        "ignored a/up: symbolic link; its target is read under its own name\n"
        "problem a/upup: symbolic link that leaves the folder\n"
        "problem dangling.md: symbolic link to nothing\n"
        "ignored here: symbolic link; its target is read under its own name\n"
        "ignored inside.md: symbolic link; its target is read under its own name\n"
        "problem loop1: symbolic link that loops\n"
        "problem loop2: symbolic link that loops\n"
        "problem out.md: symbolic link that leaves the folder\n"
        "problem outdir: symbolic link that leaves the folder\n"
        "problem passwd.txt: symbolic link that leaves the folder\n"
        "problem to-hidden.md: symbolic link to an ignored file\n");
}

TEST(Walk, WhatIsNoFileIsAProblem) {
  TempFolder folder;
  folder.write("empty.md", "");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe.md").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = (folder.path() / "sock").string();
  name.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::close(socket);
  folder.write("big.md", "x");
  ASSERT_EQ(::truncate((folder.path() / "big.md").c_str(), 100'000'000), 0);
  folder.write("limit.md", std::string(10, 'x'));
  folder.write("na\xFFme.md", "x");
  check(folder,
        "limit.md\n"
        "problem big.md: 100 MB; the limit is 16.8 MB\n"
        "problem empty.md: empty file\n"
        "problem na\xEF\xBF\xBDme.md: its name is not UTF-8; rename it\n"
        "problem pipe.md: a FIFO, not a file\n"
        "problem sock: a device or socket, not a file\n");
}

TEST(Walk, SizeAndCountBounds) {
  TempFolder folder;
  folder.write("a.md", "12345");
  folder.write("b.md", "123456");
  check(folder, "a.md\nproblem b.md: 6 B; the limit is 5 B\n", {.file_bytes_max = 5});
  EXPECT_TRUE(walk({}, folder.path(), {.files_max = 2}).has_value());
  EXPECT_EQ(walk({}, folder.path(), {.files_max = 1}).error().code, ErrorCode::kTooLarge);
}

TEST(Walk, DepthBound) {
  TempFolder folder;
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "d/";
  // A path longer than PATH_MAX would be refused by mkdir; 300 levels exceed the depth limit and still fit.
  folder.write(deep + "x.md", "x");
  folder.write("top.md", "x");
  const auto found = walk({}, folder.path());
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->files.size(), 1u);
  ASSERT_EQ(found->problems.size(), 1u);
  EXPECT_EQ(found->problems[0].reason, "nested more than 64 folders deep");
  EXPECT_EQ(found->unknown.size(), 1u);
}

/// Drops root privileges for a scope, if it has them.
class AsNobody {
 public:
  AsNobody() : was_root_(::geteuid() == 0) { ok_ = !was_root_ || ::seteuid(65534) == 0; }
  ~AsNobody() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  bool ok() const { return ok_; }

 private:
  bool was_root_;
  bool ok_ = false;
};

TEST(Walk, UnreadableFoldersAreReportedAndTheRestGoesOn) {
  TempFolder folder;
  folder.write("locked/a.md", "x");
  folder.write("open/b.md", "x");
  folder.write("closed.md", "x");
  ::chmod(folder.path().c_str(), 0755);
  ::chmod((folder.path() / "locked").c_str(), 0000);
  ::chmod((folder.path() / "closed.md").c_str(), 0000);
  {
    const AsNobody nobody;
    if (!nobody.ok()) GTEST_SKIP() << "can't give up root here";
    const auto found = walk({}, folder.path());
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(show(*found), "closed.md\nopen/b.md\nproblem locked: folder can't be read: permission denied\n");
    EXPECT_EQ(found->unknown, std::vector<std::string>{"locked"});
    EXPECT_EQ(read_found(*found, {"closed.md"}).error().code, ErrorCode::kPermissionDenied);
    EXPECT_EQ(walk({}, folder.path() / "locked").error().code, ErrorCode::kPermissionDenied);
  }
  ::chmod((folder.path() / "locked").c_str(), 0755);
}

TEST(Walk, ASingleFileHasItsNameAsKey) {
  TempFolder folder;
  folder.write("dir/a.md", "x");
  const auto found = walk({}, folder.path() / "dir/a.md");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->path, std::filesystem::canonical(folder.path() / "dir/a.md"));
  EXPECT_EQ(show(*found), "a.md\n");
  EXPECT_EQ(read_found(*found, {"a.md"}), "x");
}

TEST(Walk, ErrorsOfThePathItself) {
  TempFolder folder;
  EXPECT_EQ(walk({}, folder.path() / "nothing").error().code, ErrorCode::kNotFound);
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(walk({}, folder.path() / "pipe").error().code, ErrorCode::kInvalidArgument);
  std::stop_source stop;
  stop.request_stop();
  CallContext call;
  call.stop = stop.get_token();
  EXPECT_EQ(walk(call, folder.path()).error().code, ErrorCode::kCancelled);
}

TEST(Walk, ReadsOnlyWhatIsStillARegularFileBelow) {
  TempFolder outside;
  outside.write("secret.md", "secret");
  outside.write("x.md", "secret");
  TempFolder folder;
  folder.write("a/x.md", "fine");
  const auto found = walk({}, folder.path());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(read_found(*found, {"a/x.md"}), "fine");
  // Swapped after the walk: the folder for a link to the outside, the file for a link, a FIFO.
  folder.remove("a");
  std::filesystem::create_symlink(outside.path(), folder.path() / "a");
  EXPECT_EQ(read_found(*found, {"a/x.md"}).error().code, ErrorCode::kInvalidArgument);
  folder.remove("a");
  std::filesystem::create_directory(folder.path() / "a");
  std::filesystem::create_symlink(outside.path() / "secret.md", folder.path() / "a/x.md");
  EXPECT_EQ(read_found(*found, {"a/x.md"}).error().code, ErrorCode::kInvalidArgument);
  folder.remove("a/x.md");
  ASSERT_EQ(::mkfifo((folder.path() / "a/x.md").c_str(), 0600), 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read_found(*found, {"a/x.md"}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  for (const char* key : {"../secret.md", "a/../../x", "/etc/passwd", "", "a//x.md", "."}) {
    EXPECT_FALSE(read_found(*found, {key}).has_value()) << key;
  }
  folder.write("long.md", "123456");
  EXPECT_EQ(read_found(*found, {"long.md"}, 5).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(read_found(*found, {"long.md"}, 6), "123456");
}

}  // namespace
}  // namespace footnote::ingest
