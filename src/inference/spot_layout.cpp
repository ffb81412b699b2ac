// SPDX-License-Identifier: Apache-2.0

#include "inference/spot_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "inference/simulation.h"
#include "text/human.h"

namespace almanac::inference {
namespace {

constexpr std::size_t kSampled = 300;
constexpr int kMostStages = 16;
constexpr Micros kSeparate = 3600e6;  // between requests that do not meet

/// Plays `requests` on one replica and returns the outcomes.
std::vector<Outcome> play_one(const Parts& parts, const Requests& requests) {
  Simulation simulation(requests);
  parts.open(simulation, 1);
  simulation.run(*parts.router);
  return simulation.outcomes();
}

/// Returns how much two ranges of an axis from 0 to 1 overlap: the `a`-th of `as` equal parts and
/// the `b`-th of `bs`.
double overlap(int a, int as, int b, int bs) {
  const double from = std::max(static_cast<double>(a) / as, static_cast<double>(b) / bs);
  const double until = std::min((a + 1.0) / as, (b + 1.0) / bs);
  return std::max(0.0, until - from);
}

}  // namespace

Result<SpotLayouts> SpotLayouts::make(const Service& service, const Requests& requests,
                                      int instance_gpus, int most_gpus) {
  if (service.measured || service.tables) {
    return fail(Code::usage, "step times of a file hold for one division of the model", {},
                "use --times measured or roofline with --spot");
  }
  if (service.prefill > 0) {
    return fail(Code::usage, "prefill-only replicas cannot be combined with spot instances", {},
                "leave out --prefill");
  }
  if (service.data_attention) {
    return fail(Code::usage, "data-parallel attention cannot be combined with spot instances", {},
                "leave out --data-parallel-attention");
  }
  SpotLayouts made;
  made.sample_ = requests;
  made.sample_.all.resize(std::min(kSampled, requests.size()));
  Requests at_once = made.sample_;
  for (Request& each : at_once.all) each.arrival = 0;
  Error last;
  for (int gpus = 1; gpus <= std::min(instance_gpus, most_gpus); ++gpus) {
    if (instance_gpus % gpus != 0 || !check_division(service.model, gpus)) continue;
    for (int stages = 1; stages <= kMostStages && stages * gpus <= most_gpus; ++stages) {
      if (service.model.layer_count() % stages != 0) continue;
      Service one = service;
      one.gpus = gpus;
      one.stages = stages;
      one.replicas = 1;
      if (one.limits.kv_blocks <= 0 && fitting_blocks(one) < 1) continue;
      auto its = parts(one);
      if (!its) {
        last = its.error();
        if (last.code == Code::not_found) return tl::unexpected(last);
        continue;
      }
      double until = 0, finished = 0;
      for (const Outcome& each : play_one(*its, at_once)) {
        if (each.finish == kNever) continue;
        until = std::max(until, each.finish);
        ++finished;
      }
      if (finished == 0) continue;  // requests outgrow its memory
      made.divisions_.try_emplace(
          {stages, gpus}, Division{std::move(one), *std::move(its), finished / (until / 1e6)});
    }
  }
  if (!made.divisions_.empty()) return made;
  return fail(
      Code::unavailable,
      fmt::format("{} does not fit on {} of {}, the most at one time", service.model.name,
                  text::counted(static_cast<std::uint64_t>(most_gpus), "GPU"), service.board.name),
      {},
      last.hint.empty() ? "use more instances at the same time, or more --instance-gpus"
                        : last.hint);
}

double SpotLayouts::latency_s(const Key& key, double replica_rate) {
  const auto [found, is_new] = latencies_.try_emplace({key, replica_rate}, 0);
  if (!is_new) return found->second;
  Requests faster = sample_;
  const Micros first = faster.all.front().arrival;
  const double span_s = (faster.all.back().arrival - first) / 1e6;
  const double own_rate = span_s > 0 ? static_cast<double>(faster.size() - 1) / span_s : 0;
  for (RequestId id = 0; id < faster.size(); ++id) {
    Request& each = faster.all[id];
    each.arrival = replica_rate > 0 ? (each.arrival - first) * own_rate / replica_rate
                                    : static_cast<double>(id) * kSeparate;
  }
  double sum = 0, count = 0;
  const auto outcomes = play_one(divisions_.at(key).parts, faster);
  for (RequestId id = 0; id < faster.size(); ++id) {
    if (outcomes[id].finish == kNever) continue;
    sum += (outcomes[id].finish - faster[id].arrival) / 1e6;
    ++count;
  }
  return found->second = sum / count;
}

SpotLayout SpotLayouts::choose(int gpus, double rate) {
  SpotLayout best;
  bool carries = false;
  double best_value = std::numeric_limits<double>::infinity();
  for (const auto& [key, division] : divisions_) {
    const SpotLayout each{gpus / (key.first * key.second), key.first, key.second};
    if (each.replicas == 0) continue;
    const double throughput = each.replicas * division.throughput;
    const bool enough = throughput >= rate;
    if (carries && !enough) continue;
    const double value = enough ? latency_s(key, rate / each.replicas) : -throughput;
    if (carries == enough && value >= best_value) continue;
    best = each;
    best_value = value;
    carries = enough;
  }
  return best;
}

int SpotLayouts::least_gpus() const {
  int least = std::numeric_limits<int>::max();
  for (const auto& [key, division] : divisions_) least = std::min(least, key.first * key.second);
  return least;
}

const Parts& SpotLayouts::parts_of(const SpotLayout& layout) const {
  return divisions_.at({layout.stages, layout.gpus}).parts;
}

const Service& SpotLayouts::service_of(const SpotLayout& layout) const {
  return divisions_.at({layout.stages, layout.gpus}).service;
}

double in_common(const Shard& a, const Shard& b) {
  return overlap(a.stage, a.stages, b.stage, b.stages) * overlap(a.part, a.parts, b.part, b.parts);
}

std::vector<Shard> shards_of(const SpotLayout& layout) {
  std::vector<Shard> made;
  for (int stage = 0; stage < layout.stages; ++stage) {
    for (int part = 0; part < layout.gpus; ++part) {
      made.push_back({stage, layout.stages, part, layout.gpus});
    }
  }
  return made;
}

}  // namespace almanac::inference
