// SPDX-License-Identifier: Apache-2.0

#include "deployment/planner/gpulet/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "deployment/planner/gpulet/times.h"

namespace almanac::deployment::gpulet {
namespace {

constexpr int kContextMib = 1230;  // of each gpulet, beside its models
constexpr float kMemoryUsed = 0.9F;
constexpr double kNetworkGbit = 3;  // of inputs to a GPU, in each second
constexpr double kLate = 1.05;      // an objective may be missed by so much beside a newcomer
constexpr float kServed = 0.85F;    // a model of which less is served is planned once more

void sort_by_share(Nodes::iterator first, Nodes::iterator last) {
  std::stable_sort(first, last,
                   [](const NodePtr& a, const NodePtr& b) { return a->share > b->share; });
}

class Planner {
 public:
  Planner(const GpuletProfile& profile, const GpuletSetting& setting)
      : profile_(profile),
        setting_(setting),
        gpus_(static_cast<std::size_t>(setting.gpus)),
        times_(profile, setting, gpus_) {
    for (int gpu = 0; gpu < setting.gpus; ++gpu) {
      gpus_[static_cast<std::size_t>(gpu)].nodes.push_back(std::make_shared<Node>(Node{gpu}));
    }
  }

  bool plan(std::vector<Job> jobs) {
    std::map<std::string, bool> is_second;
    while (!jobs.empty()) {
      std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
        return std::pair(a.rate * a.slo, -a.id) < std::pair(b.rate * b.slo, -b.id);
      });
      for (Job job : jobs) {
        if (!add(job)) return false;
      }
      if (!setting_.interference) return true;
      std::map<std::string, float> served;
      for (const Gpu& gpu : gpus_) {
        for (const NodePtr& node : gpu.nodes) {
          for (const Task& task : node->tasks) served[task.model] += task.throughput;
        }
      }
      std::vector<Job> again;
      for (const Job& job : jobs) {
        if (served[job.model] >= static_cast<float>(job.rate) * kServed) continue;
        if (std::exchange(is_second[job.model], true)) return false;
        again.push_back(job);
      }
      jobs = std::move(again);
    }
    return true;
  }

  std::vector<Gpulet> gpulets() const {
    std::vector<Gpulet> made;
    for (const Gpu& gpu : gpus_) {
      for (const NodePtr& node : gpu.nodes) {
        Gpulet& gpulet = made.emplace_back(Gpulet{node->gpu, node->share});
        gpulet.duty = node->duty;
        gpulet.occupancy = node->occupancy;
        for (const Task& task : node->tasks) {
          gpulet.tasks.push_back({task.model, task.batch, task.throughput});
        }
      }
    }
    return made;
  }

 private:
  // Memory and network of a GPU.

  Gpu& gpu_of(const Node& node) { return gpus_[static_cast<std::size_t>(node.gpu)]; }
  bool is_loaded(const Gpu& gpu, const Node& node, const std::string& model) const {
    return gpu.has_context(node) &&
           std::any_of(gpu.nodes.begin(), gpu.nodes.end(), [&](const NodePtr& each) {
             return each->share == node.share && each->twin == node.twin && each->has(model);
           });
  }
  int memory_of(const std::string& model) const {
    return static_cast<int>(profile_.models.at(model).memory_mib);
  }
  bool has_memory(const Node& node, const std::string& model) {
    const Gpu& gpu = gpu_of(node);
    if (is_loaded(gpu, node, model)) return true;
    const int more = memory_of(model) + (gpu.has_context(node) ? 0 : kContextMib);
    return static_cast<float>(profile_.memory_mib) * kMemoryUsed -
               static_cast<float>(gpu.used_mib) >
           static_cast<float>(more);
  }
  void take_memory(const Node& node, const std::string& model) {
    Gpu& gpu = gpu_of(node);
    if (is_loaded(gpu, node, model) || !has_memory(node, model)) return;
    gpu.used_mib += memory_of(model) + (gpu.has_context(node) ? 0 : kContextMib);
    gpu.loaded.emplace_back(node.share, node.twin);
  }
  double gbit(const std::string& model, double throughput) const {
    return throughput * profile_.models.at(model).input_bytes * 8 / 1024 / 1024 / 1024;
  }
  double gbit(const Gpu& gpu) const {
    double sum = 0;
    for (const NodePtr& node : gpu.nodes) {
      for (const Task& task : node->tasks) sum += gbit(task.model, task.throughput);
    }
    return sum;
  }
  /// Makes the batch so small that the network carries it. False = none is.
  bool shrink_to_network(Task& task, const Gpu& gpu) const {
    const double left = kNetworkGbit - gbit(gpu);
    if (left <= 0) return false;
    for (int batch = task.batch; batch > 0; --batch) {
      if (gbit(task.model, batch / static_cast<double>(task.batch) * task.throughput) > left) {
        continue;
      }
      task.throughput *= static_cast<float>(batch) / static_cast<float>(task.batch);
      task.batch = batch;
      return true;
    }
    return false;
  }

