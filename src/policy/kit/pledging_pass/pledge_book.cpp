// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/pledging_pass/pledge_book.h"

#include <algorithm>
#include <cmath>

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
    row.present = std::min(row.present + static_cast<std::size_t>(past), row.taken.size());
    if (2 * row.present < row.taken.size()) continue;
    row.taken.erase(row.taken.begin(),
                    row.taken.begin() + static_cast<std::ptrdiff_t>(row.present));
    row.present = 0;
  }
  for (const cluster::Pool& pool : pools) rows_[pool.gpu_type].all += pool.capacity;
  for (auto& [gpu_type, row] : rows_) row.free_now = free(gpu_type, present_);
}

int PledgeBook::free(std::uint64_t gpu_type, std::int64_t lease) const {
  return rows_.at(gpu_type).free(lease - present_);
}

void PledgeBook::clear() {
  for (auto& [gpu_type, row] : rows_) {
    row.taken.clear();
    row.present = 0;
    row.free_now = row.all;
  }
}

double PledgeBook::gain(std::int64_t lease, const Level& level, int next, Time deadline) const {
  const Duration part = std::min(begin(lease + 1), deadline) - std::max(begin(lease), now_);
  const double done = static_cast<double>(part.count()) * level.rate;
  return next == kEnds ? done : done - change_ms(level.gpus, next);
}

std::int64_t PledgeBook::alike_before(const Row& row, std::int64_t lease, int most) const {
  const int room = std::min(most, row.free(lease - present_));
  std::int64_t at = lease - 1;
  const auto known = static_cast<std::int64_t>(row.taken.size() - row.present);
  // Nothing is pledged in later leases.
  if (lease - present_ >= known) at = std::min(at, present_ + std::max<std::int64_t>(known, 1) - 1);
  while (at > present_ && std::min(most, row.free(at - present_)) == room) --at;
  return lease - 1 - std::max(at, present_);
}

std::optional<Pledge> PledgeBook::within(const Need& need, std::uint64_t gpu_type, int most) const {
  const Row& row = rows_.at(gpu_type);
  Pledge made{.gpu_type = gpu_type, .stretches = {}};
  const auto add = [&](std::int64_t first, std::int64_t last, int gpus) {
    Pledge::Stretch* const later = made.stretches.empty() ? nullptr : &made.stretches.back();
    if (later != nullptr && later->gpus == gpus && later->first == last + 1) {
      later->first = first;
    } else {
      made.stretches.push_back({.first = first, .last = last, .gpus = gpus});
    }
  };
  const double stop_ms = change_ms(need.held, 0);
  double left = need.work_ms - kNearly;
  int next = kEnds;
  for (std::int64_t lease = lease_at(need.deadline - Duration{1}); lease >= present_; --lease) {
    const int room = lease == present_ ? row.free_now : row.free(lease - present_);
    const Level& level = fitting(need.levels, std::min(most, room));
    const double done = level.gpus > 0 ? gain(lease, level, next, need.deadline) : 0;
    const int gpus = done > 0 ? level.gpus : 0;
    if (gpus > 0 || next != kEnds) next = gpus;
    if (gpus > 0) {
      add(lease, lease, gpus);
      left -= done;
      if (left + (lease == present_ ? change_ms(need.held, gpus) : stop_ms) <= 0) return made;
    }
    if (lease == present_ || gpus != level.gpus) continue;
    // Leases before this one are equal for the job.
    const std::int64_t alike = alike_before(row, lease, most);
    if (gpus > 0) {
      const double each = whole(level);
      const double enough = std::ceil((left + stop_ms) / each);
      if (enough <= static_cast<double>(alike)) {
        add(lease - static_cast<std::int64_t>(enough), lease - 1, gpus);
        return made;
      }
      if (alike > 0) add(lease - alike, lease - 1, gpus);
      left -= static_cast<double>(alike) * each;
    }
    lease -= alike;
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
  std::int64_t later = 0;  // where that begins
  for (const Pledge::Stretch& each : pledge.stretches) {
    if (each.last < present_) break;
    if (next != kEnds && each.last + 1 < later) next = 0;
    const Level& level = fitting(need.levels, each.gpus);
    const std::int64_t first = std::max(each.first, present_);
    work += gain(each.last, level, next, need.deadline);
    if (each.last > first) {
      work += static_cast<double>(each.last - first - 1) * whole(level);
      work += gain(first, level, each.gpus, need.deadline);
    }
    next = each.gpus;
    later = each.first;
  }
  return work;
}

void PledgeBook::count(const Pledge& pledge, int sign) {
  Row& of = rows_.at(pledge.gpu_type);
  for (const Pledge::Stretch& each : pledge.stretches) {
    if (each.last < present_) break;
    const std::int64_t first = std::max(each.first, present_);
    if (first == present_) of.free_now -= sign * each.gpus;
    const std::size_t begin = of.present + static_cast<std::size_t>(first - present_);
    const std::size_t end = of.present + static_cast<std::size_t>(each.last - present_) + 1;
    if (of.taken.size() < end) of.taken.resize(end, 0);
    int least = 0;
    for (std::size_t at = begin; at < end; ++at) {
      of.taken[at] += sign * each.gpus;
      least = std::min(least, of.taken[at]);
    }
    ALMANAC_CHECK(least >= 0, "more GPUs of a lease from {} to {} are taken back than were pledged",
                  first, each.last);
  }
}

}  // namespace almanac::policy
