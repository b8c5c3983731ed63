#pragma once

#include <memory>

#include "api/agent_services.h"
#include "api/widget_routes.h"
#include "app/answer_parts.h"
#include "retrieve/site_retriever.h"

namespace footnote::app {

/// The API for web site visitors: agents, the widget's routes, and the cache of retrievals and answers.
class VisitorDoor {
 public:
  /// Borrows both.
  static Result<std::unique_ptr<VisitorDoor>> open(const CallContext& call, const Settings& settings, AnswerParts& parts,
                                                   access::Keys& keys);

  api::AgentServices agent_services();
  api::WidgetServices widget_services();

 private:
  VisitorDoor(std::unique_ptr<Cache> cache, std::string_view secret, const Settings& settings, AnswerParts& parts, access::Keys& keys);

  AnswerParts& parts_;
  access::Keys& keys_;
  const std::unique_ptr<Cache> cache_;
  const retrieve::SiteRetriever retriever_;
  const answer::VisitorService visitors_;
  api::WidgetDoor door_;
};

}  // namespace footnote::app
