// SPDX-License-Identifier: Apache-2.0

#include "deployment/planner/gpulet/times.h"

#include <algorithm>
#include <bit>

namespace almanac::deployment::gpulet {
namespace {

constexpr float kGain = 1.05F;  // a larger part must bring so much to be looked at

}  // namespace

bool Node::has(const std::string& model) const {
  return std::any_of(tasks.begin(), tasks.end(),
                     [&](const Task& task) { return task.model == model; });
}

bool Gpu::has_context(const Node& node) const {
  return std::find(loaded.begin(), loaded.end(), std::pair(node.share, node.twin)) != loaded.end();
}

float GpuletTimes::table(const std::string& model, int batch, int share) const {
  return static_cast<float>(
      profile_.models.at(model).latency.at(share)[static_cast<std::size_t>(batch - 1)]);
}
float GpuletTimes::assembly(const std::string& model, int batch) const {
  return static_cast<float>(
      profile_.models.at(model).assembly[static_cast<std::size_t>(batch - 1)]);
}
float GpuletTimes::latency(const std::string& model, int batch, int share) const {
  return (table(model, batch, share) + assembly(model, batch)) *
         static_cast<float>(profile_.stretch);
}
float GpuletTimes::latency(const std::string& model, int batch, const Node& node) const {
  const float alone = table(model, batch, node.share);
  const double slower = slower_on(node, model, batch);
  const auto lost = static_cast<float>(alone * (slower - 1.0));
  return (alone + assembly(model, batch) + lost) * static_cast<float>(profile_.stretch);
}

/// By the line between the powers of two around `batch`, whatever else was measured.
std::array<double, 2> GpuletTimes::traffic(const std::string& model, int batch) const {
  const auto& known = profile_.models.at(model).traffic;
  const auto row = [&](int asked) {
    const auto found = known.lower_bound(asked);
    return found == known.end() ? known.rbegin()->second : found->second;
  };
  const int below = static_cast<int>(std::bit_floor(static_cast<unsigned>(batch)));
  const int above = std::min(profile_.batch, 2 * below);
  const double part = above == below ? 1 : static_cast<double>(batch - below) / (above - below);
  std::array<double, 2> made{};
  for (std::size_t each = 0; each < made.size(); ++each) {
    made[each] = row(above)[each] * part + row(below)[each] * (1 - part);
  }
  return made;
}

double GpuletTimes::slower_on(const Node& node, const std::string& model, int batch) const {
  const auto gpu = static_cast<std::size_t>(node.gpu);
  float made = 1;
  if (!setting_.interference || gpu >= gpus_.size()) return made;
  const auto own = traffic(model, batch);
  for (const NodePtr& other : gpus_[gpu].nodes) {
    if (other->is_same(node)) continue;
    for (const Task& task : other->tasks) {
      const auto others = traffic(task.model, task.batch);
      const double here = node.share / 100.0, there = other->share / 100.0;
      made = std::max(
          made, static_cast<float>(profile_.own_l2 * (own[0] * here) +
                                   profile_.other_l2 * (others[0] * there) +
                                   profile_.own_dram * (own[1] * here) +
                                   profile_.other_dram * (others[1] * there) + profile_.constant));
    }
  }
  return made;
}

int GpuletTimes::largest(const std::function<bool(int)>& does) const {
  int low = 1, high = profile_.batch;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (does(middle) ? low : high) = middle;
  }
  return low > 1 || does(1) ? low : 0;
}
GpuletTimes::Most GpuletTimes::most(const Job& job, int share) const {
  const int batch = std::max(1, saturated_batch(job.model, job.slo, share));
  return {batch, static_cast<float>(batch * 1000.0 / latency(job.model, batch, share))};
}

/// The share beyond which more brings less. The loop never looks at the whole GPU.
int GpuletTimes::knee(const Job& job) const {
  if (!setting_.parts) return 100;
  int best = kShares.front();
  float gain = 0;
  for (std::size_t step = 0; step + 2 < kShares.size(); ++step) {
    const float low = most(job, kShares[step]).throughput;
    const float high = most(job, kShares[step + 1]).throughput;
    if (high / low < kGain) continue;
    const float each = (high - low) / static_cast<float>(kShares[step + 1] - kShares[step]);
    if (each <= gain) continue;
    gain = each;
    best = kShares[step + 1];
  }
  return best;
}

NodePtr GpuletTimes::wish(const Nodes& before, const Job& job, int share, float duty,
                          Task task) const {
  // The program numbers wishes from 0, and looks up neighbours by that number.
  return std::make_shared<Node>(Node{.gpu = static_cast<int>(before.size()),
                                     .share = share,
                                     .duty = duty,
                                     .occupancy = latency(job.model, task.batch, share) / duty,
                                     .tasks = {std::move(task)}});
}

bool GpuletTimes::estimate(const Job& job, int rate, Nodes& made) const {
  if (setting_.greedy) return estimate_smallest(job, rate, made);
  const int best = knee(job);
  const Most full = most(job, best);
  while (rate > setting_.dropped && full.throughput < static_cast<float>(rate)) {
    if (made.size() >= most_parts()) return true;
    made.push_back(wish(made, job, best, latency(job.model, full.batch, best),
                        {job.model, rate, job.slo, full.batch, full.throughput}));
    made.back()->occupancy = 1;
    rate = static_cast<int>(static_cast<float>(rate) - full.throughput);
  }
  if (rate <= setting_.dropped) return true;
  const int batch = rest_batch(job.model, job.slo, rate, best);
  if (batch == 0) return false;
  int share = best;
  for (auto smaller = kShares.rbegin(); setting_.parts && smaller != kShares.rend(); ++smaller) {
    if (*smaller > best) continue;
    const float time = latency(job.model, batch, *smaller);
    const auto duty = static_cast<float>(batch * 1000.0 / rate);
    if (duty < time || static_cast<float>(job.slo) < time + duty) break;
    share = *smaller;
  }
  const float time = latency(job.model, batch, share);
  const float duty =
      std::max(static_cast<float>(batch) * (1000.0F / static_cast<float>(rate)), time);
  made.push_back(
      wish(made, job, share, duty,
           {job.model, rate, job.slo, batch, static_cast<float>(batch * 1000.0 / duty)}));
  return true;
}

bool GpuletTimes::estimate_smallest(const Job& job, int rate, Nodes& made) const {
  while (rate > 0 && made.size() < most_parts()) {
    int share = 100;
    for (const int each : kShares) {
      share = each;
      if (static_cast<int>(most(job, each).throughput) > rate) break;
    }
    const Most found = most(job, share);
    const int whole = static_cast<int>(found.throughput);
    if (whole <= 0) return false;
    made.push_back(wish(made, job, share, static_cast<float>(found.batch * (1000.0 / rate)),
                        {job.model, rate, job.slo, found.batch, static_cast<float>(whole)}));
    rate -= whole;
  }
  return true;
}

}  // namespace almanac::deployment::gpulet
