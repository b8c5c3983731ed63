#include "providers/sqlite/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "engine/sql/folder_for_test.h"

namespace footnote {
namespace {

using ::testing::HasSubstr;

/// Runs `body` in a child process and returns its exit status.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    // An exception must not return the child to the test runner.
    try {
      ::_exit(body());
    } catch (...) {
      ::_exit(99);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DataFolder, IsMadeWithItsParents) {
  const sql::FolderForTest root;
  const auto path = root.path() / "a" / "b";
  const auto folder = DataFolder::open(path);
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_EQ(folder->path(), path);
  EXPECT_TRUE(std::filesystem::exists(path / kLockFile));
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
}

TEST(DataFolder, ASecondProcessIsRefusedAndToldWhoHasIt) {
  const sql::FolderForTest root;
  auto folder = DataFolder::open(root.path()).value();
  const std::string pid = std::to_string(::getpid());
  const auto refused_naming = [&](const std::string& what) {
    return in_child([&] {
      const auto second = DataFolder::open(root.path());
      if (second || second.error().code != ErrorCode::kFailedPrecondition) return 1;
      if (second.error().message.find(pid) == std::string::npos) return 2;
      return second.error().message.find(what) == std::string::npos ? 3 : 0;
    });
  };
  EXPECT_EQ(refused_naming("--data"), 0);
  ASSERT_TRUE(folder.set_url("http://127.0.0.1:7700", "secret").has_value());
  EXPECT_EQ(refused_naming("http://127.0.0.1:7700"), 0);
  EXPECT_EQ(DataFolder::open(root.path()).error().code, ErrorCode::kFailedPrecondition) << "not even in the same process";

  const auto holder = DataFolder::holder(root.path()).value();
  ASSERT_TRUE(holder.has_value());
  EXPECT_EQ(holder->pid, ::getpid());
  EXPECT_EQ(holder->url, "http://127.0.0.1:7700");
  EXPECT_EQ(holder->token, "secret");
  const auto mode = std::filesystem::status(root.path() / kLockFile).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write) << "only the owner may read the token";
}

TEST(DataFolder, IsFreeAfterItsHolderIsGone) {
  const sql::FolderForTest root;
  {
    const auto folder = DataFolder::open(root.path()).value();
  }
  EXPECT_EQ(DataFolder::holder(root.path()).value(), std::nullopt);
  EXPECT_TRUE(DataFolder::open(root.path()).has_value());
}

TEST(DataFolder, IsFreeAfterItsHolderWasKilled) {
  const sql::FolderForTest root;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto folder = DataFolder::open(root.path());
    if (folder) (void)folder->set_url("http://127.0.0.1:1");
    (void)!::write(ready[1], folder ? "1" : "0", 1);
    ::pause();
    ::_exit(0);
  }
  char held = 0;
  ASSERT_EQ(::read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, '1');
  EXPECT_EQ(DataFolder::holder(root.path()).value()->pid, child);
  EXPECT_EQ(DataFolder::open(root.path()).error().code, ErrorCode::kFailedPrecondition);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(DataFolder::holder(root.path()).value(), std::nullopt);
  EXPECT_TRUE(DataFolder::open(root.path()).has_value());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(DataFolder, NobodyHoldsAFolderThatIsNotThere) { EXPECT_EQ(DataFolder::holder("/nonexistent/footnote-data").value(), std::nullopt); }

TEST(DataFolder, SomethingElseOfThatNameIsRefused) {
  const sql::FolderForTest root;
  std::ofstream(root.path() / "file") << "x";
  EXPECT_EQ(DataFolder::open(root.path() / "file").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(DataFolder::open(root.path() / "file" / "below").error().code, ErrorCode::kInvalidArgument);
}

TEST(DataFolder, AFolderThatMayNotBeWrittenIsRefusedWithTheFix) {
  if (::getuid() != 0) GTEST_SKIP() << "needs another user to be";
  const sql::FolderForTest root;
  std::filesystem::permissions(
      root.path(), std::filesystem::perms::owner_all | std::filesystem::perms::others_read | std::filesystem::perms::others_exec);
  const auto refused = [&](const std::filesystem::path& path) {
    return in_child([&] {
      if (::setuid(65534) != 0) return 1;
      const auto folder = DataFolder::open(path);
      if (folder || folder.error().code != ErrorCode::kPermissionDenied) return 2;
      return folder.error().message.find("--data") == std::string::npos ? 3 : 0;
    });
  };
  EXPECT_EQ(refused(root.path()), 0);
  EXPECT_EQ(refused(root.path() / "new"), 0);
}

TEST(DataFolder, ALockFileThatIsALinkIsNotFollowed) {
  const sql::FolderForTest root;
  const auto precious = root.path() / "precious";
  std::ofstream(precious) << "keep me";
  const auto data = root.path() / "data";
  std::filesystem::create_directory(data);
  std::filesystem::create_symlink(precious, data / kLockFile);
  const auto refused = DataFolder::open(data);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("remove it"));
  EXPECT_EQ(DataFolder::holder(data).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(std::filesystem::file_size(precious), 7U);
}

TEST(DataFolder, ALockThatIsNoPlainFileIsToldApartFromWantOfRights) {
  const sql::FolderForTest root;
  const auto lock = root.path() / kLockFile;
  ASSERT_EQ(::mkfifo(lock.c_str(), 0600), 0);
  EXPECT_EQ(DataFolder::open(root.path()).error().code, ErrorCode::kInvalidArgument) << "and it did not block";
  EXPECT_EQ(DataFolder::holder(root.path()).error().code, ErrorCode::kInvalidArgument);
  std::filesystem::remove(lock);
  std::filesystem::create_directory(lock);
  const auto refused = DataFolder::open(root.path());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("remove it"));
  std::filesystem::remove(lock);
  EXPECT_TRUE(DataFolder::open(root.path()).has_value());
}

TEST(DataFolder, WithoutDescriptorsItSaysWhichLimitToRaise) {
  const sql::FolderForTest root;
  const int code = in_child([&] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return 1;
    const auto folder = DataFolder::open(root.path());
    if (folder || folder.error().code != ErrorCode::kResourceExhausted) return 2;
    return folder.error().message.find("ulimit") == std::string::npos ? 3 : 0;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace footnote
