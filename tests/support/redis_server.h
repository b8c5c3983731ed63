#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/assert.h"
#include "support/temp_folder.h"

namespace footnote::test {

/// Debian's redis-server on its own socket, without persistence; it ends with the test.
class RedisServer {
 public:
  RedisServer() { start(); }
  ~RedisServer() { stop(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::string url() const { return "unix://" + socket(); }
  std::string socket() const { return (folder_.path() / "redis.sock").string(); }

  /// Waits until it listens, with a long timeout, because the machine may be busy.
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
    bool listens = false;
    for (int i = 0; i < 1'000 && !(listens = accepts(socket_path)); ++i) std::this_thread::sleep_for(std::chrono::milliseconds{10});
    FOOTNOTE_ASSERT(listens);
  }
  void stop() { end(SIGTERM); }
  /// It runs but does not respond until `resume`.
  void pause() { ::kill(pid_, SIGSTOP); }
  void resume() { ::kill(pid_, SIGCONT); }

 private:
  /// The socket file exists before anything listens on it.
  static bool accepts(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    FOOTNOTE_ASSERT(path.size() < sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    const int probe = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const bool accepted = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(probe);
    return accepted;
  }

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
