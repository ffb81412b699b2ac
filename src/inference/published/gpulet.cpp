// SPDX-License-Identifier: Apache-2.0

#include "inference/published/gpulet.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

namespace almanac::inference::published {
namespace {

constexpr std::array kShares{20, 40, 50, 60, 80, 100};
constexpr double kDropped = 15;       // requests/s that no plan has to serve
constexpr double kContextMib = 1230;  // of each gpulet, beside its models
constexpr double kMemoryUsed = 0.9;
constexpr double kNetwork = 3.0 * 1024 * 1024 * 1024;  // bits/s of inputs to a GPU
constexpr double kGain = 1.05;    // a larger part must bring so much to be looked at
constexpr double kLate = 1.05;    // an objective may be missed by so much beside a newcomer
constexpr double kGreedy = 1.25;  // and by so much where the smallest part is taken

/// The released program keeps times and rates in 4 bytes.
double short_number(double value) { return static_cast<double>(static_cast<float>(value)); }

struct Part {
  Gpulet gpulet{};
  bool saturated = false;
};

/// A gpulet that a model would like to have.
struct Wish {
  bool saturated = false;
  int share = 100;
  int batch = 1;
  double duty = 0;
  double rate = 0;
};

class Planner {
 public:
  Planner(const GpuletProfile& profile, const GpuletSetting& setting,
          const std::vector<GpuletRequest>& requests)
      : profile_(profile), setting_(setting) {
    for (int gpu = 0; gpu < setting.gpus; ++gpu) parts_.push_back({{.gpu = gpu}});
    for (const GpuletRequest& each : requests) {
      slo_[each.model] = each.slo;
      rate_[each.model] = gpulet_rate(each.rate);
    }
  }

  double planned(const std::string& model) const { return rate_.at(model); }

  bool serve(const std::string& model) {
    const double asked = planned(model);
    auto wishes = wishes_of(model, asked);
    if (!wishes) return false;
    std::stable_sort(wishes->begin(), wishes->end(),
                     [](const Wish& a, const Wish& b) { return a.share > b.share; });
    // A rate that is too low for any batch is planned as the one that a batch of 1 allows.
    if (wishes->size() == 1 && !wishes->front().saturated) {
      rate_[model] = std::max(asked, wishes->front().rate);
    }
    const auto before = parts_;
    double left = planned(model);
    bool all_fit = true;
    for (const Wish& wish : *wishes) {
      if (left <= kDropped) break;
      const auto served = fit(model, wish, left);
      if (!served) {
        all_fit = false;
        break;
      }
      left -= *served;
    }
    if (all_fit) return left <= kDropped || take_turns(model, std::floor(left));
    parts_ = before;
    left = asked;
    for (const std::size_t part : free_parts()) {
      if (left <= kDropped) break;
      if (!has_memory(part, model)) continue;
      const bool cuts = setting_.greedy && parts_[part].gpulet.share == 100 && !wishes->empty() &&
                        wishes->back().share < 100 && left <= wishes->back().rate;
      if (cuts) cut(part, wishes->back().share);
      left -= fill(part, model, left, std::nullopt, true).value_or(0);
    }
    return left <= kDropped || (!setting_.greedy && take_turns(model, left));
  }

  std::vector<Gpulet> gpulets() const {
    std::vector<Gpulet> made;
    for (const Part& each : parts_) made.push_back(each.gpulet);
    return made;
  }

 private:
  double latency(const std::string& model, int batch, int share, double slower = 1) const {
    const GpuletModel& it = profile_.models.at(model);
    const auto at = static_cast<std::size_t>(batch - 1);
    return profile_.stretch * (it.latency.at(share)[at] * slower + it.assembly[at]);
  }

  /// The largest batch found by halving, so never the largest that there is.
  std::optional<int> largest(const std::function<bool(int)>& does) const {
    if (!does(1)) return std::nullopt;
    int low = 1, high = profile_.batch;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (does(middle) ? low : high) = middle;
    }
    return low;
  }
  using Slower = std::function<double(int batch)>;
  int saturated_batch(const std::string& model, int share, const Slower& slower) const {
    return largest([&](int batch) {
             return 2 * latency(model, batch, share, slower(batch)) <= slo_.at(model);
           })
        .value_or(1);
  }
  std::optional<int> rest_batch(const std::string& model, int share, double rate,
                                const Slower& slower) const {
    return largest([&](int batch) {
      return latency(model, batch, share, slower(batch)) + 1000 * batch / rate <= slo_.at(model);
    });
  }
  static double alone(int) { return 1; }
  double most(const std::string& model, int share) const {
    const int batch = saturated_batch(model, share, alone);
    return 1000 * batch / latency(model, batch, share);
  }

