// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference compare: the same requests through several compositions of a service.
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <tbb/parallel_for.h>

#include "cli/columns.h"
#include "cli/inference_fleet.h"
#include "cli/program.h"

namespace almanac::cli {

void register_inference_compare(Program& program);

namespace {

struct ComparedServices {
  FleetOptions fleet{};
  std::vector<std::string> compositions{"chunked+round_robin", "chunked+shortest_queue",
                                        "chunked+least_tokens", "prefill_first+shortest_queue"};
};

/// Of one composition, by the names that JSON and CSV have.
std::vector<std::pair<std::string, double>> figures_of(const Fleet& fleet) {
  const inference::Seen& seen = fleet.seen;
  return {{"attainment", seen.attainment()},
          {"finished", static_cast<double>(seen.finished)},
          {"gpu_hours", fleet.gpu_hours},
          {"cost", fleet.cost},
          {"energy_kwh", fleet.energy_kwh},
          {"ttft_p50_ms", seen.first_token.p50 / 1e3},
          {"ttft_p90_ms", seen.first_token.p90 / 1e3},
          {"ttft_p99_ms", seen.first_token.p99 / 1e3},
          {"tpot_p50_ms", seen.per_token.p50 / 1e3},
          {"tpot_p90_ms", seen.per_token.p90 / 1e3},
          {"tpot_p99_ms", seen.per_token.p99 / 1e3}};
}

void print_compositions(const ComparedServices& options, const std::vector<Fleet>& fleets,
                        const std::string& output) {
  if (output == "json") {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (std::size_t each = 0; each < fleets.size(); ++each) {
      nlohmann::ordered_json made{{"composition", options.compositions[each]}};
      for (const auto& [name, value] : figures_of(fleets[each])) made[name] = value;
      all.push_back(std::move(made));
    }
    fmt::print("{}\n", all.dump(2));
    return;
  }
  std::vector<Column> columns{{"composition"}};
  std::vector<std::string> names{"composition"};
  for (const auto& [name, value] : figures_of(fleets.front())) {
    columns.push_back({name, true});
    names.push_back(name);
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t each = 0; each < fleets.size(); ++each) {
    rows.push_back({options.compositions[each]});
    for (const auto& [name, value] : figures_of(fleets[each])) {
      rows.back().push_back(output == "csv" ? fmt::format("{:.9g}", value)
                                            : fmt::format("{:.5g}", value));
    }
  }
  output == "csv" ? print_csv(names, rows) : print_columns(columns, rows);
}

Result<int> compare_services(const InferenceOptions& options, const ComparedServices& asked) {
  auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  std::vector<FleetPlan> plans;
  for (const std::string& composition : asked.compositions) {
    auto plan = plan_fleet(asked.fleet, *told, composition);
    if (!plan) return tl::unexpected(plan.error());
    plans.push_back(std::move(*plan));
  }
  std::vector<Result<Fleet>> played(plans.size(), Fleet{});
  tbb::parallel_for(std::size_t{0}, plans.size(),
                    [&](std::size_t each) { played[each] = play_fleet(plans[each], *told); });
  std::vector<Fleet> fleets;
  for (auto& each : played) {
    if (!each) return tl::unexpected(each.error());
    fleets.push_back(std::move(*each));
  }
  print_compositions(asked, fleets, options.output);
  return kDone;
}

}  // namespace

void register_inference_compare(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::choose, "inference", "Services that answer requests with models")
           .add_subcommand("compare",
                           "Play the same requests with several batchers, routers, scalers");
  const auto options = add_inference_options(command);
  const auto asked = std::make_shared<ComparedServices>();
  asked->fleet.add_to(command);
  command
      .add_option(
          "--of", asked->compositions,
          "What to compare: names of batchers, routers and scalers, and 2p where two replicas "
          "compute prompts only, joined by +")
      ->type_name("NAME+NAME,...")
      ->delimiter(',')
      ->capture_default_str();
  add_example(command,
              "almanac inference compare requests.csv --model llama-3.1-8b --replicas 1..8 --ttft "
              "500ms --of chunked+least_tokens+mark,chunked+least_tokens+reactive");
  program.on(command, [options, asked] { return compare_services(*options, *asked); });
}

}  // namespace almanac::cli
