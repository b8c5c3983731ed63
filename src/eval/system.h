#pragma once

#include <string>

#include "answer/answer_service.h"
#include "domain/catalog.h"
#include "retrieve/retriever.h"

namespace footnote::eval {

/// The system under measurement. Borrowed.
struct System {
  const retrieve::Retriever& retriever;
  const answer::AnswerService& answers;
  std::string judge;  ///< The name of the reranker; empty: none.
  Corpus corpus;
};

}  // namespace footnote::eval