  // What a newcomer does to its neighbours. False = they cannot bear it.

  bool adjust_saturated(Node& node, int& lost) const {
    Task& task = node.tasks.front();
    float time = times_.latency(task.model, task.batch, node);
    const float before = task.throughput;
    const auto slo = static_cast<float>(task.slo);
    if (2 * time < slo) {
      task.throughput = static_cast<float>(task.batch * 1000.0 / time);
    } else {
      while (slo < 2 * time) {
        if (task.batch == 1) return false;
        time = times_.latency(task.model, --task.batch, node);
        node.duty = time;
      }
      task.throughput = static_cast<float>(task.batch * (1000.0 / node.duty));
    }
    lost += std::max(0, static_cast<int>(before - task.throughput));
    return true;
  }

  bool adjust_rest(Node& node) const {
    float sum = 0;
    for (const Task& task : node.tasks) sum += times_.latency(task.model, task.batch, node);
    const bool is_late = std::any_of(node.tasks.begin(), node.tasks.end(), [&](const Task& task) {
      return static_cast<double>(sum + node.duty) > task.slo * kLate;
    });
    if (!is_late) return true;
    float least = node.duty;
    std::vector<int> batches;
    for (const Task& task : node.tasks) {
      int batch = task.batch;
      float duty = node.duty;
      float time = times_.latency(task.model, batch, node);
      const float others = sum - time;
      while (static_cast<float>(task.slo) < others + time + duty) {
        if (--batch == 0) return false;
        time = times_.latency(task.model, batch, node);
        // From what the last step left, so that it falls faster than the batch.
        duty *= static_cast<float>(batch) / static_cast<float>(task.batch);
      }
      least = std::min(least, duty);
      batches.push_back(batch);
    }
    sum = 0;
    for (std::size_t each = 0; each < node.tasks.size(); ++each) {
      Task& task = node.tasks[each];
      task.batch = batches[each];
      task.throughput = static_cast<float>(1000 * task.batch) / least;
      sum += times_.latency(task.model, task.batch, node);
    }
    node.duty = least;
    node.occupancy = sum / least;
    return true;
  }

  /// Whether what has come to `node` must leave it again.
  bool must_revert(const Node& node, Job& job) {
    const Gpu& gpu = gpu_of(node);
    if (gbit(gpu) > kNetworkGbit) return true;
    if (!setting_.interference) return false;
    for (const NodePtr& other : gpu.nodes) {
      if (other->twin == node.twin && other->share == node.share) continue;
      if (other->occupancy >= 1 && !other->tasks.empty()) {
        if (!adjust_saturated(*other, other->tasks.front().lost)) return true;
      } else if (!adjust_rest(*other)) {
        return true;
      }
    }
    job.rate += std::exchange(job.lost, 0);
    return false;
  }

  // Where it goes.

  NodePtr best_fit(const Node& wish, const Nodes& excluded) {
    NodePtr best;
    int excess = 200;
    const Task& task = wish.tasks.front();
    for (Gpu& gpu : gpus_) {
      for (const NodePtr& node : gpu.nodes) {
        if (node->share < wish.share || !node->tasks.empty() ||
            std::find(excluded.begin(), excluded.end(), node) != excluded.end() ||
            !has_memory(*node, task.model) ||
            times_.latency(task.model, task.batch, *node) + wish.duty >
                static_cast<float>(task.slo) ||
            disturbs_neighbour(gpu, *node)) {
          continue;
        }
        if (node->share == 100 && setting_.parts) {
          excess = 0;
          best = node;
        }
        if (excess >= node->share - wish.share) {
          excess = node->share - wish.share;
          best = node;
        }
      }
    }
    return best;
  }

