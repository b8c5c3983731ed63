#pragma once

#include <cstddef>
#include <span>

struct epoll_event;

// For .cpp files of this folder only.
namespace footnote::http {

/// Sockets that are read for long and piece by piece, in an epoll set of their own that the I/O context watches as one descriptor. However
/// many are ready, the context is asked once, and each costs the call of one function. Lives on one I/O thread, and goes after its readers.
class ReadySet {
 public:
  class Reader {
   public:
    virtual ~Reader() = default;
    /// There is something to read, an end or an error. Is called again as long as there is. Must not throw.
    virtual void on_readable() = 0;
  };

  ReadySet();
  ~ReadySet();
  ReadySet(const ReadySet&) = delete;
  ReadySet& operator=(const ReadySet&) = delete;

  /// Readable when a socket of the set is. Below 0 where the system has no more of them: nothing can be added then.
  int descriptor() const { return set_; }

  /// False where the system has no room for it. The socket must not be closed before `remove`.
  [[nodiscard]] bool add(int socket, Reader& reader);
  /// The reader hears nothing more, also of what is being served just now.
  void remove(int socket, const Reader& reader);

  /// Calls the readers of sockets that are ready, each once, and of at most kReadyMax: other work is to have its turn. Doesn't wait.
  void serve();
  static constexpr std::size_t kReadyMax = 128;

 private:
  const int set_;
  std::span<epoll_event> served_;  // in serve(): those whose turn is still to come
};

}  // namespace footnote::http
