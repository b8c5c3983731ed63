#pragma once

#include <memory>
#include <string>
#include <vector>

#include "access/keys.h"
#include "api/routes.h"
#include "app/answer_parts.h"
#include "app/kb_door.h"
#include "app/points_door.h"
#include "app/project_door.h"
#include "app/proxy_door.h"
#include "app/source_door.h"
#include "app/upkeep_parts.h"
#include "app/visitor_door.h"
#include "app/web_door.h"

namespace footnote::app {

struct ServerOptions {
  AgentNotes notes = AgentNotes::kOff;
  AnswerOptions answer = {};
};

/// A whole server on one data folder: answering, the APIs, keys and upkeep. A new API is a class of its own and a member here.
class ServerParts {
 public:
  static Result<std::unique_ptr<ServerParts>> open(const CallContext& call, const Settings& settings, DataFolder folder,
                                                   ServerOptions options = {});

  IngestParts& base() { return parts_->base(); }
  access::Keys& keys() { return *keys_; }
  UpkeepParts& upkeep() { return upkeep_; }
  SourceDoor& sources() { return *sources_; }
  /// Authenticates callers that can read the data folder; new with each start.
  const std::string& owner_token() const { return owner_token_; }
  /// Dependencies of the HTTP routes, borrowed from here.
  api::Services services(std::vector<std::string> example_questions);

 private:
  std::vector<api::Check> check_store(const CallContext& call, WorkspaceId workspace);
  struct Opened {
    std::unique_ptr<AnswerParts> parts;
    std::string owner_token;
    std::unique_ptr<access::Keys> keys;
    std::unique_ptr<PointsDoor> points;
    std::unique_ptr<ProxyDoor> proxy;
    std::unique_ptr<VisitorDoor> visitors;
    std::unique_ptr<SourceDoor> sources;
    std::unique_ptr<ProjectDoor> projects;
    std::unique_ptr<WebDoor> web;
  };
  ServerParts(Opened opened, const Settings& settings);

  // Each part uses only those above it, so they are destroyed in the right order.
  const std::unique_ptr<AnswerParts> parts_;
  const std::string owner_token_;
  const std::unique_ptr<access::Keys> keys_;
  const std::unique_ptr<PointsDoor> points_;
  const std::unique_ptr<ProxyDoor> proxy_;
  const std::unique_ptr<VisitorDoor> visitors_;
  const std::unique_ptr<WebDoor> web_;         ///< Null: no pages are fetched.
  const std::unique_ptr<SourceDoor> sources_;  ///< Borrows the crawler of web_.
  KbDoor kb_;
  const std::unique_ptr<ProjectDoor> projects_;
  const ingest::Secrets secrets_;
  UpkeepParts upkeep_;
};

}  // namespace footnote::app