  /// As released: asks of the neighbour alone, and counts its turn twice instead of its batch.
  bool disturbs_neighbour(const Gpu& gpu, const Node& node) const {
    if (node.share == 100) return false;
    for (const NodePtr& other : gpu.nodes) {
      if (other->is_same(node)) continue;
      return std::any_of(other->tasks.begin(), other->tasks.end(), [&](const Task& task) {
        return times_.assembly(task.model, task.batch) + other->duty + other->duty >
               static_cast<float>(task.slo);
      });
    }
    return false;
  }

  bool all_fit(const Nodes& wishes) {
    Nodes taken;
    std::map<NodePtr, int> left;
    for (const NodePtr& wish : wishes) {
      NodePtr found;
      while (true) {
        found = best_fit(*wish, taken);
        if (found == nullptr) return false;
        const auto known = left.try_emplace(found, found->share).first;
        if (known->second >= wish->share) break;
        taken.push_back(found);
      }
      left[found] = left[found] == 100 ? 100 - wish->share : 0;
      if (left[found] == 0) taken.push_back(found);
    }
    return true;
  }

  void cut(Node& node, int share) {
    gpu_of(node).nodes.push_back(std::make_shared<Node>(
        Node{.gpu = node.gpu, .share = 100 - share, .twin = share == 50 ? 1 : 0}));
    node.share = share;
  }

  bool fit(const Nodes& wishes, Job& job) {
    for (const NodePtr& wish : wishes) {
      const bool is_rest = wish->occupancy != 1;
      const NodePtr found = best_fit(*wish, {});
      if (found == nullptr) return false;
      if (found->share != 100 && found->share > wish->share) {
        wish->share = found->share;
        Task& task = wish->tasks.front();
        task.batch = is_rest ? times_.rest_batch(task.model, task.slo, task.rate, *wish)
                             : times_.saturated_batch(task.model, task.slo, *wish);
        if (task.batch == 0) return false;
        const float time = times_.latency(task.model, task.batch, *wish);
        wish->duty =
            is_rest
                ? std::max(static_cast<float>(task.batch) * 1000.0F / static_cast<float>(task.rate),
                           time)
                : time;
        task.throughput = static_cast<float>(task.batch * 1000.0 / wish->duty);
        wish->occupancy = time / wish->duty;
      }
      if (found->share == 100 && wish->share < 100) cut(*found, wish->share);
      found->occupancy = wish->occupancy;
      found->duty = wish->duty;
      found->tasks = wish->tasks;
      take_memory(*found, job.model);
      if (setting_.interference) {
        for (const NodePtr& node : gpu_of(*found).nodes) {
          if (node->occupancy == 1) {
            if (!adjust_saturated(*node, job.lost)) return false;
          } else {
            adjust_rest(*node);
          }
        }
      }
      job.rate = static_cast<int>(static_cast<float>(job.rate) - found->tasks.front().throughput);
    }
    if (job.rate + job.lost > setting_.dropped) return false;
    job.rate = 0;
    return true;
  }

  /// Fills free gpulets from the largest down: whole ones first, then one for the rest.
  void fill(Job& job, Nodes given) {
    sort_by_share(given.begin(), given.end());
    job.rate += setting_.interference ? std::exchange(job.lost, 0) : 0;
    bool is_rest = false;
    while (!is_rest && job.rate + job.lost > setting_.dropped && !given.empty()) {
      Node& node = *given.front();
      int batch = 0;
      if (node.share == 100 && setting_.parts) {
        batch = cut_as_wished(job, given);
        if (batch == 0) return;
      } else {
        batch = std::max(1, times_.saturated_batch(job.model, job.slo, node));
      }
      const float time = times_.latency(job.model, batch, node);
      const auto throughput = static_cast<float>(batch * (1000.0 / time));
      if (throughput > static_cast<float>(job.rate)) {
        is_rest = true;
        break;
      }
      Task task{job.model, job.rate, job.slo, batch, throughput};
      if (!shrink_to_network(task, gpu_of(node))) return;
      if (has_memory(node, job.model)) {
        node.occupancy = 1;
        node.duty = time;
        put(node, task, job);
      }
      given.erase(given.begin());
    }
    while (is_rest && job.rate > setting_.dropped && !given.empty()) {
      Node& node = *given.front();
      if (node.share == 100 && setting_.parts && cut_as_wished(job, given) == 0) return;
      const int batch = times_.rest_batch(job.model, job.slo, job.rate, node);
      if (batch == 0) return;
      node.duty = static_cast<float>(batch * (1000.0 / job.rate));
      Task task{job.model, job.rate, job.slo, batch,
                static_cast<float>(1000.0 * batch / node.duty)};
      if (!shrink_to_network(task, gpu_of(node))) return;
      node.occupancy = times_.latency(job.model, task.batch, node) / node.duty;
      if (has_memory(node, job.model)) put(node, task, job);
      given.erase(given.begin());
    }
  }

