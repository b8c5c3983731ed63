#pragma once

namespace footnote {

/// A pool that lends out threads, and starts a replacement for each thread that is only waiting. Neither call may block.
class ThreadLender {
 public:
  virtual void begin_waiting() = 0;
  virtual void end_waiting() = 0;

 protected:
  ~ThreadLender() = default;
};

/// Registers the lender of this thread for a scope.
class LentThread {
 public:
  explicit LentThread(ThreadLender& lender);
  ~LentThread();
  LentThread(const LentThread&) = delete;
  LentThread& operator=(const LentThread&) = delete;
};

/// Marks this thread as waiting for the length of a scope, for example for a model's output or a queue. Short work in between, such as
/// forwarding a token, does not end the wait. Scopes nest. No effect on a thread that was not lent.
class Waiting {
 public:
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

}  // namespace footnote
