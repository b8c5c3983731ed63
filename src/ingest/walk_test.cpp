#include "ingest/walk.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>

#include "support/temp_folder.h"

namespace footnote::ingest {
namespace {

using footnote::test::TempFolder;

std::string show(const WalkResult& found) {
  std::string out;
  for (const FoundFile& file : found.files) out += file.key + "\n";
  for (const Problem& problem : found.problems) {
    out += std::string(problem.kind == ProblemKind::kIgnored ? "ignored " : "problem ") + problem.path + ": " + problem.reason + "\n";
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

TEST(Walk, HiddenAndKnownNamesAreIgnored) {
  TempFolder folder;
  for (const char* name : {".git/config", ".env", "node_modules/x/README.md", "a.md~", "ok.md"}) folder.write(name, "x");
  check(folder,
        "ok.md\nignored .env: ignored name\nignored .git: ignored name\nignored a.md~: ignored name\nignored node_modules: ignored name\n");
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
  // Longer than PATH_MAX would be refused by mkdir in one go; 300 levels are past the bound and fit.
  folder.write(deep + "x.md", "x");
  folder.write("top.md", "x");
  const auto found = walk({}, folder.path());
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->files.size(), 1u);
  ASSERT_EQ(found->problems.size(), 1u);
  EXPECT_EQ(found->problems[0].reason, "nested more than 64 folders deep");
  EXPECT_EQ(found->unknown.size(), 1u);
}

/// Gives up root for a scope, where it has it.
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
    EXPECT_EQ(read_found(*found, "closed.md").error().code, ErrorCode::kPermissionDenied);
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
  EXPECT_EQ(read_found(*found, "a.md"), "x");
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
  EXPECT_EQ(read_found(*found, "a/x.md"), "fine");
  // Swapped after the walk: the folder for a link that leads out, the file for a link, a FIFO.
  folder.remove("a");
  std::filesystem::create_symlink(outside.path(), folder.path() / "a");
  EXPECT_EQ(read_found(*found, "a/x.md").error().code, ErrorCode::kInvalidArgument);
  folder.remove("a");
  std::filesystem::create_directory(folder.path() / "a");
  std::filesystem::create_symlink(outside.path() / "secret.md", folder.path() / "a/x.md");
  EXPECT_EQ(read_found(*found, "a/x.md").error().code, ErrorCode::kInvalidArgument);
  folder.remove("a/x.md");
  ASSERT_EQ(::mkfifo((folder.path() / "a/x.md").c_str(), 0600), 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read_found(*found, "a/x.md").error().code, ErrorCode::kInvalidArgument);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  for (const char* key : {"../secret.md", "a/../../x", "/etc/passwd", "", "a//x.md", "."}) {
    EXPECT_FALSE(read_found(*found, key).has_value()) << key;
  }
  folder.write("long.md", "123456");
  EXPECT_EQ(read_found(*found, "long.md", 5).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(read_found(*found, "long.md", 6), "123456");
}

}  // namespace
}  // namespace footnote::ingest