  /// Cuts the whole GPU at the head of `given` to what the model would like to have first. The
  /// batch of that; 0 = nothing would do.
  int cut_as_wished(const Job& job, Nodes& given) {
    Nodes wishes;
    if (!times_.estimate(job, job.rate, wishes) || wishes.empty()) return 0;
    if (wishes.front()->share < 100) {
      cut(*given.front(), wishes.front()->share);
      given.push_back(gpu_of(*given.front()).nodes.back());
      sort_by_share(given.begin() + 1, given.end());
    }
    return wishes.front()->tasks.front().batch;
  }

  void put(Node& node, const Task& task, Job& job) {
    node.tasks.push_back(task);
    if (must_revert(node, job)) {
      node.occupancy = node.duty = 0;
      node.tasks.clear();
      return;
    }
    job.rate = static_cast<int>(std::max(0.0F, static_cast<float>(job.rate) - task.throughput));
    take_memory(node, job.model);
  }

  /// One gpulet for what the model has in several. False = some of its rate is not served.
  bool merge(Job& job) {
    Nodes rests;
    float least = std::numeric_limits<float>::max();
    int share = 0, rate = job.rate;
    for (const Gpu& gpu : gpus_) {
      for (const NodePtr& node : gpu.nodes) {
        if (node->occupancy >= 1 || node->tasks.size() != 1 || !node->has(job.model)) continue;
        rests.push_back(node);
        rate = static_cast<int>(static_cast<float>(rate) + node->tasks.front().throughput);
        const float full = times_.most(job, node->share).throughput;
        if (full >= least) continue;
        least = full;
        share = node->share;
      }
    }
    if (rests.empty() || (rests.size() == 1 && rate < setting_.dropped) ||
        least < static_cast<float>(rate)) {
      return job.rate <= setting_.dropped;
    }
    for (const NodePtr& node : rests) {
      if (is_loaded(gpu_of(*node), *node, job.model)) {
        gpu_of(*node).used_mib -= memory_of(job.model);
      }
      node->tasks.clear();
      node->occupancy = node->duty = 0;
    }
    place_merged(job, share, rate);
    if (job.rate > setting_.dropped) return false;
    for (Gpu& gpu : gpus_) {
      const bool is_free = std::all_of(gpu.nodes.begin(), gpu.nodes.end(),
                                       [](const NodePtr& node) { return node->tasks.empty(); });
      if (!is_free || gpu.nodes.size() == 1) continue;
      gpu.nodes.resize(1);
      gpu.nodes.front()->twin = 0;
      gpu.nodes.front()->share = 100;
    }
    return true;
  }

  void place_merged(Job& job, int share, int rate) {
    for (Gpu& gpu : gpus_) {
      for (const NodePtr& node : gpu.nodes) {
        if (!node->tasks.empty() || node->share != share || !has_memory(*node, job.model)) continue;
        const int batch = times_.rest_batch(job.model, job.slo, rate, *node);
        if (batch == 0) continue;
        node->duty = static_cast<float>(batch * 1000.0 / rate);
        node->occupancy = times_.latency(job.model, batch, *node) / node->duty;
        const auto throughput = static_cast<float>(batch * 1000.0 / node->duty);
        node->tasks.push_back(
            {job.model, static_cast<int>(throughput), job.slo, batch, throughput});
        job.rate = static_cast<int>(std::max(0.0F, static_cast<float>(rate) - throughput));
        return;
      }
    }
  }

  /// Lets the model take turns on gpulets that others have already, the busiest first; of `among`
  /// where there are some. False = some of its rate is not served.
  bool take_turns(Job& job, const Nodes& among) {
    Nodes order;
    for (const Gpu& gpu : gpus_) {
      for (const NodePtr& node : gpu.nodes) {
        if (!has_memory(*node, job.model)) continue;
        const bool is_asked = among.empty()
                                  ? node->occupancy < 1 && node->tasks.size() < profile_.tasks
                                  : std::find(among.begin(), among.end(), node) != among.end();
        if (is_asked) order.push_back(node);
      }
    }
    std::stable_sort(order.begin(), order.end(), [](const NodePtr& a, const NodePtr& b) {
      return a->occupancy > b->occupancy;
    });
    while (job.rate + job.lost > setting_.dropped) {
      if (std::none_of(order.begin(), order.end(),
                       [&](const NodePtr& node) { return takes_turn(*node, job); })) {
        return false;
      }
    }
    return true;
  }

