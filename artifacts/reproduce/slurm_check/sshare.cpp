// SPDX-License-Identifier: Apache-2.0

/// \file
/// sshare.csv: what sshare showed of each association, every few seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/slurm_check.h"
#include "reproduce/slurm_priorities.h"

namespace almanac::reproduce {

void register_sshare(SlurmChecks& checks);

namespace sshare_check {
namespace {

enum Column : std::size_t { kShares, kRaw, kNorm, kEffective, kFactor, kLevel, kColumns };
constexpr std::array<const char*, kColumns> kNames{"norm_shares",   "raw_usage", "norm_usage",
                                                   "effectv_usage", "fairshare", "level_fs"};

using Values = std::array<std::optional<double>, kColumns>;

struct Shown {
  std::uint32_t association = 0;
  Values values{};
};

std::optional<double> number_or_nothing(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::string copy(text);
  return std::strtod(copy.c_str(), nullptr);  // "inf", too
}

class Sshare {
 public:
  Sshare(const Bench& bench, const SlurmScenario& scenario)
      : scenario_(scenario), replay_(bench, scenario) {}

  void read(const File& file) {
    Rows rows(file.path, {"epoch", "account", "user", "partition", "raw_usage"});
    std::vector<Shown> sample;
    std::optional<Time> at;
    while (rows.next()) {
      const Time epoch = parse_epoch(rows.text("epoch"));
      if (at && *at != epoch) {
        compare(*at, std::min(epoch, *at + kSampleTakes), sample);
        sample.clear();
      }
      at = epoch;
      const std::int32_t found = scenario_.site.find_association(
          rows.text("account"), rows.text("user"), rows.text("partition"));
      if (found < 0) continue;
      Shown shown{.association = static_cast<std::uint32_t>(found)};
      for (std::size_t column = 0; column < kColumns; ++column) {
        if (rows.has(kNames[column])) {
          shown.values[column] = number_or_nothing(rows.text(kNames[column]));
        }
      }
      sample.push_back(shown);
    }
    if (at) compare(*at, *at + kSampleTakes, sample);
  }

  void add_rows(Bench& bench) const {
    for (std::size_t column = 0; column < kColumns; ++column) {
      tallies_[column].add_to(bench, scenario_, fmt::format("{}, sshare", kNames[column]),
                              "the sample was taken while usage changed");
    }
  }

 private:
  Values values_of(slurmctld::AssociationAt at) const {
    const slurmctld::Priorities& priorities = replay_.priorities();
    const slurmctld::Standing& standing = priorities.standings()[at];
    const site::PrioritySettings& settings = priorities.scales().settings();
    const slurmctld::AssociationTree& tree = priorities.tree();
    Values values;
    values[kRaw] = std::floor(static_cast<double>(priorities.usage().of(at).raw));
    values[kNorm] = static_cast<double>(standing.usage_share);
    values[kEffective] = at == 0 ? 1.0 : static_cast<double>(standing.effective_usage);
    if (settings.is_fair_tree()) {
      values[kShares] = tree.level_share(at);
      values[kFactor] = standing.factor;
      values[kLevel] = static_cast<double>(standing.level_fs);
    } else {
      values[kShares] = tree.cluster_share(at);
      values[kFactor] = slurmctld::classic_factor(at == 0 ? 1.0L : standing.effective_usage,
                                                  tree.cluster_share(at), settings.dampening);
    }
    return values;
  }

  bool is_equal(std::size_t column, double shown, const Values& values) const {
    if (!values[column]) return true;
    const double ours = *values[column];
    if (column == kRaw) return ours == shown;
    if (std::isinf(ours) || std::isinf(shown)) return ours == shown;
    return std::abs(ours - shown) <= 0.51e-6;
  }

  /// The controller answered at some time from `at` to `until`.
  void compare(Time at, Time until, const std::vector<Shown>& sample) {
    // Classic: sshare itself makes the controller evaluate users, at an instant that the log has.
    replay_.advance(replay_.last_judged(at, until).value_or(at));
    replay_.judge_users();
    std::vector<Values> before;
    for (const Shown& each : sample) before.push_back(values_of(each.association));
    replay_.advance(until);
    for (std::size_t row = 0; row < sample.size(); ++row) {
      const Values after = values_of(sample[row].association);
      for (std::size_t column = 0; column < kColumns; ++column) {
        const std::optional<double> shown = sample[row].values[column];
        if (!shown || !after[column]) continue;
        const bool was = is_equal(column, *shown, before[row]);
        if (was != is_equal(column, *shown, after)) {
          tallies_[column].leave_undecided();
          continue;
        }
        const site::Association& association = scenario_.site.associations[sample[row].association];
        tallies_[column].count(
            was, fmt::format("{} of {} at {:.3f}: {:.7f}, not {}", association.user,
                             association.account, seconds(at), *before[row][column], *shown));
      }
    }
  }

  const SlurmScenario& scenario_;
  PriorityReplay replay_;
  std::array<RowTally, kColumns> tallies_;
};

void check(Bench& bench, const SlurmScenario& scenario) {
  const auto file = find_table(bench, scenario, "sshare.csv");
  if (!file || scenario.site.config.priority.type != site::PriorityType::multifactor) return;
  Sshare sshare(bench, scenario);
  sshare.read(*file);
  sshare.add_rows(bench);
}

}  // namespace
}  // namespace sshare_check

void register_sshare(SlurmChecks& checks) { checks.add(sshare_check::check); }

}  // namespace almanac::reproduce
