// SPDX-License-Identifier: Apache-2.0
#include "predict/past_runs.h"

#include <algorithm>
#include <span>

#include "predict/run_time.h"

namespace almanac::predict {
namespace {

/// About the last thousand jobs of all users count, the last five hundred of one user, and the last
/// ten of one name.
constexpr double kAll = 0.999;
constexpr double kUser = 0.998;
constexpr double kName = 0.9;

// In the order of Seen::keys.
constexpr std::array<Counting, PastRuns::kNested> kLimited = {{
    {.by_ratio = true, .fade = kAll},    // all jobs
    {.by_ratio = true, .fade = kAll},    // with this change of the limit
    {.by_ratio = true, .fade = kAll},    // and this limit
    {.by_ratio = true, .fade = kAll},    // and as many GPUs
    {.by_ratio = true, .fade = kUser},   // the user's, with this change of the limit
    {.by_ratio = true, .fade = kUser},   // and this limit
    {.by_ratio = true, .fade = kUser},   // and as many GPUs
    {.by_ratio = false, .fade = kName},  // the user's with this name, ignoring numbers
    {.by_ratio = true, .fade = kName},   // and this limit
    {.by_ratio = false, .fade = kName},  // the user's with this name
    {.by_ratio = true, .fade = kName},   // and this limit
}};
constexpr std::array<Counting, PastRuns::kNested> kUnlimited = {{
    {.fade = kAll},   // all jobs
    {.fade = kAll},   // with as many GPUs
    {.fade = kAll},   // in this virtual cluster
    {.fade = kUser},  // the user's
    {.fade = kUser},  // with as many GPUs
    {.fade = kUser},  // all users' with this name, ignoring numbers
    {.fade = kName},  // the user's with this name, ignoring numbers
    {.fade = kUser},  // all users' with this name
    {.fade = kName},  // the user's with this name
    {.fade = kName},  // the user's with exactly the same request
    {},
}};

/// The key of a kind within a kind; 0 where the kind is not known. `place` keeps those of one kind
/// apart.
std::uint64_t both(std::uint64_t one, std::uint64_t other, std::uint64_t place) {
  if (one == 0) return 0;
  std::uint64_t z = one + (other << 4U | place) * 0x9e3779b97f4a7c15;  // SplitMix64
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31U)) | 1U;
}

}  // namespace

PastRuns::PastRuns(const Names& names)
    : kinds_(names), limited_(kLimited), unlimited_(kUnlimited) {}

PastRuns::LimitChange PastRuns::change_of(const KindKeys& keys, std::uint64_t limit) {
  LimitChange change = LimitChange::new_name;
  for (const Kind kind : {Kind::user_stem, Kind::user_name}) {
    const std::uint64_t key = keys[static_cast<std::size_t>(kind)];
    if (key == 0) continue;
    const auto [least, is_new] = least_limits_.emplace(key, limit);
    if (is_new) continue;
    change = limit > least->second ? LimitChange::raised : LimitChange::none;
    least->second = std::min(least->second, limit);
  }
  return change;
}

PastRuns::Seen PastRuns::submitted(const trace::Request& request) {
  const KindKeys keys = kinds_.keys(request);
  const auto of = [&](Kind kind) { return keys[static_cast<std::size_t>(kind)]; };
  Seen made{.time_limit = request.time_limit};
  if (request.time_limit == kNoDuration) {
    made.keys = {of(Kind::all),       of(Kind::gpus),      of(Kind::vc_gpus),   of(Kind::user),
                 of(Kind::user_gpus), of(Kind::stem),      of(Kind::user_stem), of(Kind::name),
                 of(Kind::user_name), of(Kind::user_shape)};
    return made;
  }
  const std::uint64_t limit = Distribution::cell_of(log_time(request.time_limit));
  const auto change = static_cast<std::uint64_t>(change_of(keys, limit));
  const std::uint64_t limit_change = limit << 2U | change;
  made.keys = {of(Kind::all),
               both(of(Kind::all), change, 1),
               both(of(Kind::all), limit_change, 2),
               both(of(Kind::gpus), limit_change, 3),
               both(of(Kind::user), change, 4),
               both(of(Kind::user), limit_change, 5),
               both(of(Kind::user_gpus), limit_change, 6),
               both(of(Kind::user_stem), 0, 7),
               both(of(Kind::user_stem), limit, 8),
               both(of(Kind::user_name), 0, 9),
               both(of(Kind::user_name), limit, 10)};
  return made;
}

Distribution PastRuns::run_time(const Seen& job) const {
  const NestedCounts& counts = job.time_limit == kNoDuration ? unlimited_ : limited_;
  return counts.run_time(job.keys, job.time_limit);
}

Distribution PastRuns::run_time_by_limit(const Seen& job) const {
  return limited_.run_time(std::span(job.keys).first(1), job.time_limit);
}

void PastRuns::learn(const Seen& job, Duration ran) {
  NestedCounts& counts = job.time_limit == kNoDuration ? unlimited_ : limited_;
  counts.add(job.keys, job.time_limit, ran);
}

}  // namespace almanac::predict
