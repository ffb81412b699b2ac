// SPDX-License-Identifier: Apache-2.0

#include "deployment/deployment.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cluster/slices/lattice.h"
#include "text/human.h"

namespace almanac::deployment {
namespace {

constexpr double kAlmost = 1e-9;
constexpr auto kUseMore = "use more GPUs, a longer objective or less accuracy";

std::string fleet_size(const PlanningCase& asked) {
  return text::counted(static_cast<std::uint64_t>(asked.fleet.gpus), "GPU");
}

bool takes_turns_with(const Instance& one, const Instance& other) {
  return one.gpu == other.gpu && one.part >= 0 && one.part == other.part;
}

/// The board by which GPUs of seven slices are cut; all of them have the same lattice.
const slices::Board& board() { return *slices::find_board("A100-80GB"); }

/// The profiles that differ in compute slices: neither wide nor with the media engines alone.
std::vector<int> usual_profiles() {
  std::vector<int> made;
  for (int each = 0; each < static_cast<int>(board().profiles.size()); ++each) {
    const slices::Profile& profile = board()[each];
    const bool is_wide = profile.compute == 1 && profile.memory > 1;
    if (!is_wide && (!profile.media || profile.memory == board().memory)) made.push_back(each);
  }
  return made;
}

/// Adds to `made` what fills a GPU with these instances.
void fill(const slices::Layout& layout, std::set<std::vector<int>, std::greater<>>& made) {
  bool is_full = true;
  for (const int profile : usual_profiles()) {
    for (int start = 0; start < board().memory; ++start) {
      slices::Layout next = layout;
      if (next.create({profile, start}) != slices::Refusal::none) continue;
      is_full = false;
      fill(next, made);
    }
  }
  if (!is_full) return;
  std::vector<int> sorted;
  for (const slices::Instance& each : layout.instances()) {
    sorted.push_back(board()[each.profile].compute);
  }
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  made.insert(std::move(sorted));
}

}  // namespace

double Variant::batch_ms(double batch, double share) const {
  return (fixed_ms + item_ms * batch) * std::max(1.0, knee / share);
}

double grams_at(const GpuFleet& fleet, double at_ms) {
  const auto after =
      std::upper_bound(fleet.carbon.begin(), fleet.carbon.end(), at_ms,
                       [](double ms, const CarbonStep& step) { return ms < step.from_ms; });
  return after == fleet.carbon.begin() ? fleet.grams_per_kwh : std::prev(after)->grams_per_kwh;
}

double mean_grams(const GpuFleet& fleet, double from_ms, double until_ms) {
  if (until_ms <= from_ms) return grams_at(fleet, from_ms);
  double sum = 0, since_ms = from_ms, grams = grams_at(fleet, from_ms);
  for (const CarbonStep& step : fleet.carbon) {
    if (step.from_ms <= from_ms) continue;
    if (step.from_ms >= until_ms) break;
    sum += (step.from_ms - since_ms) * grams;
    since_ms = step.from_ms;
    grams = step.grams_per_kwh;
  }
  sum += (until_ms - since_ms) * grams;
  return sum / (until_ms - from_ms);
}

int batch_in_time(const Variant& variant, double share, double slo_ms, double slower) {
  int batch = variant.most_batch;
  while (batch > 0 && 2 * slower * variant.batch_ms(batch, share) > slo_ms * (1 + kAlmost)) --batch;
  return batch;
}

double throughput(const Variant& variant, double share, int batch, double slower) {
  return 1000 * batch / (slower * variant.batch_ms(batch, share));
}

double formed_batch(const Variant& variant, double share, double rate, int most, double slower) {
  // While n are computed, n others arrive: n = rate * (fixed + item * n).
  const double fixed_s = slower * variant.batch_ms(0, share) / 1000;
  const double item_s = slower * variant.batch_ms(1, share) / 1000 - fixed_s;
  if (rate * item_s >= 1) return most;
  return std::clamp(rate * fixed_s / (1 - rate * item_s), 1.0, static_cast<double>(most));
}

bool Judged::meets(const PlanningCase& asked) const {
  for (std::size_t each = 0; each < served.size(); ++each) {
    if (served[each].rate < asked.services[each].rate * (1 - kAlmost) ||
        served[each].accuracy < asked.services[each].accuracy - kAlmost) {
      return false;
    }
  }
  return true;
}

double slower_beside(const PlanningCase& asked, const Deployment& deployment, const Instance& one) {
  if (asked.fleet.mig) return 1;
  const auto here = [&](const Instance& other) { return other.gpu == one.gpu; };
  const auto feels = [&](const Instance& other) {
    return here(other) && !takes_turns_with(one, other);
  };
  const auto& all = deployment.instances;
  const auto others = one.part >= 0 ? std::count_if(all.begin(), all.end(), feels)
                                    : std::count_if(all.begin(), all.end(), here) - 1;
  return others > 0 ? asked.fleet.beside : 1;
}

double instance_rate(const PlanningCase& asked, const Deployment& deployment, const Instance& one) {
  if (one.part >= 0) return 1000 * one.batch / one.duty_ms;
  return throughput(asked.variants[one.variant], one.share, one.batch,
                    slower_beside(asked, deployment, one));
}

Judged judge(const PlanningCase& asked, const Deployment& deployment) {
  Judged made{.served = std::vector<Served>(asked.services.size())};
  // Of each service, by variant.
  std::vector<std::map<std::size_t, double>> rates(asked.services.size());
  std::set<int> gpus;
  for (const Instance& each : deployment.instances) {
    const Variant& variant = asked.variants[each.variant];
    const double slower = slower_beside(asked, deployment, each);
    gpus.insert(each.gpu);
    Served& served = made.served[each.service];
    const double takes_ms = slower * variant.batch_ms(each.batch, each.share);
    const double slowest = takes_ms + std::max(takes_ms, each.duty_ms);
    served.slowest_ms = std::max(served.slowest_ms, slowest);
    if (slowest > asked.services[each.service].slo_ms * (1 + kAlmost)) continue;
    rates[each.service][each.variant] += instance_rate(asked, deployment, each);
  }
  for (std::size_t service = 0; service < rates.size(); ++service) {
    Served& served = made.served[service];
    std::vector<double> accuracies;
    double least = rates[service].empty() ? 0 : rates[service].begin()->second;
    for (const auto& [variant, rate] : rates[service]) {
      served.rate += rate;
      served.accuracy += rate * asked.variants[variant].accuracy;
      least = std::min(least, rate);
      accuracies.push_back(asked.variants[variant].accuracy);
    }
    if (served.rate > 0) served.accuracy /= served.rate;
    if (service < deployment.votes.size() && deployment.votes[service] && !accuracies.empty()) {
      served.rate = least;
      served.accuracy = vote_accuracy(accuracies);
    }
  }
  made.gpus = static_cast<int>(gpus.size());
  made.watts = asked.fleet.idle_w * made.gpus;
  for (std::size_t at = 0; at < deployment.instances.size(); ++at) {
    const Instance& each = deployment.instances[at];
    const Variant& variant = asked.variants[each.variant];
    const Served& served = made.served[each.service];
    const bool votes = each.service < deployment.votes.size() && deployment.votes[each.service];
    const double capacity = votes ? rates[each.service][each.variant] : served.rate;
    if (capacity <= 0) continue;
    const double slower = slower_beside(asked, deployment, each);
    const double rate = asked.services[each.service].rate *
                        std::min(1.0, instance_rate(asked, deployment, each) / capacity);
    const double batch = each.part < 0 ? formed_batch(variant, each.share, rate, each.batch, slower)
                                       : std::clamp(rate * each.duty_ms / 1000, 1.0,
                                                    static_cast<double>(each.batch));
    const double busy =
        std::min(1.0, rate / batch * slower * variant.batch_ms(batch, each.share) / 1000);
    made.watts += variant.busy_w * std::min(each.share, variant.knee) * busy;
  }
  made.price_per_h = asked.fleet.price_per_h * made.gpus;
  made.grams_per_h = made.watts / 1000 * asked.fleet.grams_per_kwh;
  return made;
}

Result<void> check(const PlanningCase& asked, const Deployment& deployment) {
  std::map<int, std::vector<const Instance*>> on;
  for (const Instance& each : deployment.instances) {
    if (each.gpu < 0 || each.gpu >= asked.fleet.gpus) {
      return fail(Code::invalid, fmt::format("there is no GPU {}", each.gpu));
    }
    if (each.batch < 1 || each.batch > asked.variants[each.variant].most_batch) {
      return fail(Code::invalid, fmt::format("{} cannot run a batch of {}",
                                             asked.variants[each.variant].name, each.batch));
    }
    on[each.gpu].push_back(&each);
  }
  for (const auto& [gpu, instances] : on) {
    double share = 0, memory = 0;
    std::vector<int> slices;
    for (const Instance* each : instances) {
      const double needs = asked.variants[each->variant].memory_gib;
      const bool is_counted =
          std::any_of(instances.begin(), std::find(instances.begin(), instances.end(), each),
                      [&](const Instance* other) { return takes_turns_with(*each, *other); });
      share += is_counted ? 0 : each->share;
      memory += needs;
      slices.push_back(mig_slices(each->share));
      if (asked.fleet.mig && needs > mig_memory(slices.back()) * asked.fleet.memory_gib) {
        return fail(Code::invalid, fmt::format("{} does not fit into {} slices",
                                               asked.variants[each->variant].name, slices.back()));
      }
    }
    if (asked.fleet.mig && !fits_mig_gpu(slices)) {
      return fail(Code::invalid, fmt::format("GPU {} cannot be partitioned in this way", gpu));
    }
    if (share > 1 + kAlmost || memory > asked.fleet.memory_gib * (1 + kAlmost)) {
      return fail(Code::invalid,
                  fmt::format("GPU {} has {:.2f} of its computing units and {:.1f} GiB taken", gpu,
                              share, memory));
    }
  }
  return {};
}

double vote_accuracy(const std::vector<double>& accuracies) {
  std::vector<double> right{1};  // how likely so many are
  for (const double accuracy : accuracies) {
    right.push_back(0);
    for (std::size_t count = right.size(); count-- > 0;) {
      right[count] = right[count] * (1 - accuracy) + (count > 0 ? right[count - 1] * accuracy : 0);
    }
  }
  double sum = 0;
  for (std::size_t count = 0; count < right.size(); ++count) {
    const std::size_t wrong = accuracies.size() - count;
    sum += count > wrong ? right[count] : count == wrong ? right[count] / 2 : 0;
  }
  return sum;
}

const std::vector<std::vector<int>>& mig_splits() {
  static const std::vector<std::vector<int>> made = [] {
    std::set<std::vector<int>, std::greater<>> all;
    fill(slices::Layout(board()), all);
    return std::vector<std::vector<int>>(all.begin(), all.end());
  }();
  return made;
}

bool fits_mig_gpu(std::vector<int> slices) {
  std::sort(slices.begin(), slices.end(), std::greater<>());
  return std::any_of(mig_splits().begin(), mig_splits().end(), [&](const auto& split) {
    return std::includes(split.begin(), split.end(), slices.begin(), slices.end(),
                         std::greater<>());
  });
}

double mig_memory(int slices) {
  double part = slices > 0 ? 1 : 0;  // as much as the next profile with no fewer compute slices
  for (const int each : usual_profiles()) {
    const slices::Profile& profile = board()[each];
    if (slices <= 0 || profile.compute < slices) continue;
    part = std::min(part, static_cast<double>(profile.memory) / board().memory);
  }
  return part;
}

int mig_slices(double share) { return static_cast<int>(std::lround(share * 7)); }

bool add_by_best_fit(const PlanningCase& asked, Instance instance, int copies,
                     Deployment& deployment) {
  const std::size_t before = deployment.instances.size();
  std::vector<double> share(static_cast<std::size_t>(asked.fleet.gpus));
  std::vector<double> memory = share;
  for (const Instance& each : deployment.instances) {
    share[static_cast<std::size_t>(each.gpu)] += each.share;
    memory[static_cast<std::size_t>(each.gpu)] += asked.variants[each.variant].memory_gib;
  }
  const double needs = asked.variants[instance.variant].memory_gib;
  for (int copy = 0; copy < copies; ++copy) {
    std::size_t best = share.size();
    for (std::size_t gpu = 0; gpu < share.size(); ++gpu) {
      if (share[gpu] + instance.share > 1 + kAlmost ||
          memory[gpu] + needs > asked.fleet.memory_gib) {
        continue;
      }
      if (best == share.size() || share[gpu] > share[best]) best = gpu;
    }
    if (best == share.size()) {
      deployment.instances.resize(before);
      return false;
    }
    share[best] += instance.share;
    memory[best] += needs;
    instance.gpu = static_cast<int>(best);
    deployment.instances.push_back(instance);
  }
  return true;
}

int copies_for(const PlanningCase& asked, const Instance& instance, double rate) {
  const double each = throughput(asked.variants[instance.variant], instance.share, instance.batch,
                                 asked.fleet.mig ? 1 : asked.fleet.beside);
  constexpr double kMost = 1e9;  // more than any GPUs hold
  return std::max(1, static_cast<int>(std::min(kMost, std::ceil(rate / each - kAlmost))));
}

std::vector<std::size_t> eligible(const PlanningCase& asked, const TaskService& service,
                                  double least_accuracy) {
  std::vector<std::size_t> made;
  for (std::size_t each = 0; each < asked.variants.size(); ++each) {
    const Variant& variant = asked.variants[each];
    if (variant.task == service.task && variant.accuracy >= least_accuracy - kAlmost &&
        variant.memory_gib <= asked.fleet.memory_gib &&
        batch_in_time(variant, variant.knee, service.slo_ms, asked.fleet.beside) > 0) {
      made.push_back(each);
    }
  }
  return made;
}

double share_for(const PlanningCase& asked, const Variant& variant, double slo_ms, double rate) {
  const double slower = asked.fleet.mig ? 1 : asked.fleet.beside;
  for (int percent = 1; percent <= 100; ++percent) {
    const double share = percent / 100.0;
    const int batch = batch_in_time(variant, share, slo_ms, slower);
    if (batch > 0 && throughput(variant, share, batch, slower) >= rate * (1 - kAlmost)) {
      return share;
    }
  }
  return 0;
}

Result<std::size_t> most_accurate(const PlanningCase& asked, const TaskService& service) {
  const auto all = eligible(asked, service, service.accuracy);
  if (all.empty()) return tl::unexpected(no_variant(asked, service));
  return *std::max_element(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
    const Variant &one = asked.variants[a], &other = asked.variants[b];
    return std::pair(one.accuracy, -one.item_ms) < std::pair(other.accuracy, -other.item_ms);
  });
}

