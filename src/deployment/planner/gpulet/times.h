// SPDX-License-Identifier: Apache-2.0

/// \file
/// What gpulet's scheduler knows of models on parts of GPUs: how long a batch takes, which batch is
/// the largest, and what parts a model would like to have.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deployment/planner/gpulet/scheduler.h"

namespace almanac::deployment::gpulet {

// Times are ms in 4 bytes and rates whole, as the released program has them: what it cuts off
// decides which batch is the largest.

/// A model on a gpulet.
struct Task {
  std::string model{};
  int rate = 0;  ///< That was left to serve when it came.
  int slo = 0;
  int batch = 0;
  float throughput = 0;
  int lost = 0;  ///< Requests/s that neighbours took from it.
};

struct Node {
  int gpu = 0;
  int share = 100;
  int twin = 0;  ///< 0 or 1: which half of a GPU.
  float duty = 0;
  float occupancy = 0;
  std::vector<Task> tasks{};

  bool is_same(const Node& other) const {
    return gpu == other.gpu && share == other.share && twin == other.twin;
  }
  bool has(const std::string& model) const;
};
using NodePtr = std::shared_ptr<Node>;
using Nodes = std::vector<NodePtr>;

struct Gpu {
  Nodes nodes{};
  int used_mib = 0;
  std::vector<std::pair<int, int>> loaded{};  ///< Share and twin of parts that have a context.

  bool has_context(const Node& node) const;
};

/// A model while it is planned.
struct Job {
  std::string model{};
  int id = 0;
  int rate = 0;  ///< Left to serve.
  int lost = 0;
  int slo = 0;
};

class GpuletTimes {
 public:
  /// Neighbours are looked up in `gpus`. All outlive it.
  GpuletTimes(const GpuletProfile& profile, const GpuletSetting& setting,
              const std::vector<Gpu>& gpus)
      : profile_(profile), setting_(setting), gpus_(gpus) {}

  float assembly(const std::string& model, int batch) const;
  float latency(const std::string& model, int batch, int share) const;
  /// Next to what runs on the GPU's other part.
  float latency(const std::string& model, int batch, const Node& node) const;

  /// With which a batch and the one before it are in time; 0 = none.
  template <typename Place>
  int saturated_batch(const std::string& model, int slo, const Place& place) const {
    return largest(
        [&](int batch) { return 2 * latency(model, batch, place) <= static_cast<float>(slo); });
  }
  /// With which a batch is in time that was gathered at `rate`; 0 = none. Where none does for
  /// `rate`, that becomes what a batch of 1 allows.
  template <typename Place>
  int rest_batch(const std::string& model, int slo, int& rate, const Place& place) const {
    const int found = largest([&](int batch) {
      const float gather = 1000 * static_cast<float>(batch) / static_cast<float>(rate);
      return latency(model, batch, place) + gather <= static_cast<float>(slo);
    });
    if (found > 0) return found;
    const float shortest = latency(model, 1, place);
    if (shortest >= 1000.0 / rate || shortest >= static_cast<float>(slo)) return 0;
    rate = static_cast<int>(1000 / (static_cast<float>(slo) - shortest) *
                            static_cast<float>(profile_.stretch));
    return 1;
  }

  struct Most {
    int batch;
    float throughput;
  };
  /// What a part serves that does nothing else.
  Most most(const Job& job, int share) const;
  /// Adds the gpulets that a model would like to have for `rate`. False = no batch serves what is
  /// left in time.
  bool estimate(const Job& job, int rate, Nodes& made) const;

 private:
  float table(const std::string& model, int batch, int share) const;
  std::array<double, 2> traffic(const std::string& model, int batch) const;
  double slower_on(const Node& node, const std::string& model, int batch) const;
  /// The largest batch found by halving, so never the largest that there is. 0 = none.
  int largest(const std::function<bool(int)>& does) const;
  int knee(const Job& job) const;
  /// One more than there can be: more wishes than these cannot be fulfilled either.
  std::size_t most_parts() const { return 2 * gpus_.size() + 1; }
  bool estimate_smallest(const Job& job, int rate, Nodes& made) const;
  NodePtr wish(const Nodes& before, const Job& job, int share, float duty, Task task) const;

  const GpuletProfile& profile_;
  const GpuletSetting& setting_;
  const std::vector<Gpu>& gpus_;
};

}  // namespace almanac::deployment::gpulet
