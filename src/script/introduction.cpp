// SPDX-License-Identifier: Apache-2.0
#include "script/introduction.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "policy/registry.h"

namespace almanac::script {
namespace {

using Json = nlohmann::json;

/// It names a folder of the run.
bool is_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

Result<policy::Composition> composition_of(const Json& said) {
  if (said.at("almanac_policy") != 1) {
    return fail(Code::unsupported,
                fmt::format("policy -: its program uses protocol version {}, this one uses 1",
                            said.at("almanac_policy").dump()),
                {}, "use the Python package of this version");
  }
  const std::string name = said.at("name");
  if (!is_name(name)) {
    return fail(Code::invalid, fmt::format("policy -: \"{}\" cannot be its name", name), {},
                "the name becomes a folder: not empty, no slash, no dot at the beginning");
  }
  const Json estimate = said.value("estimate", Json());
  std::string text = "fifo+" + said.value("placement", "consolidate");
  if (!estimate.is_null()) text += "+" + estimate.get<std::string>();
  Result<policy::Composition> made = policy::registry().compose(text);
  if (!made) return made;
  policy::TraitSet traits;
  if (!estimate.is_null()) traits.add({policy::Trait::reads_run_times});
  if (said.value("stops_jobs", true)) traits.add({policy::Trait::stops_jobs});
  made->name = name;
  made->summary = "decided by another program";
  made->source = "";
  made->scripted = traits;
  return made;
}

}  // namespace

Result<Guest> meet(int from, int to) {
  Guest guest{.talk = std::make_shared<Talk>(from, to), .composition = {}};
  try {
    auto composition = composition_of(Json::parse(guest.talk->hear()));
    if (!composition) return tl::unexpected(composition.error());
    guest.composition = std::move(*composition);
    return guest;
  } catch (const Broken& broken) {
    return tl::unexpected(broken.error);
  } catch (const Json::exception&) {
    return fail(Code::invalid, "policy -: its first line is not an introduction", {},
                "see docs/guide/script_policies.md for what the program must print");
  }
}

}  // namespace almanac::script
