#include "app/admin_link.h"

#include "access/key_text.h"
#include "api/admin_routes.h"
#include "api/door.h"
#include "app/folder_access.h"
#include "base/assert.h"
#include "cli/server_link.h"
#include "http/url.h"
#include "upkeep/stores.h"

namespace footnote::app {
namespace {

class RemoteAdmin final : public AdminLink {
 public:
  explicit RemoteAdmin(const HeldByServer& server) : server_(server.url, server.token, std::string(kDefaultWorkspace)) {}
  Result<Json> send(const CallContext& call, http::Method method, const std::string& target, const Json* body) override {
    return server_.send(call, method, target, body);
  }

 private:
  cli::ServerLink server_;
};

class LocalAdmin final : public AdminLink {
 public:
  static Result<std::unique_ptr<AdminLink>> open(const CallContext& call, DataFolder folder) {
    auto link = std::unique_ptr<LocalAdmin>(new LocalAdmin);
    FOOTNOTE_TRY(link->stores_, upkeep::Stores::open(call, std::move(folder), kDefaultWorkspace));
    upkeep::Stores& stores = *link->stores_;
    FOOTNOTE_TRY(link->keys_, access::Keys::open(call, stores.catalog(), stores.clock(), link->token_));
    const api::Door door{*link->keys_, stores.catalog(), stores.workspace(), link->metrics_};
    std::vector<http::Route> routes;
    for (api::Route& route : api::make_admin_routes({*link->keys_, stores.catalog()}))
      routes.push_back(api::guarded(door, std::move(route)));
    FOOTNOTE_TRY(auto router, http::Router::build(std::move(routes)));
    link->router_ = std::make_unique<http::Router>(std::move(router));
    return link;
  }

  Result<Json> send(const CallContext& call, http::Method method, const std::string& target, const Json* body) override {
    const std::string_view path = std::string_view(target).substr(0, target.find('?'));
    FOOTNOTE_TRY(auto match, router_->match(method, path));
    FOOTNOTE_ASSERT(match.route != nullptr);
    http::Request request;
    request.method = method;
    request.path = path;
    request.path_params = std::move(match.path_params);
    if (path.size() < target.size()) {
      FOOTNOTE_TRY(request.query, http::parse_query(std::string_view(target).substr(path.size() + 1)));
    }
    request.headers.set("authorization", "Bearer " + token_);
    if (body != nullptr) request.body = to_text(*body);
    if (const auto refused = match.route->admit(request)) return std::unexpected(cli::error_of_response(refused->status, refused->body));
    const http::Response response = std::get<http::Handler>(match.route->handler)(request, call);
    if (response.status >= 300) return std::unexpected(cli::error_of_response(response.status, response.body));
    return parse_json(response.body);
  }

 private:
  LocalAdmin() = default;

  const std::string token_ = access::make_owner_text();
  Metrics metrics_;
  std::unique_ptr<upkeep::Stores> stores_;
  std::unique_ptr<access::Keys> keys_;
  std::unique_ptr<http::Router> router_;
};

}  // namespace

Result<std::unique_ptr<AdminLink>> open_admin_link(const cli::CommandContext& context) {
  FOOTNOTE_TRY(FolderAccess access, access_folder(context.settings, Missing::kCreate));
  if (const auto* server = std::get_if<HeldByServer>(&access)) return std::make_unique<RemoteAdmin>(*server);
  return LocalAdmin::open(context.call, std::get<DataFolder>(std::move(access)));
}

}  // namespace footnote::app
