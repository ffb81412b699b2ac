// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac policy list | describe: what there is to choose from; show | set: what the service
/// decides by.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/job_list.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "policy/registry.h"
#include "serve/view_json.h"

namespace almanac::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Slot {
  const char* name;
  std::vector<policy::Entry> choices;
};

std::vector<Slot> slots() {
  const policy::Registry& known = policy::registry();
  return {
      {"order", known.orders()},
      {"placement", known.placements()},
      {"estimate", policy::Registry::estimates()},
      {"shape", known.shapes()},
      {"size", known.sizes()},
      {"capacity", known.capacities()},
      {"throttle", known.throttles()},
      {"share",
       {{"queue", "all jobs stand in one queue", "Hu et al. SC'21 §2.1"},
        {"users", "the user with the least dominant share first, past jobs that do not fit",
         "Ghodsi et al. NSDI'11"},
        {"arrays",
         "the same in an array of cores for CPU jobs and one for GPU jobs, which lend to each "
         "other",
         "Zhao et al. ICDCS'20 (CODA)"},
        {"models", "each model owns an equal part of the GPUs and a queue of its own",
         "Chen et al. TPDS'20 (GENIE) §7.1"}}},
      {"admit",
       {{"nobody", "no deadline is promised: they are for the order", "common practice"},
        {"leases", "deadlines for which enough leases are free are promised, and kept",
         "Gao et al. SoCC'21 (Chronus)"},
        {"shares", "the same on the fewest GPUs that are enough, the rest where it helps most",
         "Gu et al. ASPLOS'23 (ElasticFlow) §4"},
        {"cheapest", "the same, but those of least GPU time are chosen anew in each lease",
         "Almanac; Moore 1968"}}},
      {"colocate",
       {{"alone", "whoever asks whole GPUs has them to itself", "Hu et al. SC'21 §2.1"},
        {"harmless", "who would wait joins a running job where both keep 0.9 of their speed",
         "Narayanan et al. OSDI'20 (Gavel)"}}},
      {"lease",
       {{"lease:S", "all jobs are ranked and dealt out anew every S seconds (300)",
         "Mohan et al. OSDI'22"}}},
      {"reserve",
       {{"strict", "nobody passes a job that cannot be placed", "Hu et al. SC'21 §2.1"},
        {"scan", "whoever fits passes those that do not", "Chen et al. TPDS'20 (GENIE) §6"},
        {"easy:N", "others may pass the first N blocked jobs if they delay none of them",
         "Lifka JSSPP'95"},
        {"conservative", "others may pass if they delay nobody", "Mu'alem & Feitelson 2001 §2"}}},
      {"preempt",
       {{"never", "a job that runs is left alone", "Hu et al. SC'21 §2.1"},
        {"by_rank", "a job is stopped for one of lower rank that takes its place",
         "Gu et al. NSDI'19"},
        {"late", "whoever is late gives way to those whose deadlines can be met", "docs/qos.md"},
        {"quota", "whoever is not among the first jobs that fill the GPUs by count is stopped",
         "Hu et al. SC'21 artifact"}}},
  };
}

Json to_object(const policy::Composition& c) {
  return {{"name", c.name},
          {"summary", c.summary},
          {"source", c.source},
          {"order", c.order},
          {"placement", c.placement},
          {"estimate", c.estimate},
          {"shape", c.shape},
          {"size", c.size},
          {"capacity", c.capacity},
          {"throttle", c.throttle},
          {"share", policy::share_name(c.share)},
          {"admit", policy::admit_name(c.admit)},
          {"colocate", policy::colocate_name(c.colocate)},
          {"reserve", policy::reserve_name(c.reserve)},
          {"preempt", policy::preempt_name(c.preempt)},
          {"lease_s", seconds(c.lease)},
          {"rank_delay_s", seconds(c.rank_delay)},
          {"las_threshold_gpu_s", c.las_threshold_gpu_s},
          {"reserve_cpus", c.reserve_cpus},
          {"trial_s", seconds(c.trial)},
          {"harmless_rate", c.harmless_rate}};
}

