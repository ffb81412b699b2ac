// SPDX-License-Identifier: Apache-2.0
#include "predict/nested_counts.h"

#include <algorithm>
#include <cmath>

#include "predict/limited.h"

namespace almanac::predict {
namespace {

/// The cells that a run time can lie in.
struct Span {
  std::size_t first = 0;
  std::size_t last = 0;

  /// Before any job has ended: every length in here is as likely.
  float guess(std::size_t cell) const {
    return cell < first || cell > last ? 0 : 1 / static_cast<float>(last - first + 1);
  }
};

/// From a second to a day, or the three decades up to the limit.
Span span_of(Duration time_limit) {
  constexpr double kDay = 4.9365;
  constexpr std::size_t kThreeDecades = 75;
  if (time_limit == kNoDuration) return {.first = 0, .last = Distribution::cell_of(kDay) - 1};
  const std::size_t last = Distribution::cell_of(log_time(time_limit));
  return {.first = last - std::min(last, kThreeDecades - 1), .last = last};
}

/// Each count stands for a triangle of two cells on either side: run times repeat, but not to the
/// second.
constexpr std::array<float, 3> kTriangle = {3.0F / 9, 2.0F / 9, 1.0F / 9};

/// Adds `mass` around `cell`.
void spread(Distribution& to, std::size_t cell, float mass, std::size_t last) {
  to.add_cell(cell, kTriangle[0] * mass);
  for (std::size_t off = 1; off < kTriangle.size(); ++off) {
    to.add_cell(cell - std::min(cell, off), kTriangle[off] * mass);
    to.add_cell(std::min(cell + off, last), kTriangle[off] * mass);
  }
}

}  // namespace

NestedCounts::NestedCounts(std::span<const Counting> kinds) : kinds_(kinds), trusts_(kinds.size()) {
  // Until jobs show better: a kind of ten jobs counts as much as the wider kinds.
  constexpr double kWider = 10;
  constexpr double kGuessed = 20;
  for (auto& trusts : trusts_) {
    double jobs = 1;
    for (Trust& each : trusts) {
      each = {.of_kind = kGuessed * jobs / (jobs + kWider), .of_all = kGuessed};
      jobs *= 3;
    }
  }
}

/// 0, 1, 2, ... for about 1, 3, 9, ... jobs.
std::size_t NestedCounts::size_of(const Counts& counts) {
  const auto jobs = static_cast<double>(counts.total / counts.next);
  const double size = std::round(std::log(std::max(1.0, jobs)) / std::log(3.0));
  return std::min(static_cast<std::size_t>(size), kSizes - 1);
}

float NestedCounts::Counts::share(std::size_t cell) const {
  const auto found = std::ranges::lower_bound(cells, cell, {}, &Cell::cell);
  return found == cells.end() || found->cell != cell ? 0 : found->jobs / total;
}

void NestedCounts::Counts::add(std::size_t cell, double fade) {
  constexpr float kLarge = 1e6F;
  if (next > kLarge) {
    for (Cell& each : cells) each.jobs /= next;
    total /= next;
    next = 1;
  }
  auto found = std::ranges::lower_bound(cells, cell, {}, &Cell::cell);
  if (found == cells.end() || found->cell != cell) {
    found = cells.insert(found, {.cell = static_cast<std::uint32_t>(cell)});
  }
  found->jobs += next;
  total += next;
  next /= static_cast<float>(fade);
}

Distribution NestedCounts::run_time(std::span<const std::uint64_t> keys,
                                    Duration time_limit) const {
  const std::size_t last = last_cell(time_limit);
  std::array<float, Distribution::kCells> mixed{};
  const Span span = span_of(time_limit);
  for (std::size_t cell = span.first; cell <= span.last; ++cell) mixed[cell] = span.guess(cell);
  for (std::size_t at = 0; at < keys.size(); ++at) {
    const Counts* const counts = keys[at] == 0 ? nullptr : counts_.find(keys[at]);
    if (counts == nullptr) continue;
    const Trust& trust = trusts_[at][size_of(*counts)];
    const auto weight = static_cast<float>(trust.of_kind / trust.of_all);
    const float rest = 1 - weight;
    const float each_job = weight / counts->total;
    for (std::size_t cell = 0; cell <= last; ++cell) mixed[cell] *= rest;
    if (kinds_[at].by_ratio) {
      for (const Counts::Cell& each : counts->cells) {
        if (each.cell <= last) mixed[last - each.cell] += each_job * each.jobs;
      }
    } else {
      for (const Counts::Cell& each : counts->cells) {
        mixed[std::min<std::size_t>(each.cell, last)] += each_job * each.jobs;
      }
    }
  }
  Distribution made;
  for (std::size_t cell = 0; cell <= last; ++cell) {
    if (mixed[cell] > 0) spread(made, cell, mixed[cell], last);
  }
  made.normalize();
  return made;
}

void NestedCounts::add(std::span<const std::uint64_t> keys, Duration time_limit, Duration ran) {
  constexpr double kFade = 0.995;
  constexpr double kHardly = 1e-6;
  const std::size_t last = last_cell(time_limit);
  const std::size_t cell = std::min(Distribution::cell_of(log_time(ran)), last);
  double wider = std::max(kHardly, static_cast<double>(span_of(time_limit).guess(cell)));
  for (std::size_t at = 0; at < keys.size(); ++at) {
    if (keys[at] == 0) continue;
    Counts& counts = counts_[keys[at]];
    const std::size_t here = kinds_[at].by_ratio ? last - cell : cell;
    if (!counts.empty()) {
      double own = static_cast<double>(kTriangle[0] * counts.share(here));
      for (std::size_t off = 1; off < kTriangle.size(); ++off) {
        const auto part = static_cast<double>(kTriangle[off]);
        if (here >= off) own += part * static_cast<double>(counts.share(here - off));
        own += part * static_cast<double>(counts.share(here + off));
      }
      Trust& trust = trusts_[at][size_of(counts)];
      const double weight = trust.of_kind / trust.of_all;
      const double mixed = std::max(kHardly, (1 - weight) * wider + weight * own);
      trust.of_kind = kFade * trust.of_kind + weight * own / mixed;
      trust.of_all = kFade * trust.of_all + 1;
      wider = mixed;
    }
    counts.add(here, kinds_[at].fade);
  }
}

}  // namespace almanac::predict
