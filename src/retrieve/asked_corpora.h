#pragma once

#include <string>
#include <string_view>

#include "base/call_context.h"
#include "domain/catalog.h"
#include "domain/profile.h"
#include "ports/catalog_store.h"
#include "ports/embedder.h"

namespace footnote::retrieve {

/// The models used to answer a question.
struct QuestionModels {
  EmbeddingSpace space;         ///< The embedder's space.
  std::string judge;            ///< The judge's name; empty: no judge.
  std::string code_model = {};  ///< The model that makes token codes; empty: none.
};

/// How to treat a corpus that was embedded by another model than ours. Its vectors are never compared with a question's.
enum class OtherModel {
  kRefuse,      ///< kFailedPrecondition, naming the command that re-embeds it.
  kWordsAlone,  ///< Search by keywords only, for front doors that must answer.
};

/// How a front door with the policy `door` searches this corpus. The one place where this is decided:
/// - Vectors of our embedder, and client vectors with its dimension and distance: searched by vectors and words.
/// - Other client vectors, or only named vectors: searched by words only.
/// - Vectors of another model: see OtherModel.
/// - A model that is not built in has no known scale: its scores only order, and the gate is marked as uncalibrated.
/// - The corpus's calibrated gate applies if it was measured with these models. A door that does not use the judge (`door.judged` is 0)
///   uses only a gate that was measured without one; the scale of the embedder's cosines holds for every door.
Result<Profile> asked_as(const Corpus& corpus, const Profile& door, const QuestionModels& models,
                         OtherModel other_model = OtherModel::kRefuse);

/// A corpus, and how to search it.
struct AskedCorpus {
  Corpus corpus;
  Profile profile;
};

/// Decides for every front door how a corpus is searched. Thread-safe; borrows its ports.
class AskedCorpora {
 public:
  AskedCorpora(const CatalogStore& catalog, const Embedder& embedder, std::string judge)
      : catalog_(catalog), embedder_(embedder), judge_(std::move(judge)) {}

  QuestionModels models() const { return {embedder_.space(), judge_, embedder_.code_model()}; }
  /// The corpus of that name. kNotFound; otherwise the errors of asked_as.
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
