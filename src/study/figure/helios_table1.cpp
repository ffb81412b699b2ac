// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cluster, next to those of Helios.
///
/// Source   Hu et al., SC'21, Table 1 (configuration on 1 September 2020, jobs of six months).
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "study/figures.h"

namespace almanac::study {

void register_helios_table1(Figures& registry);

namespace {

struct ClusterRow {
  const char* cluster;
  const char* gpu_type;
  double vcs, nodes, gpus, jobs;
};

constexpr std::array<ClusterRow, 5> kPublishedClusters{
    {{"Venus", "Volta", 27, 133, 1064, 247e3},
     {"Earth", "Volta", 25, 143, 1144, 873e3},
     {"Saturn", "Pascal & Volta", 28, 262, 2096, 1753e3},
     {"Uranus", "Pascal", 25, 264, 2112, 490e3},
     {"Helios, total", "", 105, 802, 6416, 3363e3}}};

Drawing draw_helios_table1(const Study& study) {
  const cluster::Cluster& cluster = study.cluster();
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  const auto jobs_here = study.gpu_jobs().size() + study.cpu_jobs().size();
  figure.n = static_cast<std::int64_t>(jobs_here);
  figure.caption = "This cluster at its largest, and the four Helios clusters on 1 September 2020.";
  auto& name = figure.text("cluster", "Cluster");
  auto& type = figure.text("gpu_type", "GPU type");
  auto& vcs = figure.number("vcs", "Virtual clusters");
  auto& nodes = figure.number("nodes", "Nodes", figure::Unit::nodes);
  auto& gpus = figure.number("gpus", "GPUs", figure::Unit::gpus);
  auto& jobs = figure.number("jobs", "Jobs", figure::Unit::jobs);
  std::string types;
  for (const std::string& each : cluster.gpu_types()) {
    types += (types.empty() || each.empty() ? "" : " & ") + each;
  }
  name.add(std::string("this log"));
  type.add(types);
  vcs.add(static_cast<double>(cluster.vcs.size()));
  nodes.add(static_cast<double>(cluster.nodes.size()));
  gpus.add(cluster.gpus());
  jobs.add(static_cast<double>(jobs_here));
  for (const ClusterRow& row : kPublishedClusters) {
    name.add(std::string(row.cluster));
    type.add(std::string(row.gpu_type));
    vcs.add(row.vcs);
    nodes.add(row.nodes);
    gpus.add(row.gpus);
    jobs.add(row.jobs);
  }
  return drawing;
}

}  // namespace

void register_helios_table1(Figures& registry) {
  registry.add({.id = "helios_table1",
                .title = "Clusters compared",
                .source = "Hu et al., SC'21, Table 1",
                .part = Part::literature,
                .needs = {},
                .draw = draw_helios_table1});
}

}  // namespace almanac::study