Error too_few_gpus(const PlanningCase& asked, const TaskService& service) {
  if (asked.services.size() > 1) {
    return {Code::unavailable,
            fmt::format("{} cannot serve all {} services together: no room is left for {:.10g} "
                        "requests/s of {}",
                        fleet_size(asked), asked.services.size(), service.rate, service.task),
            {},
            kUseMore};
  }
  return {Code::unavailable,
          fmt::format("{} cannot answer {:.10g} requests/s of {}", fleet_size(asked), service.rate,
                      service.task),
          {},
          kUseMore};
}

Error too_few_gpus(const PlanningCase& asked) {
  if (asked.services.size() == 1) return too_few_gpus(asked, asked.services.front());
  return {Code::unavailable,
          fmt::format("{} cannot serve all {} services together", fleet_size(asked),
                      asked.services.size()),
          {},
          kUseMore};
}

Error no_variant(const PlanningCase& asked, const TaskService& service) {
  PlanningCase roomy = asked;
  roomy.fleet.memory_gib = std::numeric_limits<double>::infinity();
  const auto others = eligible(roomy, service, service.accuracy);
  if (!others.empty() && eligible(asked, service, service.accuracy).empty()) {
    const std::size_t least =
        *std::min_element(others.begin(), others.end(), [&](std::size_t a, std::size_t b) {
          return asked.variants[a].memory_gib < asked.variants[b].memory_gib;
        });
    return {Code::unavailable,
            fmt::format(
                "no variant for {} that is right in {:.1f} % and answers within {:.10g} ms fits "
                "into {:.4g} GiB, the memory of a GPU: {} needs {:.4g}",
                service.task, 100 * service.accuracy, service.slo_ms, asked.fleet.memory_gib,
                asked.variants[least].name, asked.variants[least].memory_gib),
            {},
            "raise --memory, or require less accuracy"};
  }
  return {Code::unavailable,
          fmt::format("no variant for {} is right in {:.1f} % and answers within {:.10g} ms",
                      service.task, 100 * service.accuracy, service.slo_ms),
          {},
          "use a longer objective, or less accuracy"};
}

}  // namespace almanac::deployment
