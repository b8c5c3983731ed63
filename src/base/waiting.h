#pragma once

namespace footnote {

/// Whoever lends out threads and lets another work in the place of one that only waits. Neither call may wait.
class ThreadLender {
 public:
  virtual void begin_waiting() = 0;
  virtual void end_waiting() = 0;

 protected:
  ~ThreadLender() = default;
};

/// Names the lender of this thread for a scope.
class LentThread {
 public:
  explicit LentThread(ThreadLender& lender);
  ~LentThread();
  LentThread(const LentThread&) = delete;
  LentThread& operator=(const LentThread&) = delete;
};

/// Says that this thread waits for somebody else for as long as this lives: a model that writes, a queue of others. What it does in between
/// (a token handed on) is too little to count. Scopes may be nested; on a thread that nobody lent they mean nothing.
class Waiting {
 public:
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

}  // namespace footnote
