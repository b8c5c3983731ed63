#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace footnote::http {

/// Bytes that all requests of a server may hold in memory together. Thread-safe.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// What one request holds of it, given back at the end of its life. Outlived by the budget.
  class Hold {
   public:
    explicit Hold(ByteBudget& budget) : budget_(&budget) {}
    ~Hold() { budget_->held_ -= bytes_; }
    Hold(Hold&& other) noexcept : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
    Hold& operator=(Hold&&) = delete;

    /// False, and nothing changes, when all together would hold too much. REQUIRES: bytes is not less than before.
    [[nodiscard]] bool grow_to(std::size_t bytes) {
      const std::size_t more = bytes - bytes_;
      if ((budget_->held_ += more) > budget_->bytes_max_) {
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
