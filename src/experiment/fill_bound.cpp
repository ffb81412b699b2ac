// SPDX-License-Identifier: Apache-2.0
#include "experiment/fill_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "rules/solver/linear_program.h"

namespace almanac::experiment {
namespace {

using solver::LinearProgram;

/// Jobs that are alike but for their memory.
struct JobKind {
  int gpus = 0;
  int gpu_milli = 0;  // of each
  std::int64_t cpu_milli = 0;
  std::uint64_t gpu_types = 0;
  int jobs = 0;

  double asked() const { return gpus * (gpu_milli / double{cluster::kWholeGpu}); }
};

struct NodeKind {
  cluster::NodeClass make;
  std::uint64_t gpu_type = 0;
  int nodes = 0;
};

std::vector<JobKind> job_kinds(std::span<const cluster::Demand> arrivals, double gpus) {
  using Key = std::tuple<int, int, std::int64_t, std::uint64_t>;
  std::map<Key, int> count;
  double asked = 0;
  for (const cluster::Demand& demand : arrivals) {
    if (asked >= gpus) break;
    asked += demand.gpus * (demand.gpu_milli / double{cluster::kWholeGpu});
    // What asks no GPU would be turned away.
    if (demand.gpus == 0) continue;
    ++count[{demand.gpus, demand.gpu_milli, std::int64_t{demand.cpu_milli} * demand.gpus,
             demand.gpu_types}];
  }
  std::vector<JobKind> made;
  for (const auto& [key, jobs] : count) {
    const auto& [of_gpus, milli, cpus, types] = key;
    made.push_back({of_gpus, milli, cpus, types, jobs});
  }
  return made;
}

std::vector<NodeKind> node_kinds(const cluster::Cluster& machines) {
  std::vector<NodeKind> made;
  const std::vector<std::string> types = machines.gpu_types();
  for (const cluster::NodeClass& make : machines.classes) {
    const auto type = std::find(types.begin(), types.end(), make.gpu_type) - types.begin();
    made.push_back({make, std::uint64_t{1} << type, 0});
  }
  for (const cluster::Node& node : machines.nodes) {
    if (node.vc == VcId{0}) ++made[node.node_class].nodes;
  }
  std::erase_if(made, [](const NodeKind& kind) { return kind.nodes == 0 || kind.make.gpus == 0; });
  return made;
}

bool fits(const JobKind& job, const NodeKind& node) {
  const bool has_cores =
      node.make.cpus <= 0 || static_cast<double>(job.cpu_milli) <= node.make.cpus * 1e3;
  return (job.gpu_types & node.gpu_type) != 0 && job.gpus <= node.make.gpus && has_cores;
}

/// What a kind counts for on a GPU or a node that holds 1 of it at the most.
using Weight = std::function<double(double)>;

/// Under which a bin of 1 holds no more than 1, whatever fits it.
std::vector<Weight> weights(const std::vector<JobKind>& jobs) {
  std::vector<Weight> made{[](double size) { return size; }};
  std::set<int> small;
  for (const JobKind& job : jobs) {
    if (2 * job.gpu_milli <= cluster::kWholeGpu) small.insert(job.gpu_milli);
  }
  for (const int milli : small) {
    const double least = milli / double{cluster::kWholeGpu};
    made.emplace_back([least](double size) {
      constexpr double kRounding = 1e-9;
      if (size > 1 - least + kRounding) return 1.0;
      return size < least - kRounding ? 0.0 : size;
    });
  }
  constexpr int kMostParts = 10;
  for (int parts = 1; parts <= kMostParts; ++parts) {
    made.emplace_back([parts](double size) {
      const double whole = std::round((parts + 1) * size);
      if (std::abs(whole - (parts + 1) * size) < 1e-9) return size;
      return std::floor((parts + 1) * size) / parts;
    });
  }
  return made;
}

class Program {
 public:
  Program(const std::vector<JobKind>& jobs, const std::vector<NodeKind>& nodes) {
    columns_.assign(jobs.size(), std::vector<int>(nodes.size(), -1));
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      for (std::size_t node = 0; node < nodes.size(); ++node) {
        if (fits(jobs[job], nodes[node])) {
          columns_[job][node] = program_.add_column(jobs[job].asked(), 0, jobs[job].jobs);
        }
      }
    }
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      std::vector<LinearProgram::Term> all;
      for (const int column : columns_[job]) {
        if (column >= 0) all.push_back({column, 1});
      }
      if (all.size() > 1) program_.add_row(all, 0, jobs[job].jobs);
    }
    const std::vector<Weight> of_gpus = weights(jobs);
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      const NodeKind& node = nodes[at];
      if (node.make.cpus > 0) {
        limit(jobs, at, node.make.cpus * 1e3 * node.nodes,
              [](const JobKind& job) { return static_cast<double>(job.cpu_milli); });
      }
      for (const Weight& weight : of_gpus) {
        limit(jobs, at, static_cast<double>(node.make.gpus) * node.nodes, [&](const JobKind& job) {
          return job.gpus * weight(job.gpu_milli / double{cluster::kWholeGpu});
        });
      }
      for (int each = 2; each <= node.make.gpus; ++each) {
        limit(jobs, at, static_cast<double>(node.make.gpus / each) * node.nodes,
              [&](const JobKind& job) { return static_cast<double>(job.gpus / each); });
      }
    }
  }

  double most() {
    ALMANAC_CHECK(program_.maximise(), "to give nothing fulfils all rows");
    return program_.worth();
  }

 private:
  template <typename Use>
  void limit(const std::vector<JobKind>& jobs, std::size_t node, double most, Use&& use) {
    std::vector<LinearProgram::Term> terms;
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      const double used = columns_[job][node] < 0 ? 0 : use(jobs[job]);
      if (used > 0) terms.push_back({columns_[job][node], used});
    }
    if (!terms.empty()) program_.add_row(terms, 0, most);
  }

  LinearProgram program_;
  std::vector<std::vector<int>> columns_;
};

}  // namespace

double most_given(const cluster::Cluster& machines, std::span<const cluster::Demand> arrivals,
                  double demand) {
  const std::vector<JobKind> jobs = job_kinds(arrivals, demand * machines.gpus());
  if (jobs.empty()) return 0;
  return Program(jobs, node_kinds(machines)).most() / machines.gpus();
}

}  // namespace almanac::experiment