  /// The share beyond which more brings less. The loop never looks at the whole GPU.
  int knee(const std::string& model) const {
    if (!setting_.parts) return 100;
    int best = kShares.front();
    double gain = 0;
    for (std::size_t step = 0; step + 2 < kShares.size(); ++step) {
      const double low = most(model, kShares[step]), high = most(model, kShares[step + 1]);
      if (high / low < kGain) continue;
      const double each = (high - low) / (kShares[step + 1] - kShares[step]);
      if (each <= gain) continue;
      gain = each;
      best = kShares[step + 1];
    }
    return best;
  }

  std::optional<std::vector<Wish>> wishes_of(const std::string& model, double left) const {
    std::vector<Wish> made;
    // What does not fit on all parts is no use to wish for.
    const auto enough = 2 * static_cast<std::size_t>(setting_.gpus) + 1;
    const auto saturate = [&](int share) {
      const int batch = saturated_batch(model, share, alone);
      made.push_back({true, share, batch, latency(model, batch, share), most(model, share)});
      left -= most(model, share);
    };
    if (setting_.greedy) {
      while (left > 0 && made.size() < enough) {
        const auto* const does = std::find_if(kShares.begin(), kShares.end(),
                                              [&](int share) { return most(model, share) > left; });
        if (does == kShares.end()) {
          saturate(100);
          left = std::floor(left);
          continue;
        }
        const int batch = saturated_batch(model, *does, alone);
        made.push_back({false, *does, batch, short_number(1000 * batch / left), left});
        left = 0;
      }
      return made;
    }
    const int knee_share = knee(model);
    while (left > most(model, knee_share) && made.size() < enough) saturate(knee_share);
    left = std::floor(left);
    if (left <= kDropped) return made;
    auto batch = rest_batch(model, knee_share, left, alone);
    if (!batch) {
      const double shortest = latency(model, 1, knee_share);
      if (shortest >= 1000 / left || shortest >= slo_.at(model)) return std::nullopt;
      batch = 1;
      left = std::floor(1.1 * 1000 / (slo_.at(model) - shortest));
    }
    const double duty = 1000 * *batch / left;
    int share = knee_share;
    for (auto smaller = kShares.rbegin(); setting_.parts && smaller != kShares.rend(); ++smaller) {
      if (*smaller > knee_share) continue;
      const double time = latency(model, *batch, *smaller);
      if (time > duty || time + duty > slo_.at(model)) break;
      share = *smaller;
    }
    made.push_back({false, share, *batch, short_number(duty), left});
    return made;
  }

  const Part* other_of(const Part& part) const {
    for (const Part& each : parts_) {
      if (&each != &part && each.gpulet.gpu == part.gpulet.gpu) return &each;
    }
    return nullptr;
  }

  std::array<double, 2> traffic(const std::string& model, int batch) const {
    const auto& known = profile_.models.at(model).traffic;
    const auto above = known.lower_bound(batch);
    if (above == known.end()) return known.rbegin()->second;
    if (above->first == batch || above == known.begin()) return above->second;
    const auto below = std::prev(above);
    const double part = static_cast<double>(batch - below->first) / (above->first - below->first);
    std::array<double, 2> made{};
    for (std::size_t each = 0; each < made.size(); ++each) {
      made[each] = below->second[each] + (above->second[each] - below->second[each]) * part;
    }
    return made;
  }

  /// How many times as long a batch takes beside what runs on the GPU's other part.
  double slower_on(const Part& part, const std::string& model, int batch) const {
    const Part* const other = setting_.interference ? other_of(part) : nullptr;
    double made = 1;
    if (other == nullptr) return made;
    const auto own = traffic(model, batch);
    for (const GpuletTask& task : other->gpulet.tasks) {
      const auto others = traffic(task.model, task.batch);
      const double here = part.gpulet.share / 100.0, there = other->gpulet.share / 100.0;
      made =
          std::max(made, profile_.own_l2 * own[0] * here + profile_.other_l2 * others[0] * there +
                             profile_.own_dram * own[1] * here +
                             profile_.other_dram * others[1] * there + profile_.constant);
    }
    return made;
  }
  Slower slower(const Part& part, const std::string& model) const {
    return [this, &part, model](int batch) { return slower_on(part, model, batch); };
  }
  double latency_on(const Part& part, const std::string& model, int batch) const {
    return latency(model, batch, part.gpulet.share, slower_on(part, model, batch));
  }

