#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace footnote::http {

/// Limits the body bytes that all requests of a server hold in memory together. Thread-safe.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  std::size_t bytes_max() const { return bytes_max_; }

  /// One request's share, released in the destructor. The budget must outlive it.
  class Hold {
   public:
    explicit Hold(ByteBudget& budget) : budget_(&budget) {}
    ~Hold() { budget_->held_ -= bytes_; }
    Hold(Hold&& other) noexcept : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
    Hold& operator=(Hold&&) = delete;

    /// Returns false and changes nothing if the total would exceed the budget. REQUIRES: bytes >= the current share.
    [[nodiscard]] bool grow_to(std::size_t bytes) {
      const std::size_t more = bytes - bytes_;
      const std::size_t all = budget_->held_ += more;
      if (all > budget_->bytes_max_) {
        budget_->held_ -= more;
        return false;
      }
      bytes_ = bytes;
      return true;
    }

   private:
    ByteBudget* budget_;
    std::size_t bytes_ = 0;
  };

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> held_{0};
};

}  // namespace footnote::http
