#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/assert.h"
#include "support/temp_folder.h"

namespace footnote::test {

/// Debian's redis-server on a socket of its own, which keeps nothing on disk and ends with the test.
class RedisServer {
 public:
  RedisServer() { start(); }
  ~RedisServer() { stop(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::string url() const { return "unix://" + socket(); }
  std::string socket() const { return (folder_.path() / "redis.sock").string(); }

  /// Waits until it listens: patiently, for a machine may be busy.
  void start() {
    const std::string socket_path = socket();
    const std::string folder = folder_.path().string();
    std::string arguments[] = {"redis-server", "--port", "0",     "--unixsocket", socket_path,  "--save",  "",
                               "--appendonly", "no",     "--dir", folder,         "--loglevel", "warning", "--logfile",
                               folder + "/log"};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    FOOTNOTE_ASSERT(::posix_spawnp(&pid_, "redis-server", nullptr, nullptr, argv.data(), environ) == 0);
    for (int i = 0; i < 1'000 && !std::filesystem::exists(socket_path); ++i) std::this_thread::sleep_for(std::chrono::milliseconds{10});
    FOOTNOTE_ASSERT(std::filesystem::exists(socket_path));
  }
  void stop() { end(SIGTERM); }
  /// It is there and does not answer; `resume` wakes it.
  void pause() { ::kill(pid_, SIGSTOP); }
  void resume() { ::kill(pid_, SIGCONT); }

 private:
  void end(int signal) {
    if (pid_ == 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
    std::error_code ignored;
    std::filesystem::remove(socket(), ignored);
  }

  TempFolder folder_;
  pid_t pid_ = 0;
};

}  // namespace footnote::test
