// SPDX-License-Identifier: Apache-2.0

/// \file
/// The control loop of Cluster Energy Saving over series of nodes in use, step by step, and the
/// table that its paper makes of it.
///
/// Source   Hu et al., SC'21, section 4.3, Algorithm 2, Table 5; artifact CES_Helios.py,
/// CES_Philly.py.
#include "energy/ces.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_ces(Recipes& registry);

namespace ces_recipe {
namespace {

constexpr const char* kSeries = "golden/ces/*_ces.csv";

/// A column of the paper's Table 5, and how long the series is that it is of, in steps of 10 min.
struct Published {
  std::string_view cluster;
  std::size_t steps;
  double asleep, wake_ups_a_day, nodes_a_wake_up, before, after;
};
constexpr Published kTable5[] = {{"venus", 3024, 5.0, 1.1, 6.7, 92.7, 96.2},
                                 {"earth", 3024, 20.5, 1.3, 6.7, 82.1, 95.1},
                                 {"saturn", 3024, 20.0, 2.0, 7.1, 90.2, 97.6},
                                 {"uranus", 3024, 34.0, 2.6, 9.7, 83.8, 96.4},
                                 {"philly", 2016, 100.1, 0.5, 27.1, 69.0, 90.4}};

struct Series {
  std::vector<int> used, predicted, active, total;  ///< Nodes.
};

Series read_series(const File& file) {
  Rows rows(file.path, {"pred_floor", "Active", "total"});
  const std::string used = rows.has("used") ? "used" : "active";
  Series series;
  const auto nodes = [&](std::string_view column) {
    const std::int64_t count = rows.whole(column);
    rows.require(std::abs(count) <= 10'000'000,
                 fmt::format("{} nodes in column {}", count, column));
    return static_cast<int>(count);
  };
  while (rows.next()) {
    series.used.push_back(nodes(used));
    series.predicted.push_back(nodes("pred_floor"));
    series.active.push_back(nodes("Active"));
    series.total.push_back(nodes("total"));
    rows.require(series.total.back() > 0, "expected total above 0");
  }
  require(!series.used.empty(), "there are no steps");
  return series;
}

std::size_t equal_steps(const Series& series, const energy::CesTrack& track) {
  std::size_t equal = 0;
  for (std::size_t at = 0; at < series.active.size(); ++at) {
    equal += track.active[at] == series.active[at] ? 1 : 0;
  }
  return equal;
}

energy::CesTrack track_of(const Series& series, const std::string& cluster) {
  return energy::run_ces(series.used, series.predicted, series.total,
                         value_or_throw(energy::ces_profile(cluster)));
}

/// The cluster of whose constants the file's name begins with; of a name that is none of theirs,
/// the one whose constants give most of its steps.
std::string cluster_of(const File& file, const Series& series, Bench& bench) {
  const std::vector<std::string> known = energy::ces_profiles();
  const auto found = std::find_if(known.begin(), known.end(), [&](const std::string& name) {
    return file.stem.starts_with(name);
  });
  if (found != known.end()) return *found;
  std::string best;
  std::size_t most = 0;
  for (const std::string& cluster : known) {
    const std::size_t equal = equal_steps(series, track_of(series, cluster));
    if (best.empty() || equal > most) {
      best = cluster;
      most = equal;
    }
  }
  bench.note(fmt::format("{} is named after none of {}: of their constants those of {} fit best",
                         file.name, fmt::join(known, ", "), best));
  return best;
}

double mean_asleep(const std::vector<int>& total, const std::vector<int>& active) {
  return (std::accumulate(total.begin(), total.end(), 0.0) -
          std::accumulate(active.begin(), active.end(), 0.0)) /
         static_cast<double>(total.size());
}

/// The rows of the paper's Table 5.
struct Table5 {
  double nodes_asleep = 0;  ///< Mean.
  int wake_ups = 0;
  double wake_ups_a_day = 0;
  double nodes_a_wake_up = 0;     ///< Mean; 0 without wake-ups.
  double utilization_before = 0;  ///< Percent: mean over steps of used / total.
  double utilization_after = 0;   ///< Percent: mean over steps of used / active.
};

constexpr int kStepsADay = 144;

Table5 table5_of(const Series& series, const energy::CesTrack& track) {
  Table5 figures;
  const std::vector<int>& used = series.used;
  const std::vector<int>& total = series.total;
  const auto steps = static_cast<double>(used.size());
  double woken = 0;
  for (std::size_t at = 0; at < used.size(); ++at) {
    figures.nodes_asleep += (total[at] - track.active[at]) / steps;
    figures.utilization_before += 100.0 * used[at] / total[at] / steps;
    figures.utilization_after += 100.0 * used[at] / track.active[at] / steps;
    if (track.change[at] > 0) {
      ++figures.wake_ups;
      woken += track.change[at];
    }
  }
  figures.wake_ups_a_day = figures.wake_ups * kStepsADay / steps;
  if (figures.wake_ups > 0) figures.nodes_a_wake_up = woken / figures.wake_ups;
  return figures;
}

void compare(Bench& bench, const File& file) {
  const Series series = read_series(file);
  const std::string cluster = cluster_of(file, series, bench);
  const energy::CesTrack track = track_of(series, cluster);
  const std::size_t steps = series.active.size();
  bench.add(file.name + ": steps with as many active nodes as published",
            static_cast<double>(steps), static_cast<double>(equal_steps(series, track)), "steps");
  bench.add(file.name + ": mean nodes asleep, beside the series' own",
            mean_asleep(series.total, series.active), mean_asleep(series.total, track.active),
            "nodes");
  const auto table = std::find_if(std::begin(kTable5), std::end(kTable5),
                                  [&](const Published& of) { return of.cluster == cluster; });
  if (table == std::end(kTable5) || table->steps != steps) {
    bench.note(fmt::format("{} is no series of Table 5, which has other steps", file.name));
    return;
  }
  const Table5 ours = table5_of(series, track);
  const auto add = [&](std::string_view what, double published, double value, const char* unit) {
    bench.add({.what = fmt::format("Table 5, {} ({}): {}", cluster, file.name, what),
               .published = published,
               .ours = value,
               .unit = unit,
               .kind = Kind::figure});
  };
  add("mean nodes asleep", table->asleep, ours.nodes_asleep, "nodes");
  add("wake-ups a day", table->wake_ups_a_day, ours.wake_ups_a_day, "");
  add("nodes a wake-up", table->nodes_a_wake_up, ours.nodes_a_wake_up, "nodes");
  add("node utilization before", table->before, ours.utilization_before, "%");
  add("node utilization with CES", table->after, ours.utilization_after, "%");
}

}  // namespace
}  // namespace ces_recipe

void register_ces(Recipes& registry) {
  using namespace ces_recipe;
  registry.add({.name = "ces",
                .summary = "Nodes that Cluster Energy Saving lets sleep, step by step, and Table 5",
                .paper = "Hu et al., SC'21, Algorithm 2 and Table 5",
                .kind = Kind::rerun,
                .needs = {{kSeries,
                           "series read off Figures 14 and 15, with the nodes that the loop of "
                           "github.com/S-Lab-System-Group/HeliosArtifact keeps active"}},
                .make = [](Bench& bench) {
                  bench.each(kSeries, [&](const File& file) { compare(bench, file); });
                }});
}

}  // namespace almanac::reproduce
