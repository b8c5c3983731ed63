#pragma once

#include <string>
#include <string_view>

#include "base/call_context.h"
#include "domain/catalog.h"
#include "domain/profile.h"
#include "ports/catalog_store.h"
#include "ports/embedder.h"

namespace footnote::retrieve {

/// The models that take part when a question is asked.
struct QuestionModels {
  EmbeddingSpace space;  ///< Of the embedder.
  std::string judge;     ///< Its name; empty: there is none.
};

/// What to do with a corpus that was embedded by another model than ours. Its vectors are never compared with a question's.
enum class OtherModel {
  kRefuse,      ///< kFailedPrecondition, with the command that embeds it anew.
  kWordsAlone,  ///< For a front door that has to answer: search by keywords only.
};

/// How a front door with the policy `door` asks this corpus. The one place where this is decided:
/// - Vectors of our embedder, and vectors of clients with its dimension and distance: searched by vectors and words.
/// - Other vectors of clients, or only named vectors: searched by words alone.
/// - Vectors of another model: see OtherModel.
/// - The corpus's calibrated gate applies if it was measured with these models. A door that does not ask the judge (`door.judged` is 0)
///   uses only a gate that was measured without one.
Result<Profile> asked_as(const Corpus& corpus, const Profile& door, const QuestionModels& models,
                         OtherModel other_model = OtherModel::kRefuse);

/// The same with this threshold in place of the calibrated one.
void set_threshold(Profile& profile, const QuestionModels& models, double threshold);

/// A corpus, and how it is asked.
struct AskedCorpus {
  Corpus corpus;
  Profile profile;
};

/// Answers "how is this corpus asked" for every front door. Thread-safe; borrows its ports.
class AskedCorpora {
 public:
  AskedCorpora(const CatalogStore& catalog, const Embedder& embedder, std::string judge)
      : catalog_(catalog), embedder_(embedder), judge_(std::move(judge)) {}

  QuestionModels models() const { return {embedder_.space(), judge_}; }
  /// The corpus that a caller named. kNotFound; otherwise as asked_as.
  Result<AskedCorpus> find(const CallContext& call, WorkspaceId workspace, std::string_view name, const Profile& door) const;
  Result<Profile> asked_as(const Corpus& corpus, const Profile& door, OtherModel other_model = OtherModel::kRefuse) const {
    return retrieve::asked_as(corpus, door, models(), other_model);
  }

 private:
  const CatalogStore& catalog_;
  const Embedder& embedder_;
  const std::string judge_;
};

}  // namespace footnote::retrieve
