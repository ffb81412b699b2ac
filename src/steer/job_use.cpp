// SPDX-License-Identifier: Apache-2.0
#include "steer/job_use.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace almanac::steer {
namespace {

/// What was said longer ago is not known any more.
constexpr Duration kKnownFor = 30s;
/// GPUs that are hardly ever busy are not kept waiting by cores.
constexpr double kIdle = 0.01;
/// Below that of what they were, GPUs are hurt.
constexpr double kHurtSpeed = 0.9;

bool same_cores(const std::optional<double>& a, const std::optional<double>& b) {
  constexpr double kRounding = 1e-3;
  if (!a || !b) return a.has_value() == b.has_value();
  return std::abs(*a - *b) < kRounding;
}

}  // namespace

std::optional<double> mean_use(std::uint64_t gpus, const agent::Report& report) {
  double sum = 0;
  int count = 0;
  for (std::size_t gpu = 0; gpu < 64; ++gpu) {
    if ((gpus >> gpu & 1U) == 0) continue;
    if (gpu >= report.gpu_use.size() || !report.gpu_use[gpu]) return std::nullopt;
    sum += *report.gpu_use[gpu];
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

JobUse::JobUse(const manager::Job& job, const perf::Measuring& measuring, Time now) {
  for (const manager::Held& held : job.holds) {
    Part& part = parts_[held.node];
    part.gpus |= held.gpus;
    part.use = perf::SteadyUse(measuring);
    part.use.start(now);
  }
}

void JobUse::take(const std::string& node, const agent::Report& report,
                  const agent::JobReport& told, Time now) {
  const auto found = parts_.find(node);
  if (found == parts_.end()) return;
  Part& part = found->second;
  if (part.at != kNoTime && !same_cores(part.last.limit, told.limit)) {
    for (auto& [other, each] : parts_) each.use.change(now);
  }
  part.last = told;
  part.at = now;
  if (told.gpu_use) {
    part.says_itself = true;
    part.use.add({now - told.gpu_use_length, now, *told.gpu_use});
    count(part, *told.gpu_use, told.gpu_use_length);
  }
  if (told.cores && report.length > Duration{0}) {
    part.used.core_s += *told.cores * seconds(report.length);
    part.used.core_seen_s += seconds(report.length);
  }
  if (part.says_itself || report.length == Duration{0}) return;
  if (const auto use = mean_use(part.gpus, report)) {
    part.use.add({now - report.length, now, *use});
    count(part, *use, report.length);
  }
}

void JobUse::count(Part& part, double use, Duration length) {
  part.used.gpu_s += use * seconds(length);
  part.used.gpu_seen_s += seconds(length);
}

store::Used JobUse::used() const {
  store::Used all{.core_seen_s = std::numeric_limits<double>::infinity(),
                  .gpu_seen_s = std::numeric_limits<double>::infinity()};
  double cores = 0;
  double gpu_use = 0;
  int gpus = 0;
  for (const auto& [node, part] : parts_) {
    all.core_seen_s = std::min(all.core_seen_s, part.used.core_seen_s);
    if (part.used.core_seen_s > 0) cores += part.used.core_s / part.used.core_seen_s;
    if (part.gpus == 0) continue;
    all.gpu_seen_s = std::min(all.gpu_seen_s, part.used.gpu_seen_s);
    const int here = std::popcount(part.gpus);
    if (part.used.gpu_seen_s > 0) gpu_use += here * part.used.gpu_s / part.used.gpu_seen_s;
    gpus += here;
  }
  if (parts_.empty()) all.core_seen_s = 0;
  if (gpus == 0) all.gpu_seen_s = 0;
  all.core_s = cores * all.core_seen_s;
  all.gpu_s = gpus > 0 ? gpu_use / gpus * all.gpu_seen_s : 0;
  return all;
}

std::optional<double> JobUse::mean() const {
  const bool any_says = std::any_of(parts_.begin(), parts_.end(),
                                    [](const auto& each) { return each.second.says_itself; });
  double sum = 0;
  int count = 0;
  for (const auto& [node, part] : parts_) {
    if (any_says && !part.says_itself) continue;
    const auto use = part.use.mean();
    if (!use) return std::nullopt;
    sum += *use;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

void JobUse::look(const Cores& held, Time now) {
  is_held_ = std::all_of(parts_.begin(), parts_.end(), [&](const auto& each) {
    const auto wanted = held.find(each.first);
    return each.second.at != kNoTime && now - each.second.at <= kKnownFor &&
           same_cores(each.second.last.limit,
                      wanted == held.end() ? std::nullopt : std::optional(wanted->second));
  });
  has_all_ = held.empty();
  told_.reset();
  const auto use = mean();
  if (is_held_ && use) {
    if (has_all_) full_ = use;
    if (full_ && *full_ >= kIdle) told_ = *use / *full_;
  }
  if (has_all_ || (told_ && *told_ >= kHurtSpeed)) {
    hurt_since_ = kNoTime;
  } else if (told_ && hurt_since_ == kNoTime) {
    hurt_since_ = now;
  }
}

template <typename Field>
std::optional<double> JobUse::sum(Field field, Time now) const {
  double made = 0;
  for (const auto& [node, part] : parts_) {
    const std::optional<double>& value = part.last.*field;
    if (part.at == kNoTime || now - part.at > kKnownFor || !value) return std::nullopt;
    made += *value;
  }
  return made;
}

std::optional<double> JobUse::bandwidth_gbs(Time now) const {
  return is_held_ ? sum(&agent::JobReport::bandwidth_gbs, now) : std::nullopt;
}

std::optional<double> JobUse::cores_busy(Time now) const {
  return sum(&agent::JobReport::cores, now);
}

std::string JobUse::trouble() const {
  for (const auto& [node, part] : parts_) {
    if (!part.last.trouble.empty()) return node + ": " + part.last.trouble;
  }
  return "";
}

}  // namespace almanac::steer