int list(const std::string& output) {
  const policy::Registry& known = policy::registry();
  if (output == "json") {
    Json policies = Json::array();
    for (const policy::Composition& each : known.policies()) policies.push_back(to_object(each));
    Json choices;
    for (const Slot& slot : slots()) {
      for (const policy::Entry& each : slot.choices) {
        choices[slot.name].push_back(
            {{"name", each.name}, {"summary", each.summary}, {"source", each.source}});
      }
    }
    fmt::print("{}\n", Json{{"policies", policies}, {"slots", choices}}.dump(2));
    return kDone;
  }
  fmt::print("POLICIES\n");
  for (const policy::Composition& each : known.policies()) {
    fmt::print("  {:20} {}  [{}]\n", each.name, each.summary, each.source);
  }
  fmt::print("\nSLOTS: replace a part of a policy with +, as in qssf+easy:4+best_fit\n");
  for (const Slot& slot : slots()) {
    for (const policy::Entry& each : slot.choices) {
      fmt::print("  {:10} {:20} {}  [{}]\n", slot.name, each.name, each.summary, each.source);
    }
  }
  return kDone;
}

Result<int> describe(const std::string& name, const std::string& output) {
  const auto composition = policy::registry().compose(name);
  if (!composition) return tl::unexpected(composition.error());
  const Json object = to_object(*composition);
  if (output == "json") {
    fmt::print("{}\n", object.dump(2));
    return kDone;
  }
  fmt::print("# {}: {}\n# Source: {}\n# As a file for --policy FILE.toml:\n", composition->name,
             composition->summary, composition->source);
  for (const auto& [key, value] : object.items()) {
    if (key != "source") fmt::print("{} = {}\n", key, value.dump());
  }
  return kDone;
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
  if (options.output == "json") return print_answer(*client, "/v1/overview");
  const auto said = client->get("/v1/overview");
  if (!said) return tl::unexpected(said.error());
  const auto overview = serve::read_overview(said->body);
  if (!overview) return tl::unexpected(overview.error());
  fmt::print("policy  {}\n", overview->policy);
  if (!overview->shadow.empty()) fmt::print("shadow  {}\n", overview->shadow);
  return kDone;
}

Result<int> set(const LiveOptions& options) {
  const bool ends = options.shadow && options.name == "none";
  const auto composition = policy::registry().compose(options.name);
  if (!composition && !ends) return tl::unexpected(composition.error());
  if (options.dry_run) {
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
  fmt::print("{}  {}\n", options.shadow ? "shadow" : "policy", name->empty() ? "none" : *name);
  return kDone;
}

void add_live(Program& program, CLI::App& noun) {
  const auto options = std::make_shared<LiveOptions>();
  CLI::App& showing = *noun.add_subcommand("show", "Show by which policy the service decides");
  add_output(showing, options->output, {"table", "json"});
  options->service.add_to(showing);
  add_example(showing, "almanac policy show");
  program.on(showing, [options] { return show(*options); });
  CLI::App& setting = *noun.add_subcommand("set", "Let the service decide by another from now on");
  setting.add_option("POLICY", options->name, "Name, or name with +choices; none ends a shadow")
      ->required();
  setting.add_flag("--shadow", options->shadow, "Compare it with the policy, let it touch nothing");
  setting.add_flag("--dry-run", options->dry_run, "Say what would be done, do nothing");
  options->service.add_to(setting);
  add_example(setting, "almanac policy set easy");
  add_example(setting, "almanac policy set --shadow srtf");
  program.on(setting, [options] { return set(*options); });
}

}  // namespace

void register_policy(Program& program) {
  CLI::App& noun =
      program.noun(Purpose::choose, "policy", "Scheduling policies and the slots they are made of");
  const auto output = std::make_shared<std::string>("table");
  const auto name = std::make_shared<std::string>();
  const auto add_output = [&](CLI::App& command) {
    command.add_option("-o,--output", *output, "How to print: table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
  };
  CLI::App& listing = *noun.add_subcommand("list", "List all policies and all slot choices");
  add_output(listing);
  add_example(listing, "almanac policy list");
  program.on(listing, [output]() -> Result<int> { return list(*output); });
  CLI::App& describing = *noun.add_subcommand("describe", "Show what a policy is made of");
  describing.add_option("POLICY", *name, "Name, name with +choices, or TOML file")->required();
  add_output(describing);
  add_example(describing, "almanac policy describe qssf+easy:4+best_fit");
  program.on(describing, [output, name] { return describe(*name, *output); });
  add_live(program, noun);
}

}  // namespace almanac::cli
