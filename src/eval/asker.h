#pragma once

#include <string>
#include <vector>

#include "answer/turn_report.h"
#include "domain/profile.h"
#include "eval/job.h"
#include "eval/system.h"

namespace footnote::eval {

/// Asks like a user, including gate and answer, with the profile of `footnote ask`. --gate replaces the corpus's own threshold. Stores
/// nothing. Borrows both.
class Asker {
 public:
  /// `profile`: how the corpus is searched, before --gate is applied.
  Asker(const EvalJob& job, const System& system, const Profile& profile);

  Result<answer::TurnReport> ask(const std::string& text) const;
  /// The profile used, with --gate applied.
  const Profile& profile() const { return profile_; }

 private:
  const EvalJob& job_;
  const System& system_;
  Profile profile_;
};

/// The keys of the documents that an answer cites, each once, in the order of their first citation.
std::vector<std::string> cited_documents(const Answer& answer);

}  // namespace footnote::eval
