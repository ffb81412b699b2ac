// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fill experiment of FGD and its baselines: what is allocated and what lies in fragments at
/// each percent of demand, and where each pod lands.
///
/// Source   Weng et al., ATC'23, section 6; results published with it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "experiment/fill.h"
#include "policy/registry.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "rules/fragment/curve.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_fgd(Recipes& registry);

namespace fgd_recipe {
namespace {

using fragment::Curve;
using fragment::kPoints;

constexpr const char* kNodes = "data/fgd/nodes.csv";
constexpr const char* kPods = "data/fgd/pods/*.csv";
constexpr const char* kArrivals = "data/fgd/arrivals/*.csv";
constexpr const char* kRanks = "data/fgd/node_rank/*.csv";
constexpr const char* kRuns = "data/fgd/runs.csv";
constexpr const char* kAllocated = "golden/fgd/alloc_percent.csv";
constexpr const char* kFragments = "golden/fgd/frag_percent.csv";
constexpr const char* kOfTheIdle = "golden/fgd/frag_ratio_percent.csv";
constexpr const char* kPlacements = "golden/fgd/placements_*.csv";
constexpr const char* kKinds = "golden/fgd/typical_pods/*.csv";

/// Workload, policy, seed: one run of the experiment.
using RunName = std::tuple<std::string, std::string, std::string>;

/// By seed, a number a row; kNothing where the seed's list is shorter.
using Columns = std::map<std::string, std::vector<std::int32_t>>;
constexpr std::int64_t kNothing = -1;

struct PlannedRun {
  std::string arrivals;
  std::string ranks;
  std::size_t length = 0;  ///< Of the list; workloads that share one end at places of their own.
};

struct Inputs {
  std::vector<cluster::NodeClass> nodes;
  int gpus = 0;
  std::vector<std::string> models;  // bit of a model = its place here
  std::map<std::string, std::vector<fragment::Pod>> pods;
  std::map<std::string, Columns> arrivals;
  std::map<std::string, Columns> ranks;
  std::map<std::pair<std::string, std::string>, PlannedRun> runs;  // by workload, seed

