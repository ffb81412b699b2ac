// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac policy list | describe: the available policies; show | set: the policy of the service.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/describe_policy.h"
#include "cli/job_list.h"
#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/terminal.h"
#include "policy/conduct.h"
#include "policy/registry.h"
#include "serve/view_json.h"
#include "service/policies.h"
#include "service/policy_names.h"
#include "steer/policies.h"
#include "text/wrap.h"

namespace almanac::cli {
namespace {

using Json = nlohmann::ordered_json;

/// "a bound; needs true run times, checkpoints; stops jobs"; "" = nothing to say.
std::string conduct(const policy::TraitSet& traits) {
  const auto needs = policy::needs_of(traits);
  std::vector<std::string> parts;
  if (policy::is_bound(traits)) parts.emplace_back("oracle");
  if (!needs.empty()) parts.push_back(fmt::format("needs {}", fmt::join(needs, ", ")));
  for (std::string& deed : policy::deeds_of(traits)) parts.push_back(std::move(deed));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// `text` behind `lead`, broken into lines that fit the terminal, all indented alike.
std::string fitted(const std::string& lead, const std::string& text) {
  constexpr std::size_t kUsual = 100;
  const std::size_t columns = terminal_columns() > 0 ? terminal_columns() : kUsual;
  constexpr std::size_t kLeast = 20;
  const std::size_t width =
      columns < lead.size() + kLeast ? std::string::npos : columns - lead.size();
  std::string made;
  for (const std::string& line : text::wrap(text, width)) {
    made += fmt::format("{}{}\n", made.empty() ? lead : std::string(lead.size(), ' '), line);
  }
  return made;
}

std::string parameters_in_words(const policy::Entry& entry) {
  std::string made;
  for (const policy::Parameter& each : entry.parameters) {
    const std::string usual =
        each.words.empty() ? fmt::format("{}", fmt::join(each.usual, ":")) : each.words.front();
    made +=
        fitted(std::string(35, ' '), fmt::format("{}: {} ({})", each.name, each.summary, usual));
  }
  return made;
}

/// The parts of policies; with all their parameters and sources if `wide`.
std::string slots_in_words(bool wide) {
  std::string made = "\n" + fitted("SLOTS: ",
                                   "replace a part of a policy with +, as in qssf+easy:4+best_fit; "
                                   "a value after a colon is a parameter");
  for (const policy::Registry::Slot& slot : policy::registry().slots()) {
    for (const policy::Entry& each : slot.choices->entries()) {
      made += fitted(fmt::format("  {:10} {:20} ", slot.name(), each.name),
                     wide ? fmt::format("{}  [{}]", each.summary, each.source) : each.summary);
      if (wide) made += parameters_in_words(each);
    }
  }
  if (!wide) {
    made += fitted("",
                   "almanac policy describe NAME shows the parts of a policy and its source, "
                   "describe +PART the parameters of a part, and -o wide all of them");
  }
  return made;
}

/// Names and summaries, broken into lines that fit the terminal.
std::string policies_in_words(const std::vector<policy::Composition>& policies, bool header) {
  constexpr std::size_t kName = 22;
  std::string made = header ? fmt::format("{:{}}SUMMARY\n", "POLICY", kName) : "";
  for (const policy::Composition& each : policies)
    made += fitted(fmt::format("{:{}}", each.name, kName), each.summary);
  return made;
}

/// All policies by name.
std::vector<policy::Composition> sorted_policies() {
  std::vector<policy::Composition> made = policy::registry().policies();
  std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return made;
}

Result<int> list(const ListOptions& options) {
  const policy::Registry& known = policy::registry();
  const std::vector<policy::Composition> sorted = sorted_policies();
  if (options.wants_document()) {
    Json policies = Json::array();
    for (const policy::Composition& each : sorted) {
      policies.push_back(policy_json(each));
    }
    Json choices;
    for (const policy::Registry::Slot& slot : known.slots()) {
      for (const policy::Entry& each : slot.choices->entries()) {
        choices[slot.name()].push_back(part_json(each));
      }
    }
    fmt::print("{}\n", Json{{"policies", policies}, {"slots", choices}}.dump(2));
    return kDone;
  }
  if (options.output == "table" && options.fields.empty() && options.sort.empty()) {
    fmt::print("{}{}", policies_in_words(sorted, !options.no_header),
               options.no_header ? "" : slots_in_words(false));
    return kDone;
  }
  using policy::Composition;
  figure::Rows rows(sorted);
  rows.add("name", "POLICY", &Composition::name);
  rows.add(figure::Tier::key, "summary", "SUMMARY", &Composition::summary);
  rows.add(figure::Tier::detail, "source", "SOURCE", &Composition::source);
  rows.add(figure::Tier::data, "bound", "BOUND",
           [&](const Composition& each) { return policy::is_bound(known.traits(each)); });
  rows.add(figure::Tier::data, "needs", "NEEDS", [&](const Composition& each) {
    return fmt::format("{}", fmt::join(policy::needs_of(known.traits(each)), ", "));
  });
  rows.add("conduct", "CONDUCT",
           [&](const Composition& each) { return conduct(known.traits(each)); });
  return options.print(std::move(rows), slots_in_words(options.output == "wide"));
}

struct LiveOptions {
  ServiceOptions service;
  std::string name;
  bool shadow = false;
  bool dry_run = false;
  std::string output;
};

Result<int> show(const LiveOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.output == "json") return relay_answer(*client, "/v1/overview");
  const auto said = client->get("/v1/overview");
  if (!said) return tl::unexpected(said.error());
  const auto overview = serve::read_overview(said->body);
  if (!overview) return tl::unexpected(overview.error());
  fmt::print("policy  {}\n", overview->policy);
  if (!overview->shadow.empty()) fmt::print("shadow  {}\n", overview->shadow);
  return kDone;
}

/// Fails as the service would refuse the policy, without a change.
Result<void> check(const LiveOptions& options, bool ends) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const auto said = client->get("/v1/overview");
  if (!said) return tl::unexpected(said.error());
  const auto overview = serve::read_overview(said->body);
  if (!overview) return tl::unexpected(overview.error());
  if (!overview->manager.empty() && overview->manager != "slurm") {
    return fail(
        Code::unsupported,
        fmt::format("the service follows the order of {} and sets no policy", overview->manager));
  }
  if (ends) return {};
  if (auto fine = service::only_by_name(options.name); !fine) return fine;
  if (overview->manager == "slurm") {
    if (auto made = steer::compose(options.name); !made) return tl::unexpected(made.error());
  } else if (auto made = service::compose(options.name); !made) {
    return tl::unexpected(made.error());
  }
  return {};
}

Result<int> set(const LiveOptions& options) {
  const bool ends = options.shadow && options.name == "none";
  const auto composition = policy::registry().compose(options.name);
  if (!composition && !ends) return tl::unexpected(composition.error());
  const std::string words = service::live_note(options.name);
  if (options.dry_run) {
    if (const auto fine = check(options, ends); !fine) return tl::unexpected(fine.error());
    if (!words.empty()) note(words);
    fmt::print("would set the {} to {}\n", options.shadow ? "shadow" : "policy", options.name);
    return kDone;
  }
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const auto said = client->put(options.shadow ? "/v1/shadow" : "/v1/policy",
                                Json{{"policy", ends ? "" : options.name}}.dump());
  if (!said) return tl::unexpected(said.error());
  const auto name = serve::read_policy(said->body);
  if (!name) return tl::unexpected(name.error());
  if (!words.empty()) note(words);
  fmt::print("{}  {}\n", options.shadow ? "shadow" : "policy", name->empty() ? "none" : *name);
  return kDone;
}

void add_live(Program& program, CLI::App& noun) {
  const auto options = std::make_shared<LiveOptions>();
  CLI::App& showing =
      *noun.add_subcommand("show", "Show the service's policy, or describe a policy by name");
  showing.add_option("POLICY", options->name,
                     "Policy as describe takes it (default: the service's)");
  add_output(showing, options->output, {"table", "json"});
  options->service.add_to(showing);
  add_example(showing, "almanac policy show");
  add_example(showing, "almanac policy show drf");
  program.on(showing, [options] {
    return options->name.empty() ? show(*options)
                                 : describe_policy(options->name, options->output == "json");
  });
  CLI::App& setting = *noun.add_subcommand("set", "Change the service's scheduling policy");
  setting
      .add_option("POLICY", options->name,
                  "Policy name, or name with +parts; none ends a shadow policy")
      ->required();
  setting.add_flag("--shadow", options->shadow,
                   "Set the shadow policy, which is compared but changes nothing");
  setting.add_flag("--dry-run", options->dry_run, "Print what would happen; change nothing");
  options->service.add_to(setting);
  add_example(setting, "almanac policy set easy");
  add_example(setting, "almanac policy set --shadow srtf");
  program.on(setting, [options] { return set(*options); });
}

}  // namespace

void register_policy(Program& program) {
  CLI::App& noun =
      program.noun(Purpose::schedule, "policy", "List, describe and set scheduling policies");
  const auto listed = std::make_shared<ListOptions>();
  const auto output = std::make_shared<std::string>();
  const auto name = std::make_shared<std::string>();
  CLI::App& listing = *noun.add_subcommand("list", "List all policies and their parts");
  listed->add_to(listing);
  add_example(listing, "almanac policy list");
  listed->on(program, listing, [listed] { return list(*listed); });
  CLI::App& describing = *noun.add_subcommand(
      "describe", "Describe what a policy, or a part of policies, needs and does");
  describing.add_option("POLICY", *name, "Policy name, name with +parts, part, or TOML file")
      ->required();
  add_output(describing, *output, {"table", "json"});
  add_example(describing, "almanac policy describe qssf+easy:4+best_fit");
  add_example(describing, "almanac policy describe proven");
  program.on(describing, [output, name] { return describe_policy(*name, *output == "json"); });
  add_live(program, noun);
}

}  // namespace almanac::cli
