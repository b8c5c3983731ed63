#pragma once

#include "answer/answer_service.h"
#include "domain/catalog.h"
#include "retrieve/asked_corpora.h"
#include "retrieve/retriever.h"

namespace footnote::eval {

/// The system under test. Borrowed.
struct System {
  const retrieve::Retriever& retriever;
  const answer::AnswerService& answers;
  retrieve::QuestionModels models;
  Corpus corpus;
};

}  // namespace footnote::eval