  fragment::Models model(std::string_view name) {
    auto at = std::find(models.begin(), models.end(), name);
    if (at == models.end()) at = models.insert(models.end(), std::string(name));
    require(models.size() <= 64, "more than 64 models of GPUs");
    return fragment::Models{1} << (at - models.begin());
  }
};

int whole_between(const Rows& rows, std::string_view column, std::int64_t low, std::int64_t high) {
  const std::int64_t value = rows.whole(column);
  rows.require(value >= low && value <= high,
               fmt::format("{} must be from {} to {}", column, low, high));
  return static_cast<int>(value);
}

void read_nodes(Inputs& inputs, const File& file) {
  Rows rows(file.path, {"cpu_milli", "memory_mib", "gpus", "model"});
  while (rows.next()) {
    cluster::NodeClass& node = inputs.nodes.emplace_back();
    node.gpus = whole_between(rows, "gpus", 0, fragment::kMaxGpus);
    if (node.gpus > 0) inputs.model(node.gpu_type = rows.text("model"));
    node.cpus = static_cast<double>(rows.whole("cpu_milli")) / 1e3;
    node.memory_gb = static_cast<double>(rows.whole("memory_mib")) / 1e3;  // ours count thousandths
    inputs.gpus += node.gpus;
  }
  require(inputs.gpus > 0, "no GPU");
}

void read_pods(Inputs& inputs, const File& file) {
  Rows rows(file.path, {"cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec"});
  std::vector<fragment::Pod> pods;
  while (rows.next()) {
    fragment::Pod& pod = pods.emplace_back();
    pod.request.cpu_milli = rows.whole("cpu_milli");
    pod.request.memory_mib = rows.whole("memory_mib");
    pod.request.gpus = whole_between(rows, "num_gpu", 0, fragment::kMaxGpus);
    pod.request.gpu_milli = whole_between(rows, "gpu_milli", 0, fragment::kWhole);
    const int units = std::max(1, pod.request.gpus);
    rows.require(pod.request.cpu_milli % units == 0 && pod.request.memory_mib % units == 0,
                 "cores and memory that its GPUs do not divide");
    const bool whole = pod.request.gpu_milli == fragment::kWhole;
    rows.require(pod.request.gpus <= 1 || whole, "a part of several GPUs");
    rows.require((pod.request.gpus > 0) == (pod.request.gpu_milli > 0),
                 "GPUs without a part of them");
    pod.models = rows.text("gpu_spec");
    if (pod.models.empty()) continue;
    pod.request.models = 0;
    for (std::string_view left = pod.models; !left.empty();) {
      const std::size_t end = std::min(left.find('|'), left.size());
      if (end > 0) pod.request.models |= inputs.model(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  inputs.pods[file.stem] = std::move(pods);
}

/// Columns s42, s43 ... behind the first: a number a row.
Columns read_columns(const File& file) {
  table::CsvReader csv = value_or_throw(table::CsvReader::open(file.path));
  Columns columns;
  while (value_or_throw(csv.next())) {
    for (std::size_t at = 1; at < csv.header().size(); ++at) {
      const auto value = csv[at].empty() ? std::optional(kNothing) : text::parse_whole(csv[at]);
      if (!value || *value < kNothing || *value > std::numeric_limits<std::int32_t>::max()) {
        throw Malformed{{.code = Code::invalid,
                         .message = fmt::format("expected a row's number, found '{}'", csv[at]),
                         .where = csv.where()}};
      }
      columns[csv.header()[at].substr(1)].push_back(static_cast<std::int32_t>(*value));
    }
  }
  return columns;
}

Inputs read_inputs(Bench& bench) {
  Inputs inputs;
  bench.each(kNodes, [&](const File& file) { read_nodes(inputs, file); });
  bench.each(kPods, [&](const File& file) { read_pods(inputs, file); });
  bench.each(kArrivals, [&](const File& file) { inputs.arrivals[file.stem] = read_columns(file); });
  bench.each(kRanks, [&](const File& file) { inputs.ranks[file.stem] = read_columns(file); });
  bench.each(kRuns, [&](const File& file) {
    Rows rows(file.path, {"workload", "seed", "arrivals_file", "rank_file", "arrivals"});
    while (rows.next()) {
      inputs.runs[{std::string(rows.text("workload")), std::string(rows.text("seed"))}] = {
          std::string(rows.text("arrivals_file")), std::string(rows.text("rank_file")),
          static_cast<std::size_t>(whole_between(rows, "arrivals", 0, 1'000'000'000))};
    }
  });
  return inputs;
}

using experiment::Filled;

template <typename Map, typename Key>
const auto& look_up(const Map& map, const Key& key, std::string_view what) {
  const auto found = map.find(key);
  require(found != map.end(), fmt::format("{} is not there", what));
  return found->second;
}

/// What the published rules are called here.
const std::map<std::string, std::string> kPlacementOf{
    {"Random", "random_node"},     {"DotProd", "dot_prod"},   {"GpuClustering", "gpu_clustering"},
    {"GpuPacking", "gpu_packing"}, {"BestFit", "least_left"}, {"FGD", "fgd"},
    {"balanced", "balanced"}};

cluster::Demand demand_of(const fragment::Request& request) {
  const int units = std::max(1, request.gpus);
  return {.gpus = request.gpus,
          .tasks = request.gpus == 0 ? 1 : 0,
          .gpu_types = request.gpus == 0 ? fragment::kAnyModel : request.models,
          .cpu_milli = static_cast<std::int32_t>(request.cpu_milli / units),
          .memory_mb = static_cast<std::int32_t>(request.memory_mib / units),
          .gpu_milli = request.gpus == 0 ? fragment::kWhole : request.gpu_milli};
}

/// The published cluster with its nodes in order of rank: of equal scores the first wins.
struct Ranked {
  cluster::Cluster cluster;
  std::vector<NodeId> node_of;    // by published number
  std::vector<NodeId> published;  // and back
};
Ranked by_rank(const Inputs& inputs, const std::vector<std::int32_t>& ranks) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return ranks[one] < ranks[other]; });
  Ranked made;
  made.cluster.add_vc("all");
  // The bits of types in the order in which the files name them.
  for (const cluster::NodeClass& make : inputs.nodes) made.cluster.add_nodes(make, 0);
  made.node_of.resize(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    made.cluster.add_nodes(inputs.nodes[order[at]], 1);
    made.node_of[order[at]] = NodeId{static_cast<std::uint32_t>(at)};
    made.published.push_back(NodeId{static_cast<std::uint32_t>(order[at])});
  }
  return made;
}

Filled fill(const Inputs& inputs, const RunName& name) {
  const auto& [workload, policy, seed] = name;
  const auto& run = look_up(inputs.runs, std::pair(workload, seed),
                            fmt::format("{} with seed {} in runs.csv", workload, seed));
  const auto& pods = look_up(inputs.pods, workload, fmt::format("data/fgd/pods/{}", workload));
  const auto& arrivals = look_up(look_up(inputs.arrivals, run.arrivals, "the list of arrivals"),
                                 seed, "the seed's list of arrivals");
  const auto& ranks =
      look_up(look_up(inputs.ranks, run.ranks, "the list of ranks"), seed, "the seed's ranks");
  require(ranks.size() == inputs.nodes.size(), "as many ranks as nodes are needed");
  const auto placement = kPlacementOf.find(policy);
  require(placement != kPlacementOf.end(), fmt::format("no placement is called {}", policy));

  std::vector<cluster::Demand> asked;
  for (const std::int32_t pod : arrivals) {
    if (pod == kNothing || asked.size() == run.length) break;
    require(pod >= 0 && static_cast<std::size_t>(pod) < pods.size(),
            "a pod arrives that is not there");
    asked.push_back(demand_of(pods[static_cast<std::size_t>(pod)].request));
  }
  const auto mix = std::make_shared<const fragment::Mix>(fragment::mix_of(pods));
  const Ranked machines = by_rank(inputs, ranks);
  policy::Host host;
  host.mix = mix;
  Filled filled = experiment::fill(
      machines.cluster, *policy::registry().placements.make(placement->second, host), asked, *mix,
      Rng(static_cast<std::uint64_t>(text::parse_whole(seed).value_or(0))), machines.node_of);
  for (auto& place : filled.places) {
    if (place) place->node = machines.published[index(place->node)];
  }
  return filled;
}

using Published = std::map<RunName, std::array<double, kPoints>>;

Published read_published(const File& file) {
  Rows rows(file.path, {"workload", "policy", "seed"});
  Published published;
  while (rows.next()) {
    auto& points = published[{std::string(rows.text("workload")), std::string(rows.text("policy")),
                              std::string(rows.text("seed"))}];
    for (std::size_t point = 0; point < kPoints; ++point) {
      points[point] = rows.number_or_nan(fmt::format("p{}", point));
    }
  }
  return published;
}

/// A measure as it is published, and where it stands in a curve.
struct Measure {
  const char* files;
  const char* name;
  std::array<double, kPoints> Curve::*of;
  int decimals;  ///< That are printed.
};
constexpr std::array kMeasures{
    Measure{kAllocated, "allocation", &Curve::allocated, 2},
    Measure{kFragments, "fragments", &Curve::fragments, 2},
    Measure{kOfTheIdle, "fragments of the idle", &Curve::of_the_idle, 4}};

/// One row a workload and policy: of all seeds and points the one that differs most. `drawn`
/// policies are compared by their means over the seeds.
void compare_curves(Bench& bench, const Measure& measure, const Published& published,
                    const std::map<RunName, Filled>& filled) {
  std::map<std::pair<std::string, std::string>, std::vector<RunName>> groups;
  for (const auto& [name, points] : published) {
    if (filled.contains(name)) groups[{std::get<0>(name), std::get<1>(name)}].push_back(name);
  }
  for (const auto& [group, names] : groups) {
    const auto ours = [&](const RunName& name, std::size_t point) {
      return fragment::printed((filled.at(name).curve.*measure.of)[point], measure.decimals);
    };
    const auto n = static_cast<double>(names.size());
    const bool drawn = group.second == "Random";
    double worst = -1;
    Row row{.unit = "%"};
    for (std::size_t point = 0; point < kPoints; ++point) {
      double mean = 0;
      double our_mean = 0;
      double squares = 0;
      double our_squares = 0;
      for (const RunName& name : names) {
        const double here = published.at(name)[point];
        const double difference = std::abs(ours(name, point) - here);
        mean += here / n;
        our_mean += ours(name, point) / n;
        squares += here * here / n;
        our_squares += ours(name, point) * ours(name, point) / n;
        if (drawn || !(difference > worst)) continue;
        worst = difference;
        row.published = here;
        row.ours = ours(name, point);
        row.what =
            fmt::format("{} {}: {}, {} runs x {} points, the one that differs most (seed {}, {} %)",
                        group.first, group.second, measure.name, names.size(), kPoints,
                        std::get<2>(name), point);
      }
      if (!drawn) continue;
      // Two means of n draws each.
      const double spread = squares - mean * mean + our_squares - our_mean * our_mean;
      const double error = std::sqrt(std::max(spread, 0.0) / std::max(n - 1, 1.0));
      const double errors = std::abs(our_mean - mean) / std::max(error, 1e-9);
      if (point != 100) continue;
      worst = errors;
      row.published = mean;
      row.ours = our_mean;
      row.what = fmt::format("{} {}: {}, mean of {} runs at {} % ({:.1f} standard errors apart)",
                             group.first, group.second, measure.name, names.size(), point, errors);
    }
    if (worst >= 0) bench.add(std::move(row));
  }
}

/// What the published FGD gave, and our placement on the same arrivals.
void compare_balanced(Bench& bench, const Published& published,
                      const std::map<RunName, Filled>& filled) {
  constexpr std::size_t kFull = 100;
  std::map<std::string, std::vector<std::pair<double, double>>> by_workload;
  for (const auto& [name, points] : published) {
    const auto& [workload, policy, seed] = name;
    const auto ours = filled.find({workload, "balanced", seed});
    if (policy != "FGD" || ours == filled.end()) continue;
    by_workload[workload].emplace_back(points[kFull], ours->second.curve.allocated[kFull]);
  }
  for (const auto& [workload, pairs] : by_workload) {
    double theirs = 0;
    double ours = 0;
    for (const auto& [one, other] : pairs) {
      theirs += one / static_cast<double>(pairs.size());
      ours += other / static_cast<double>(pairs.size());
    }
    bench.add(fmt::format("{}: allocation by FGD beside our placement balanced, mean of {} runs at "
                          "100 %",
                          workload, pairs.size()),
              theirs, ours, "%");
  }
}

std::string gpu_list(cluster::GpuMask gpus) {
  std::string text;
  for (int gpu = 0; gpu < fragment::kMaxGpus; ++gpu) {
    if ((gpus >> gpu & 1U) != 0) text += fmt::format("{}{}", text.empty() ? "" : "-", gpu);
  }
  return text;
}

/// placements_<workload>_s<seed>_<policy>.csv
RunName run_of_placements(const File& file) {
  const std::size_t start = std::string_view("placements_").size();
  const std::size_t policy = file.stem.rfind('_');
  const std::size_t seed = file.stem.rfind("_s", policy - 1);
  require(policy != std::string::npos && seed != std::string::npos && seed > start,
          "the name is not placements_<workload>_s<seed>_<policy>");
  return {file.stem.substr(start, seed - start), file.stem.substr(policy + 1),
          file.stem.substr(seed + 2, policy - seed - 2)};
}

void compare_placements(Bench& bench, const File& file, const Filled& filled) {
  Rows rows(file.path, {"position", "node_index", "gpus"});
  std::size_t count = 0;
  std::size_t equal = 0;
  for (; rows.next(); ++count) {
    rows.require(count < filled.places.size(), "more placements than pods arrive");
    const auto& place = filled.places[count];
    const std::string node = place ? std::to_string(index(place->node)) : "";
    const std::string gpus = place ? gpu_list(place->gpus) : "";
    equal += rows.text("node_index") == node && rows.text("gpus") == gpus ? 1 : 0;
  }
  bench.add(fmt::format("{}: pods on the same node and GPUs", file.stem),
            static_cast<double>(count), static_cast<double>(equal), "pods");
}

void compare_kinds(Bench& bench, const Inputs& inputs, const File& file) {
  const fragment::Mix mix = fragment::mix_of(look_up(inputs.pods, file.stem, "the list of pods"));
  Rows rows(file.path, {"cpu_milli", "num_gpu", "gpu_milli", "gpu_spec", "frequency"});
  std::size_t count = 0;
  std::size_t equal = 0;
  for (; rows.next(); ++count) {
    if (count >= mix.kinds().size()) continue;
    const fragment::Mix::Kind& kind = mix.kinds()[count];
    equal += kind.request.cpu_milli == rows.whole("cpu_milli") &&
                     kind.request.gpus == rows.whole("num_gpu") &&
                     kind.request.gpu_milli == rows.whole("gpu_milli") &&
                     kind.models == rows.text("gpu_spec") &&
                     std::abs(kind.frequency - rows.number("frequency")) < 1e-9
                 ? 1
                 : 0;
  }
  bench.add(fmt::format("{}: kinds of requests in the mix", file.stem), static_cast<double>(count),
            static_cast<double>(equal), "kinds");
}

void make(Bench& bench) {
  const Inputs inputs = read_inputs(bench);
  std::array<Published, kMeasures.size()> published;
  std::set<RunName> names;
  for (std::size_t at = 0; at < kMeasures.size(); ++at) {
    bench.each(kMeasures[at].files,
               [&](const File& file) { published[at] = read_published(file); });
    for (const auto& [name, points] : published[at]) names.insert(name);
  }
  for (const auto& [name, points] : published[0]) {
    if (std::get<1>(name) == "FGD") {
      names.insert({std::get<0>(name), "balanced", std::get<2>(name)});
    }
  }
  bench.each(kPlacements, [&](const File& file) { names.insert(run_of_placements(file)); });

  const std::vector<RunName> all(names.begin(), names.end());
  std::vector<Filled> results(all.size());
  std::vector<std::string> wrong(all.size());
  tbb::parallel_for(std::size_t{0}, all.size(), [&](std::size_t at) {
    try {
      results[at] = fill(inputs, all[at]);
    } catch (const Malformed& malformed) {
      wrong[at] = malformed.error.message;
    }
  });
  std::map<RunName, Filled> filled;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (wrong[at].empty()) {
      filled.emplace(all[at], std::move(results[at]));
    } else {
      bench.note(fmt::format("{} {} seed {} is left out: {}.", std::get<0>(all[at]),
                             std::get<1>(all[at]), std::get<2>(all[at]), wrong[at]));
    }
  }
  for (std::size_t at = 0; at < kMeasures.size(); ++at) {
    compare_curves(bench, kMeasures[at], published[at], filled);
  }
  compare_balanced(bench, published[0], filled);
  bench.each(kPlacements, [&](const File& file) {
    compare_placements(bench, file, look_up(filled, run_of_placements(file), "its run"));
  });
  bench.each(kKinds, [&](const File& file) { compare_kinds(bench, inputs, file); });
  bench.note("Ours is rounded as the published results are printed. Random draws other numbers.");
}

}  // namespace
}  // namespace fgd_recipe

void register_fgd(Recipes& registry) {
  using namespace fgd_recipe;
  const std::string from = "Weng et al., ATC'23: the simulator and the results published with it";
  registry.add(
      {.name = "fgd",
       .summary = "a cluster filled by FGD and its baselines, at each percent of demand",
       .paper = "Weng et al., ATC'23, section 6",
       .kind = Kind::rerun,
       .needs = {{kNodes, from},
                 {kPods, from},
                 {kArrivals, from},
                 {kRanks, from},
                 {kRuns, from},
                 {kAllocated, from},
                 {kFragments, from},
                 {kOfTheIdle, from},
                 {kPlacements, "computed from the published rules; equal to all published runs"},
                 {kKinds, "computed from the published lists of pods"}},
       .make = make});
}

}  // namespace almanac::reproduce
