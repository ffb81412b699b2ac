// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac cluster fill: how much of a cluster each placement can fill despite fragmentation.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include "cli/cluster_option.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/show_document.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "experiment/fill.h"
#include "experiment/fill_bound.h"
#include "policy/registry.h"
#include "report/document_directory.h"
#include "report/fill_document.h"
#include "site/cluster.h"

namespace almanac::cli {

void register_cluster_fill(Program& program);

namespace {

/// Beyond the last point of a curve.
constexpr double kDemand = 1.305;

struct FillOptions {
  TraceOptions trace{};
  std::string cluster;
  std::vector<std::string> placements{"fgd", "least_left", "consolidate", "random_node"};
  int orders = 3;
  std::uint64_t seed = 1;
  std::string out;
  std::string output = "table";
};

Result<policy::Choice> read_placement(const std::string& text) {
  const auto& known = policy::registry().placements;
  std::vector<std::string> names;
  for (const policy::Entry& entry : known.entries()) names.push_back(entry.name);
  if (known.find(text.substr(0, text.find(':'))) == nullptr) {
    return fail(Code::usage, fmt::format("unknown placement {}", text), {},
                fmt::format("known: {}", fmt::join(names, ", ")));
  }
  const auto made = policy::registry().compose("fifo+" + text);
  if (!made) return tl::unexpected(made.error());
  return made->placement;
}

Result<int> fill(const FillOptions& options, const std::vector<std::string>& command) {
  std::vector<policy::Choice> placements;
  for (const std::string& text : options.placements) {
    auto read = read_placement(text);
    if (!read) return tl::unexpected(read.error());
    placements.push_back(std::move(*read));
  }
  const auto trace = options.trace.load();
  if (!trace) return tl::unexpected(trace.error());
  auto read = site::read_cluster(options.cluster);
  if (!read) return tl::unexpected(read.error());
  for (const std::string& text : read->notes) note(text);
  const cluster::Cluster machines = cluster::merged(*read);
  const experiment::Demands demands = experiment::demands_of(*trace, machines);
  const auto orders = static_cast<std::size_t>(options.orders);
  std::vector<std::vector<cluster::Demand>> arrivals;
  for (std::size_t at = 0; at < orders; ++at) {
    arrivals.push_back(
        experiment::draw_arrivals(demands.jobs, machines, kDemand, Rng(options.seed + at)));
  }
  if (arrivals.front().empty()) {
    return fail(Code::invalid, fmt::format("no job of {} fits on a node of {}", options.trace.path,
                                           options.cluster));
  }
  if (!options.out.empty()) {
    if (auto opened = report::open_document_directory(options.out, "fill"); !opened) {
      return tl::unexpected(opened.error());
    }
  }
  policy::Host host;
  host.mix = std::make_shared<const fragment::Mix>(demands.mix);
  std::vector<fragment::Curve> curves(placements.size() * orders);
  tbb::parallel_for(std::size_t{0}, curves.size(), [&](std::size_t at) {
    const auto placement = policy::registry().placements.make(placements[at / orders], host);
    for (const cluster::Demand& demand : demands.jobs) placement->expect(demand);
    curves[at] = experiment::fill(machines, *placement, arrivals[at % orders], demands.mix,
                                  Rng(options.seed + at % orders, 1))
                     .curve;
  });
  std::vector<report::FilledBy> filled;
  for (std::size_t at = 0; at < placements.size(); ++at) {
    const auto first = curves.begin() + static_cast<std::ptrdiff_t>(at * orders);
    filled.push_back({options.placements[at],
                      report::mean_of({first, first + static_cast<std::ptrdiff_t>(orders)})});
  }
  double most_given = 0;
  for (const auto& order : arrivals) {
    most_given += 100 * experiment::most_given(machines, order, 1) / options.orders;
  }
  const figure::Document document =
      report::fill_document({.trace = options.trace.path,
                             .cluster = options.cluster,
                             .nodes = static_cast<int>(machines.nodes.size()),
                             .gpus = machines.gpus(),
                             .jobs = demands.jobs.size(),
                             .left_out = demands.left_out,
                             .orders = options.orders,
                             .most_given = most_given},
                            filled, command);
  if (!options.out.empty()) {
    if (auto written = report::write_document(options.out, document); !written) {
      return tl::unexpected(written.error());
    }
  }
  for (const std::string& text : document.notes) note(text);
  show_document(document, options.output, options.out);
  return kDone;
}

}  // namespace

void register_cluster_fill(Program& program) {
  const auto options = std::make_shared<FillOptions>();
  CLI::App& command =
      *program.noun(Purpose::understand, "cluster", "Inspect, infer and rearrange clusters")
           .add_subcommand("fill", "Measure how full each placement packs a cluster");
  options->trace.add_to(command);
  add_cluster_option(command, options->cluster, "")->required();
  command
      .add_option("--placements", options->placements,
                  "Placements to compare, separated by commas (almanac policy list)")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--orders", options->orders, "Number of random arrival orders to average over")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "Random seed of the first order")
      ->check(seed_number())
      ->capture_default_str();
  command
      .add_option("--out", options->out,
                  "Directory for report.html and each figure as CSV and JSON")
      ->type_name("DIR")
      ->group(heading(Group::output));
  add_output_option(command, options->output);
  add_example(command, "almanac cluster fill pods.csv --cluster nodes.csv --out out/fill");
  program.on(command, [options, &program] { return fill(*options, program.command_line); });
}

}  // namespace almanac::cli