  bool takes_turn(Node& node, Job& job) {
    if (node.has(job.model) || node.occupancy >= 1) return false;
    int batch = std::min(static_cast<int>(node.duty * (job.rate / 1000.0)), profile_.batch);
    int duty = 0;
    float time = 0;
    for (; batch > 0; --batch) {
      duty = static_cast<int>(batch * 1000.0 / job.rate);
      time = times_.latency(job.model, batch, node);
      if (static_cast<float>(duty) + time < static_cast<float>(job.slo) &&
          time / static_cast<float>(duty) < 1.0 - node.occupancy) {
        break;
      }
    }
    if (batch == 0 || static_cast<float>(duty) > node.duty) return false;
    const auto batch_of = [&](const Task& task) {
      return std::max(1, static_cast<int>(duty / (1000.0 / task.rate)));
    };
    float sum = time;
    int least = job.slo;
    for (const Task& task : node.tasks) {
      if (batch_of(task) > profile_.batch) return false;
      sum += times_.latency(task.model, batch_of(task), node);
      least = std::min(least, task.slo);
    }
    const auto turn = static_cast<float>(duty);
    if (sum / turn > 1 || sum + turn > static_cast<float>(least)) return false;
    float occupancy = 0;
    for (Task& task : node.tasks) {
      task.batch = batch_of(task);
      task.throughput = static_cast<float>(task.batch * 1000.0 / duty);
      occupancy += times_.latency(task.model, task.batch, node) / turn;
    }
    const auto throughput = static_cast<float>(batch * (1000.0 / duty));
    node.tasks.push_back({job.model, job.rate, job.slo, batch, throughput});
    job.rate = static_cast<int>(std::max(0.0F, static_cast<float>(job.rate) - throughput));
    take_memory(node, job.model);
    node.occupancy = occupancy + times_.latency(job.model, batch, node) / turn;
    node.duty = turn;
    return true;
  }

  bool add(Job& job) {
    Nodes empty, held;
    bool is_planned = false;
    for (const Gpu& gpu : gpus_) {
      for (const NodePtr& node : gpu.nodes) is_planned = is_planned || node->has(job.model);
    }
    if (!is_planned) {
      Nodes wishes;
      if (job.rate > setting_.dropped && !times_.estimate(job, job.rate, wishes)) return false;
      sort_by_share(wishes.begin(), wishes.end());
      if (all_fit(wishes) && fit(wishes, job)) return true;
    }
    for (const Gpu& gpu : gpus_) {
      for (const NodePtr& node : gpu.nodes) {
        if (is_planned && !node->tasks.empty()) {
          if (std::erase_if(node->tasks,
                            [&](const Task& task) { return task.model == job.model; }) > 0) {
            held.push_back(node);
          }
          float sum = 0;
          for (const Task& task : node->tasks) sum += times_.latency(task.model, task.batch, *node);
          node->occupancy = sum / node->duty;
        }
        if (node->tasks.empty()) empty.push_back(node);
      }
    }
    fill(job, std::move(empty));
    return merge(job) || (!setting_.greedy && take_turns(job, held));
  }

  const GpuletProfile& profile_;
  const GpuletSetting& setting_;
  std::vector<Gpu> gpus_;
  GpuletTimes times_;
};

}  // namespace

int gpulet_rate(int rate) {
  constexpr int kPoisson = 550, kEndless = 5;
  if (rate > kPoisson) return static_cast<int>(1.1 * rate);
  if (rate < kEndless) return rate;
  double each = std::exp(-rate), sum = 0;
  int count = 0;
  while (sum < 0.99) sum += each *= static_cast<double>(rate) / ++count;
  return count + 1;
}

std::optional<std::vector<Gpulet>> plan_gpulets(const GpuletProfile& profile,
                                                const GpuletSetting& setting,
                                                const std::vector<GpuletRequest>& requests) {
  std::vector<Job> jobs;
  for (const GpuletRequest& each : requests) {
    jobs.push_back({.model = each.model,
                    .id = profile.models.at(each.model).id,
                    .rate = gpulet_rate(each.rate),
                    .slo = static_cast<int>(each.slo)});
  }
  Planner planner(profile, setting);
  if (!planner.plan(std::move(jobs))) return std::nullopt;
  return planner.gpulets();
}

}  // namespace almanac::deployment::gpulet