  /// What runs on the other part has a newcomer beside it: smaller batches.
  void shrink_beside(const Part& part) {
    Part* const other = const_cast<Part*>(other_of(part));
    if (!setting_.interference || other == nullptr || other->gpulet.tasks.empty()) return;
    Gpulet& gpulet = other->gpulet;
    if (other->saturated) {
      GpuletTask& task = gpulet.tasks.front();
      while (task.batch > 1 &&
             2 * latency_on(*other, task.model, task.batch) > slo_.at(task.model)) {
        --task.batch;
      }
      gpulet.duty = short_number(latency_on(*other, task.model, task.batch));
      task.throughput = 1000 * task.batch / gpulet.duty;
      return;
    }
    for (GpuletTask& task : gpulet.tasks) {
      const auto is_late = [&] {
        double sum = gpulet.duty;
        for (const GpuletTask& each : gpulet.tasks) {
          sum += latency_on(*other, each.model, each.batch);
        }
        return sum > kLate * slo_.at(task.model);
      };
      while (task.batch > 1 && is_late()) --task.batch;
    }
  }

  bool has_memory(std::size_t part, const std::string& model) const {
    const Gpulet& asked = parts_[part].gpulet;
    double sum = profile_.models.at(model).memory_mib + (asked.tasks.empty() ? kContextMib : 0);
    for (const Part& each : parts_) {
      if (each.gpulet.gpu != asked.gpu || each.gpulet.tasks.empty()) continue;
      sum += kContextMib;
      for (const GpuletTask& task : each.gpulet.tasks) {
        sum += profile_.models.at(task.model).memory_mib;
      }
    }
    return sum <= kMemoryUsed * profile_.memory_mib;
  }

  /// Whether the inputs of a GPU with this batch more are too many for its network.
  bool is_over_network(int gpu, const std::string& model, int batch, double duty) const {
    const auto bits = [&](const std::string& name, int items, double ms) {
      return profile_.models.at(name).input_bytes * 8 * items * 1000 / ms;
    };
    double sum = bits(model, batch, duty);
    for (const Part& each : parts_) {
      if (each.gpulet.gpu != gpu) continue;
      for (const GpuletTask& task : each.gpulet.tasks) {
        sum += bits(task.model, task.batch, each.gpulet.duty);
      }
    }
    return sum > kNetwork;
  }

  /// Free parts, the largest first.
  std::vector<std::size_t> free_parts() const {
    std::vector<std::size_t> made;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (parts_[part].gpulet.tasks.empty()) made.push_back(part);
    }
    std::stable_sort(made.begin(), made.end(), [&](std::size_t a, std::size_t b) {
      const Gpulet &one = parts_[a].gpulet, &other = parts_[b].gpulet;
      return std::pair(-one.share, one.gpu) < std::pair(-other.share, other.gpu);
    });
    return made;
  }

  void cut(std::size_t part, int share) {
    parts_.push_back({{.gpu = parts_[part].gpulet.gpu, .share = 100 - share}});
    parts_[part].gpulet.share = share;
  }

  /// Puts the model on the part that it wishes for. What it serves there, or nothing.
  std::optional<double> fit(const std::string& model, const Wish& wish, double left) {
    std::optional<std::size_t> best;
    for (const std::size_t part : free_parts()) {
      const Part& it = parts_[part];
      if (it.gpulet.share < wish.share || !has_memory(part, model)) continue;
      const int share = setting_.greedy && !wish.saturated ? wish.share : it.gpulet.share;
      const double time = latency(model, wish.batch, share, slower_on(it, model, wish.batch));
      const double allowed = slo_.at(model) * (setting_.greedy ? kGreedy : 1);
      if (wish.saturated ? 2 * time > slo_.at(model) : time + wish.duty > allowed) continue;
      // The first that is larger, unless a GPU is free or a part is just so large: then the last.
      if (!best || it.gpulet.share == 100 || it.gpulet.share == wish.share) best = part;
    }
    if (!best) return std::nullopt;
    if (parts_[*best].gpulet.share == 100 && wish.share < 100) cut(*best, wish.share);
    // Neighbours are told of the batch as it was wished for.
    Part& part = parts_[*best];
    part.gpulet.tasks = {{model, wish.batch, wish.rate}};
    shrink_beside(part);
    part.gpulet.tasks.clear();
    const bool as_wished = !wish.saturated && part.gpulet.share == wish.share &&
                           std::floor(left) == std::floor(wish.rate);
    return fill(*best, model, left, as_wished ? std::optional(wish.batch) : std::nullopt, false);
  }

