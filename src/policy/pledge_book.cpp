// SPDX-License-Identifier: Apache-2.0
#include "policy/pledge_book.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::policy {
namespace {

/// In ms; below what sums of speeds times lengths are off by.
constexpr double kNearly = 1e-6;

constexpr Level kNothing{.gpus = 0, .nodes = 0, .rate = 0};

/// The most of up to so many GPUs.
const Level& fitting(std::span<const Level> levels, int gpus) {
  const Level* best = &kNothing;
  for (const Level& each : levels) {
    if (each.gpus <= gpus && each.rate > best->rate) best = &each;
  }
  return *best;
}

}  // namespace

std::int64_t PledgeBook::lease_at(Time at) const {
  const Duration since = at.time_since_epoch() - phase_;
  const std::int64_t leases = since / lease_;
  return lease_ * leases > since ? leases - 1 : leases;
}

void PledgeBook::open(Time now, const RestartCost& restart, std::span<const cluster::Pool> pools) {
  now_ = now;
  restart_ = restart;
  const std::int64_t past = lease_at(now) - present_;
  present_ += past;
  for (auto& [gpu_type, row] : rows_) {
    row.all = 0;
    const auto over = std::min(static_cast<std::size_t>(past), row.taken.size());
    row.taken.erase(row.taken.begin(), row.taken.begin() + static_cast<std::ptrdiff_t>(over));
  }
  for (const cluster::Pool& pool : pools) rows_[pool.gpu_type].all += pool.capacity;
  for (auto& [gpu_type, row] : rows_) row.free_now = free(gpu_type, present_);
}

int PledgeBook::free(std::uint64_t gpu_type, std::int64_t lease) const {
  const Row& of = rows_.at(gpu_type);
  const auto at = static_cast<std::size_t>(lease - present_);
  return of.all - (at < of.taken.size() ? of.taken[at] : 0);
}

double PledgeBook::gain(std::int64_t lease, const Level& level, int next, Time deadline) const {
  const Duration part = std::min(begin(lease + 1), deadline) - std::max(begin(lease), now_);
  const double done = static_cast<double>(part.count()) * level.rate;
  return next == kEnds ? done : done - change_ms(level.gpus, next);
}

std::optional<Pledge> PledgeBook::within(const Need& need, std::uint64_t gpu_type, int most) const {
  std::vector<int> backwards;
  double left = need.work_ms - kNearly;
  int next = kEnds;
  for (std::int64_t lease = lease_at(need.deadline - Duration{1}); lease >= present_; --lease) {
    const int room = lease == present_ ? rows_.at(gpu_type).free_now : free(gpu_type, lease);
    const Level* level = &fitting(need.levels, std::min(most, room));
    double done = level->gpus > 0 ? gain(lease, *level, next, need.deadline) : 0;
    if (done <= 0) {
      level = &kNothing;
      done = 0;
    }
    if (level->gpus > 0 || next != kEnds) {
      backwards.push_back(level->gpus);
      next = level->gpus;
    }
    left -= done;
    const int first = lease == present_ ? level->gpus : 0;
    if (level->gpus == 0 || left + change_ms(need.held, first) > 0) continue;
    Pledge made{.gpu_type = gpu_type, .first = lease, .gpus = {}};
    made.gpus.assign(backwards.rbegin(), backwards.rend());
    return made;
  }
  return std::nullopt;
}

std::optional<Pledge> PledgeBook::least(const Need& need, std::uint64_t gpu_type) const {
  for (const Level& each : need.levels) {
    if (auto made = within(need, gpu_type, each.gpus)) return made;
  }
  return std::nullopt;
}

double PledgeBook::work_of(const Pledge& pledge, const Need& need) const {
  double work = -change_ms(need.held, pledge.in(present_));
  int next = kEnds;
  const std::int64_t last = pledge.first + static_cast<std::int64_t>(pledge.gpus.size()) - 1;
  for (std::int64_t lease = last; lease >= std::max(pledge.first, present_); --lease) {
    const int gpus = pledge.in(lease);
    if (gpus > 0) work += gain(lease, fitting(need.levels, gpus), next, need.deadline);
    next = gpus;
  }
  return work;
}

void PledgeBook::count(const Pledge& pledge, int sign) {
  Row& of = rows_.at(pledge.gpu_type);
  for (std::size_t offset = 0; offset < pledge.gpus.size(); ++offset) {
    const std::int64_t lease = pledge.first + static_cast<std::int64_t>(offset);
    if (lease < present_) continue;
    const auto at = static_cast<std::size_t>(lease - present_);
    if (of.taken.size() <= at) of.taken.resize(at + 1, 0);
    of.taken[at] += sign * pledge.gpus[offset];
    if (lease == present_) of.free_now -= sign * pledge.gpus[offset];
    ALMANAC_CHECK(of.taken[at] >= 0, "more GPUs of lease {} are taken back than were pledged",
                  lease);
  }
}

}  // namespace almanac::policy
