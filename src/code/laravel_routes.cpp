#include "code/laravel_routes.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "code/plural.h"

namespace footnote::code {
namespace {

using syntax::Node;
using syntax::Walk;

struct Group {
  std::string prefix;
  std::string name;
  std::string controller;
  std::vector<std::string> middleware;
  std::string symbol;  ///< Of the nearest group's unit; empty: none.
};

struct RouteFacts {
  std::vector<std::string> methods;
  std::string uri;
  std::string name;
  std::string controller;
  std::string action;
  std::vector<std::string> middleware;
};

struct ResourceAction {
  std::string_view action;
  std::vector<std::string> methods;
  bool on_item;
  std::string_view suffix;
  bool api;
};

const std::vector<ResourceAction>& resource_actions() {
  static const std::vector<ResourceAction> actions = {
      {"index", {"GET", "HEAD"}, false, "", true},
      {"create", {"GET", "HEAD"}, false, "/create", false},
      {"store", {"POST"}, false, "", true},
      {"show", {"GET", "HEAD"}, true, "", true},
      {"edit", {"GET", "HEAD"}, true, "/edit", false},
      {"update", {"PUT", "PATCH"}, true, "", true},
      {"destroy", {"DELETE"}, true, "", true},
  };
  return actions;
}

std::string joined_uri(std::string_view prefix, std::string_view uri) {
  const auto strip = [](std::string_view text) {
    while (text.starts_with('/')) text.remove_prefix(1);
    while (text.ends_with('/')) text.remove_suffix(1);
    return text;
  };
  std::string out = "/";
  out += strip(prefix);
  if (out.size() > 1 && !strip(uri).empty()) out += '/';
  out += strip(uri);
  return out;
}

std::vector<std::string> parameters_of(std::string_view uri) {
  std::vector<std::string> out;
  for (std::size_t at = uri.find('{'); at != std::string_view::npos; at = uri.find('{', at + 1)) {
    const std::size_t end = uri.find('}', at);
    if (end == std::string_view::npos) break;
    out.emplace_back(uri.substr(at + 1, end - at - 1));
  }
  return out;
}

std::vector<std::string> verbs_of(std::string_view call) {
  if (call == "get") return {"GET", "HEAD"};
  if (call == "post") return {"POST"};
  if (call == "put") return {"PUT"};
  if (call == "patch") return {"PATCH"};
  if (call == "delete") return {"DELETE"};
  if (call == "options") return {"OPTIONS"};
  if (call == "any") return {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  if (call == "view") return {"GET", "HEAD"};
  if (call == "redirect" || call == "permanentRedirect") return {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  return {};
}

class RouteReader {
 public:
  RouteReader(std::string_view path, const PhpFile& file, CodeFile& out) : path_(path), file_(file), out_(out), source_(out.text) {}

  void read(Node root) {
    Group top;
    if (path_.ends_with("routes/api.php")) top = {.prefix = "api", .middleware = {"api"}};
    if (path_.ends_with("routes/web.php")) top.middleware = {"web"};
    read_block(root, top, 0);
  }

 private:
  /// Reads the routes below a node that are not inside of another chain.
  void read_block(Node block, const Group& group, int depth) {
    Walk walk(block);
    while (const Node node = walk.next()) {
      if (out_.units.size() >= kUnitsMax) return;
      const auto chain = php_chain(node, source_);
      if (!chain || chain->scope != "Route") continue;
      walk.skip();
      read_chain(node, *chain, group, depth);
    }
  }

  void read_chain(Node node, const PhpChain& chain, const Group& group, int depth) {
    const PhpCall& last = chain.calls.back();
    if (last.name == "group") return read_group(node, chain, group, depth);
    Group attributes = group;
    std::vector<PhpCall> after;
    const PhpCall* verb = nullptr;
    for (const PhpCall& call : chain.calls) {
      if (verb != nullptr) {
        after.push_back(call);
      } else if (is_verb(call.name)) {
        verb = &call;
      } else {
        apply(call, attributes);
      }
    }
    if (verb == nullptr) return;
    if (verb->name == "resource" || verb->name == "apiResource") return add_resource(node, *verb, after, attributes);
    if (verb->name == "resources" || verb->name == "apiResources") return add_resources(*verb, attributes);
    if (verb->name == "singleton") return add_singleton(node, *verb, after, attributes);
    add_route(node, *verb, after, attributes);
  }

  static bool is_verb(std::string_view name) {
    return !verbs_of(name).empty() || name == "match" || name == "fallback" || name == "resource" || name == "apiResource" ||
           name == "resources" || name == "apiResources" || name == "singleton";
  }

  /// prefix(), name(), middleware() ... before the verb or group.
  void apply(const PhpCall& call, Group& group) const {
    const auto arguments = php_arguments(call.node);
    if (arguments.empty()) return;
    if (call.name == "prefix") group.prefix = joined_uri(group.prefix, php_string(arguments[0], source_).value_or(""));
    if (call.name == "name" || call.name == "as") group.name += php_string(arguments[0], source_).value_or("");
    if (call.name == "controller") group.controller = php_class_constant(arguments[0], source_, file_.names).value_or("");
    if (call.name == "middleware") add_middleware(arguments, group.middleware);
    if (call.name == "withoutMiddleware") remove_middleware(arguments, group.middleware);
  }

  void add_middleware(const std::vector<Node>& arguments, std::vector<std::string>& out) const {
    for (const Node argument : arguments) {
      for (const std::string& name : php_strings(argument, source_)) out.push_back(name);
      if (const auto name = php_class_constant(argument, source_, file_.names)) out.push_back(*name);
      for (const PhpEntry& entry : php_entries(argument)) {
        if (const auto name = php_class_constant(entry.value, source_, file_.names)) out.push_back(*name);
      }
    }
  }

  void remove_middleware(const std::vector<Node>& arguments, std::vector<std::string>& out) const {
    std::vector<std::string> gone;
    add_middleware(arguments, gone);
    std::erase_if(out, [&](const std::string& name) { return std::ranges::find(gone, name) != gone.end(); });
  }

  void apply_array(Node array, Group& group) const {
    for (const PhpEntry& entry : php_entries(array)) {
      const std::string key = php_string(entry.key, source_).value_or("");
      const std::string value = php_string(entry.value, source_).value_or("");
      if (key == "prefix") group.prefix = joined_uri(group.prefix, value);
      if (key == "as") group.name += value;
      if (key == "middleware") add_middleware({entry.value}, group.middleware);
      if (key == "controller") group.controller = php_class_constant(entry.value, source_, file_.names).value_or("");
    }
  }

  void read_group(Node node, const PhpChain& chain, const Group& outer, int depth) {
    Group group = outer;
    for (const PhpCall& call : chain.calls) {
      if (call.name != "group") apply(call, group);
    }
    const auto arguments = php_arguments(chain.calls.back().node);
    if (arguments.size() > 1) apply_array(arguments.front(), group);
    if (arguments.empty()) return;
    const Node body = arguments.back().field("body");
    if (!body || depth >= kRouteGroupDepthMax) return read_block(body, group, depth);

    Unit unit{.type = SourceType::kRoute, .kind = "group", .symbol = unique("group " + joined_uri(group.prefix, ""))};
    unit.header = "route " + unit.symbol;
    if (!group.middleware.empty()) unit.header += " middleware " + join(group.middleware, ", ");
    set_extent(node, unit);
    unit.facts["prefix"] = {joined_uri(group.prefix, "")};
    if (!group.name.empty()) unit.facts["name_prefix"] = {group.name};
    if (!group.middleware.empty()) unit.facts["middleware"] = group.middleware;
    if (!outer.symbol.empty()) unit.facts["group"] = {outer.symbol};
    group.symbol = unit.symbol;
    const std::size_t at = out_.units.size();
    out_.units.push_back(std::move(unit));
    read_block(body, group, depth + 1);
    std::vector<std::string> names;
    for (std::size_t i = at + 1; i < out_.units.size(); ++i) {
      if (out_.units[i].kind != "group") names.push_back(out_.units[i].symbol);
    }
    out_.units[at].facts["routes"] = std::move(names);
  }

  void set_handler(Node handler, const Group& group, RouteFacts& route) const {
    if (const auto invokable = php_class_constant(handler, source_, file_.names)) {
      route.controller = *invokable;
      route.action = "__invoke";
    } else if (const auto text = php_string(handler, source_)) {
      const std::size_t at = text->find('@');
      route.controller = at == std::string::npos ? group.controller : file_.names.full_name(text->substr(0, at));
      route.action = at == std::string::npos ? *text : text->substr(at + 1);
      if (route.controller.empty()) {
        route.controller = *text;
        route.action = "__invoke";
      }
    } else if (const auto parts = php_entries(handler); parts.size() == 2) {
      route.controller = php_class_constant(parts[0].value, source_, file_.names).value_or("");
      route.action = php_string(parts[1].value, source_).value_or("");
    } else {
      route.action = "closure";
    }
  }

  void add_route(Node node, const PhpCall& verb, const std::vector<PhpCall>& after, Group group) {
    auto arguments = php_arguments(verb.node);
    RouteFacts route{.methods = verbs_of(verb.name)};
    if (verb.name == "match" && !arguments.empty()) {
      for (const std::string& method : php_strings(arguments[0], source_)) {
        route.methods.push_back(method);
        for (char& c : route.methods.back()) c = is_ascii_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
      }
      arguments.erase(arguments.begin());
    }
    if (verb.name == "fallback") {
      route.methods = {"GET", "HEAD"};
      route.uri = joined_uri(group.prefix, "{fallbackPlaceholder}");
      if (!arguments.empty()) set_handler(arguments[0], group, route);
    } else {
      if (arguments.empty()) return;
      const auto uri = php_string(arguments[0], source_);
      if (!uri) return;
      route.uri = joined_uri(group.prefix, *uri);
      if (verb.name == "view" || verb.name == "redirect" || verb.name == "permanentRedirect") {
        route.action = verb.name;
      } else if (arguments.size() > 1) {
        set_handler(arguments[1], group, route);
      }
    }
    Group own = group;
    own.name.clear();
    for (const PhpCall& call : after) apply(call, own);
    if (!own.name.empty()) route.name = group.name + own.name;
    route.middleware = own.middleware;
    add_unit(node, route, group);
  }

  void add_unit(Node node, const RouteFacts& route, const Group& group) {
    Unit unit{.type = SourceType::kRoute};
    const std::string methods = join(route.methods, "|");
    unit.symbol = unique(route.name.empty() ? methods + " " + route.uri : route.name);
    const std::string handler = route.controller.empty() ? route.action : route.controller + "::" + route.action;
    unit.header = "route " + methods + " " + route.uri;
    if (!route.name.empty()) unit.header += " name " + route.name;
    unit.header += " -> " + handler;
    if (!route.middleware.empty()) unit.header += " middleware " + join(route.middleware, ", ");
    set_extent(node, unit);
    unit.facts["methods"] = route.methods;
    unit.facts["uri"] = {route.uri};
    if (!route.name.empty()) unit.facts["name"] = {route.name};
    if (!route.controller.empty()) unit.facts["controller"] = {route.controller};
    if (!route.action.empty()) unit.facts["action"] = {route.action};
    if (!route.middleware.empty()) unit.facts["middleware"] = route.middleware;
    if (auto parameters = parameters_of(route.uri); !parameters.empty()) unit.facts["params"] = std::move(parameters);
    if (!group.symbol.empty()) unit.facts["group"] = {group.symbol};
    for (const std::string& method : route.methods) unit.facts["operations"].push_back(operation_key(method, route.uri));
    if (!route.controller.empty()) unit.references.push_back({RefKind::kHandler, route.controller + "::" + route.action});
    for (const std::string& name : route.middleware) {
      if (name.find('\\') != std::string::npos) unit.references.push_back({RefKind::kClass, name});
    }
    out_.units.push_back(std::move(unit));
  }

  /// only(), except(), names(), parameters() of a resource.
  struct ResourceOptions {
    std::vector<std::string> only;
    std::vector<std::string> except;
    std::map<std::string, std::string> names;
    std::map<std::string, std::string> parameters;
    std::string base_name;
    bool shallow = false;
  };

  void read_pairs(Node array, std::map<std::string, std::string>& out) const {
    for (const PhpEntry& entry : php_entries(array)) {
      const auto key = php_string(entry.key, source_);
      const auto value = php_string(entry.value, source_);
      if (key && value) out[*key] = *value;
    }
  }

  ResourceOptions options_of(const std::vector<PhpCall>& after, Node array, Group& group) const {
    ResourceOptions out;
    const auto set = [&](std::string_view name, const std::vector<Node>& arguments) {
      if (name == "shallow") out.shallow = true;
      if (arguments.empty()) return;
      if (name == "only") out.only = php_strings(arguments[0], source_);
      if (name == "except") out.except = php_strings(arguments[0], source_);
      if (name == "names") {
        if (const auto base = php_string(arguments[0], source_)) out.base_name = *base;
        read_pairs(arguments[0], out.names);
      }
      if (name == "parameters") read_pairs(arguments[0], out.parameters);
    };
    for (const PhpCall& call : after) {
      set(call.name, php_arguments(call.node));
      if (call.name == "middleware" || call.name == "withoutMiddleware") apply(call, group);
    }
    for (const PhpEntry& entry : php_entries(array)) set(php_string(entry.key, source_).value_or(""), {entry.value});
    return out;
  }

  void expand(Node node, const std::string& resource, const std::string& controller, bool api, const ResourceOptions& options,
              const Group& group) {
    const auto segments = split(resource, '.');
    std::string path;
    std::string shallow_path;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const std::string segment(segments[i]);
      if (i + 1 < segments.size()) path += segment + "/{" + parameter_of(segment, options) + "}/";
      if (i + 1 == segments.size()) {
        path += segment;
        shallow_path = segment;
      }
    }
    const std::string last(last_name(segments.back()));
    const std::string parameter = "/{" + parameter_of(std::string(segments.back()), options) + "}";
    const std::string base = options.base_name.empty() ? resource_name(resource) : options.base_name;
    for (const ResourceAction& action : resource_actions()) {
      const std::string name(action.action);
      if (api && !action.api) continue;
      if (!options.only.empty() && std::ranges::find(options.only, name) == options.only.end()) continue;
      if (std::ranges::find(options.except, name) != options.except.end()) continue;
      RouteFacts route{.methods = action.methods, .controller = controller, .action = name, .middleware = group.middleware};
      const bool short_path = options.shallow && action.on_item;
      route.uri =
          joined_uri(group.prefix, (short_path ? shallow_path : path) + (action.on_item ? parameter : "") + std::string(action.suffix));
      const auto given = options.names.find(name);
      route.name = group.name + (given != options.names.end() ? given->second : (short_path ? last : base) + "." + name);
      add_unit(node, route, group);
    }
  }

  /// "admin/photos" is named "photos".
  static std::string resource_name(std::string_view resource) {
    const std::size_t slash = resource.rfind('/');
    return std::string(slash == std::string_view::npos ? resource : resource.substr(slash + 1));
  }

  static std::string parameter_of(const std::string& segment, const ResourceOptions& options) {
    const auto given = options.parameters.find(segment);
    if (given != options.parameters.end()) return given->second;
    std::string out = singular(resource_name(segment));
    std::ranges::replace(out, '-', '_');
    return out;
  }

  void add_resource(Node node, const PhpCall& verb, const std::vector<PhpCall>& after, Group group) {
    const auto arguments = php_arguments(verb.node);
    if (arguments.size() < 2) return;
    const auto resource = php_string(arguments[0], source_);
    if (!resource || resource->empty()) return;
    const std::string controller = controller_of(arguments[1]);
    const ResourceOptions options = options_of(after, arguments.size() > 2 ? arguments[2] : Node{}, group);
    expand(node, *resource, controller, verb.name == "apiResource", options, group);
  }

  void add_resources(const PhpCall& verb, const Group& group) {
    const auto arguments = php_arguments(verb.node);
    if (arguments.empty()) return;
    for (const PhpEntry& entry : php_entries(arguments[0])) {
      const auto resource = php_string(entry.key, source_);
      if (resource && !resource->empty()) expand(entry.node, *resource, controller_of(entry.value), verb.name == "apiResources", {}, group);
    }
  }

  void add_singleton(Node node, const PhpCall& verb, const std::vector<PhpCall>& after, Group group) {
    const auto arguments = php_arguments(verb.node);
    if (arguments.size() < 2) return;
    const auto resource = php_string(arguments[0], source_);
    if (!resource || resource->empty()) return;
    const ResourceOptions options = options_of(after, {}, group);
    for (const auto& [action, methods, suffix] : {std::tuple{"show", std::vector<std::string>{"GET", "HEAD"}, ""},
                                                  std::tuple{"edit", std::vector<std::string>{"GET", "HEAD"}, "/edit"},
                                                  std::tuple{"update", std::vector<std::string>{"PUT", "PATCH"}, ""}}) {
      if (!options.only.empty() && std::ranges::find(options.only, action) == options.only.end()) continue;
      if (std::ranges::find(options.except, action) != options.except.end()) continue;
      RouteFacts route{.methods = methods, .controller = controller_of(arguments[1]), .action = action, .middleware = group.middleware};
      route.uri = joined_uri(group.prefix, *resource + suffix);
      route.name = group.name + resource_name(*resource) + "." + action;
      add_unit(node, route, group);
    }
  }

  std::string controller_of(Node node) const {
    if (const auto name = php_class_constant(node, source_, file_.names)) return *name;
    const auto text = php_string(node, source_);
    return text ? file_.names.full_name(*text) : std::string();
  }

  static void set_extent(Node node, Unit& unit) {
    unit.range = {node.begin(), node.end()};
    unit.first_line = node.first_line();
    unit.last_line = node.last_line();
  }

  std::string unique(std::string symbol) {
    const int count = ++seen_[symbol];
    return count == 1 ? symbol : symbol + " #" + std::to_string(count);
  }

  const std::string_view path_;
  const PhpFile& file_;
  CodeFile& out_;
  const std::string_view source_;
  std::map<std::string, int> seen_;
};

}  // namespace

bool is_route_file(std::string_view path) {
  return path.ends_with(".php") && (path.starts_with("routes/") || path.find("/routes/") != std::string_view::npos);
}

std::string operation_key(std::string_view method, std::string_view uri) {
  std::string out(method);
  out += ' ';
  bool inside = false;
  for (const char c : uri) {
    if (c == '{') out += "{}";
    if (c == '{') inside = true;
    if (!inside) out += c;
    if (c == '}') inside = false;
  }
  while (out.size() > method.size() + 2 && out.ends_with('/')) out.pop_back();
  return out;
}

void add_route_units(std::string_view path, Node root, const PhpFile& file, CodeFile& out) { RouteReader(path, file, out).read(root); }

}  // namespace footnote::code