  /// Serves as much of `left` as the part can, `is_second` where wishes did not fit.
  std::optional<double> fill(std::size_t at, const std::string& model, double left,
                             std::optional<int> batch, bool is_second) {
    Part& part = parts_[at];
    const Slower beside = slower(part, model);
    Gpulet& gpulet = part.gpulet;
    const int full = saturated_batch(model, gpulet.share, beside);
    const double shortest = latency_on(part, model, full);
    if (left > 1000 * full / shortest) {
      int count = full;
      gpulet.duty = short_number(shortest);
      while (is_second && count > 1 && is_over_network(gpulet.gpu, model, count, gpulet.duty)) {
        --count;
      }
      gpulet.tasks = {{model, count, 1000 * count / gpulet.duty}};
      gpulet.occupancy = 1;
      part.saturated = true;
    } else {
      double rate = std::floor(left);
      const bool as_wished = batch.has_value();
      if (!as_wished) {
        batch = rest_batch(model, gpulet.share, rate, alone);
        if (!batch) {
          const double time = latency(model, 1, gpulet.share);
          if (!is_second || time >= 1000 / rate || time >= slo_.at(model)) return std::nullopt;
          batch = 1;
          rate_[model] = rate = std::floor(1.1 * 1000 / (slo_.at(model) - time));
        }
        const double duty = short_number(1000 * *batch / rate);
        rate = std::floor(short_number(1000 * *batch / duty));
        if (!is_second && !setting_.greedy && is_over_network(gpulet.gpu, model, *batch, duty)) {
          rate = std::floor(1000 * *batch / duty);
        }
        batch = rest_batch(model, gpulet.share, rate, beside);
        if (!batch) return std::nullopt;
      }
      const double duty = short_number(1000 * *batch / rate);
      const double time = latency_on(part, model, *batch);
      if (!setting_.greedy && time + duty > slo_.at(model)) return std::nullopt;
      gpulet.duty = duty;
      const bool as_if_full = setting_.greedy && as_wished;
      gpulet.tasks = {{model, *batch, as_if_full ? std::floor(1000 * *batch / time) : rate}};
      gpulet.occupancy = time / duty;
      part.saturated = false;
    }
    if (is_second) shrink_beside(part);
    return gpulet.tasks.front().throughput;
  }

  /// Lets the model take turns on a part that others have already, the busiest first.
  bool take_turns(const std::string& model, double rate) {
    std::vector<std::size_t> order;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const Gpulet& gpulet = parts_[part].gpulet;
      const bool has_it = std::any_of(gpulet.tasks.begin(), gpulet.tasks.end(),
                                      [&](const GpuletTask& task) { return task.model == model; });
      if (gpulet.tasks.empty() || gpulet.occupancy >= 1 || has_it ||
          gpulet.tasks.size() >= profile_.tasks) {
        continue;
      }
      order.push_back(part);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return parts_[a].gpulet.occupancy > parts_[b].gpulet.occupancy;
    });
    return std::any_of(order.begin(), order.end(),
                       [&](std::size_t part) { return takes_turn(part, model, rate); });
  }

  bool takes_turn(std::size_t at, const std::string& model, double rate) {
    Gpulet& gpulet = parts_[at].gpulet;
    int batch = std::min(profile_.batch, static_cast<int>(gpulet.duty / 1000 * rate));
    double duty = 0;
    for (; batch > 0; --batch) {
      duty = std::floor(1000 * batch / rate);
      const double time = latency(model, batch, gpulet.share);
      if (duty > 0 && duty + time < slo_.at(model) && time / duty < 1 - gpulet.occupancy &&
          duty <= gpulet.duty) {
        break;
      }
    }
    if (batch == 0) return false;
    std::vector<GpuletTask> tasks = gpulet.tasks;
    for (GpuletTask& task : tasks) {
      task.batch = std::max(1, static_cast<int>(duty / 1000 * planned(task.model)));
    }
    tasks.push_back({model, batch});
    double sum = 0;
    for (GpuletTask& task : tasks) {
      if (task.batch > profile_.batch) return false;
      task.throughput = 1000 * task.batch / duty;
      sum += latency(task.model, task.batch, gpulet.share);
    }
    const bool is_late = std::any_of(tasks.begin(), tasks.end(), [&](const GpuletTask& task) {
      return sum + duty > slo_.at(task.model);
    });
    if (sum > duty || is_late || !has_memory(at, model)) return false;
    gpulet.tasks = std::move(tasks);
    gpulet.duty = duty;
    gpulet.occupancy = sum / duty;
    return true;
  }

  const GpuletProfile& profile_;
  const GpuletSetting& setting_;
  std::vector<Part> parts_;
  std::map<std::string, double> slo_, rate_;
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
                                                std::vector<GpuletRequest> requests) {
  std::stable_sort(requests.begin(), requests.end(),
                   [&](const GpuletRequest& a, const GpuletRequest& b) {
                     return std::pair(gpulet_rate(a.rate) * a.slo, -profile.models.at(a.model).id) <
                            std::pair(gpulet_rate(b.rate) * b.slo, -profile.models.at(b.model).id);
                   });
  Planner planner(profile, setting, requests);
  for (const GpuletRequest& each : requests) {
    if (!planner.serve(each.model)) return std::nullopt;
  }
  return planner.gpulets();
}

}  // namespace almanac::inference::published
