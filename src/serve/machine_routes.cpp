// SPDX-License-Identifier: Apache-2.0

/// \file
/// The routes of the whole cluster: overview, nodes, policies.
#include <fmt/format.h>

#include "policy/registry.h"
#include "serve/answers.h"
#include "serve/api.h"
#include "serve/fields.h"
#include "serve/query.h"
#include "serve/view_json.h"
#include "service/policies.h"
#include "service/policy_names.h"

namespace almanac::serve {
namespace {

/// The body {"policy": "NAME"}.
Result<std::string> read_policy_name(const std::string& body) {
  const auto name = read_json(body, [](const Json& json) {
    std::optional<std::string> said;
    Reader reader(json);
    reader.field("policy", said);
    reader.end();
    return said;
  });
  if (!name) return tl::unexpected(name.error());
  if (!*name) return fail(Code::invalid, "send {\"policy\": \"NAME\"}");
  if (const auto fine = service::only_by_name(**name); !fine) return tl::unexpected(fine.error());
  return **name;
}

}  // namespace

void Api::add_machine() {
  on("GET", "/v1/overview", [this](const Ask& ask, const std::string&) {
    return json_at(ask, service_.revision(), [this] { return to_json(service_.overview()); });
  });
  on("GET", "/v1/nodes",
     [this](const Ask&, const std::string&) { return json(to_json(service_.nodes())); });
  on("PUT", "/v1/nodes/{name}", [this](const Ask& ask, const std::string& part) {
    const auto drained = read_json(ask.body, [](const Json& body) {
      std::optional<bool> said;
      Reader reader(body);
      reader.field("drained", said);
      reader.end();
      return said;
    });
    if (!drained) return problem(drained.error());
    if (!*drained) return problem(400, "send {\"drained\": true} or false");
    const service::Caller caller = guard_.caller(ask);
    if (!caller.may_all) return problem(403, "only the user who runs the service can drain nodes");
    const auto done = service_.set_drained(part, **drained, caller);
    return done ? json(to_json(service_.nodes())) : problem(done.error());
  });
  on("GET", "/v1/policies", [](const Ask&, const std::string&) {
    Json policies = Json::array();
    for (const policy::Composition& each : policy::registry().policies()) {
      policies.push_back({{"name", each.name}, {"summary", each.summary}, {"source", each.source}});
    }
    return json(dumped({{"policies", policies}}));
  });

  on("GET", "/v1/policy", [this](const Ask&, const std::string&) {
    return json(dumped({{"policy", service_.overview().policy}}));
  });
  on("GET", "/v1/shadow", [this](const Ask&, const std::string&) {
    return json(shadow_json(service_.overview().shadow, service_.shadow()));
  });
  on("GET", "/v1/manager", [this](const Ask&, const std::string&) {
    const auto manager = service_.manager();
    return manager ? json(to_json(*manager)) : none_yet();
  });
  on("GET", "/v1/tenants", [this](const Ask&, const std::string&) {
    const auto tenancy = service_.tenancy();
    return tenancy ? json(to_json(*tenancy)) : problem(tenancy.error());
  });
  on("GET", "/v1/defrag", [this](const Ask&, const std::string&) {
    const auto compactions = service_.compactions();
    return compactions ? json(to_json(*compactions)) : problem(compactions.error());
  });
  using Change = Result<void> (service::Service::*)(const std::string&, const service::Caller&);
  const auto set = [this](const char* path, Change act) {
    on("PUT", path, [this, act](const Ask& ask, const std::string&) {
      const auto name = read_policy_name(ask.body);
      if (!name) return problem(name.error());
      const service::Caller caller = guard_.caller(ask);
      if (!caller.may_all)
        return problem(403, "only the user who runs the service can set its policy");
      const auto done = (service_.*act)(*name, caller);
      if (!done) return problem(done.error());
      Json answer = {{"policy", *name}};
      if (std::string words = service::live_note(*name); !words.empty()) {
        answer["note"] = std::move(words);
      }
      return json(dumped(answer));
    });
  };
  set("/v1/policy", &service::Service::set_policy);
  set("/v1/shadow", &service::Service::set_shadow);
}

}  // namespace almanac::serve
