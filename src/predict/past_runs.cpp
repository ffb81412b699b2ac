// SPDX-License-Identifier: Apache-2.0
#include "predict/past_runs.h"

#include <algorithm>

namespace almanac::predict {
namespace {

using Shares = NestedCounts::Shares;

std::uint64_t key_of(const KindKeys& keys, Kind kind) {
  return keys[static_cast<std::size_t>(kind)];
}

std::array<std::uint64_t, 5> nested_kinds(const KindKeys& keys) {
  return {key_of(keys, Kind::all), key_of(keys, Kind::gpus), key_of(keys, Kind::vc_gpus),
          key_of(keys, Kind::user), key_of(keys, Kind::user_gpus)};
}

/// Before any job has ended: every length from a second to a day is as likely.
Shares any_length() {
  constexpr double kDay = 4.9365;
  const std::size_t cells = Distribution::cell_of(kDay);
  Shares made{};
  std::fill_n(made.begin(), cells, 1.0F / static_cast<float>(cells));
  return made;
}

/// Mixes the last runs of a name into `shares`. There are as many names as experiments, so that the
/// ten runs that Memory keeps of each must do.
void mix_in(const Recent& recent, Shares& shares) {
  constexpr float kWider = 2;
  constexpr float kEarlier = 0.8F;
  float total = kWider;
  for (float& each : shares) each *= kWider;
  float weight = 1;
  for (std::size_t back = 0; back < recent.kept(); ++back) {
    shares[Distribution::cell_of(static_cast<double>(recent.log(back)))] += weight;
    total += weight;
    weight *= kEarlier;
  }
  for (float& each : shares) each /= total;
}

}  // namespace

Distribution PastRuns::run_time(const KindKeys& keys, const Memory& memory) const {
  static const Shares kAnyLength = any_length();
  Shares shares = counts_.shares(nested_kinds(keys), kAnyLength);
  for (const Kind kind : {Kind::user_stem, Kind::user_name}) {
    const Recent* const recent = memory.recent(keys, kind);
    if (recent != nullptr) mix_in(*recent, shares);
  }
  Distribution made;
  for (std::size_t cell = 0; cell < shares.size(); ++cell) made.add_cell(cell, shares[cell]);
  return made;
}

void PastRuns::learn(const KindKeys& keys, Duration ran) {
  counts_.add(nested_kinds(keys), Distribution::cell_of(log_time(ran)));
}

}  // namespace almanac::predict
