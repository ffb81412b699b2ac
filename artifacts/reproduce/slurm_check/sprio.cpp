// SPDX-License-Identifier: Apache-2.0

/// \file
/// sprio.csv: what sprio showed of each job, every few seconds.
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

void register_sprio(SlurmChecks& checks);

namespace sprio_check {
namespace {

constexpr std::size_t kFactors = std::size(kFactorColumns);

/// A row of sprio, as shown.
struct Shown {
  std::uint32_t number = 0;
  std::string partition{};
  std::uint32_t priority = 0;
  std::array<double, kFactors> normalized{};
  std::array<double, kFactors> weighted{};
  std::string tres{};
};

/// What holds of a row in one state of the controller.
struct Verdict {
  bool priority = false;
  std::array<bool, kFactors> factors{};
  bool tres = false;

  bool operator==(const Verdict&) const = default;
};

/// "cpu=62,mem=5,gres/gpu=625": each resource that has a weight and a factor.
std::string weighted_tres(const slurmctld::Factors& factors, const site::TresWeights& weights,
                          const site::Site& site) {
  std::string text;
  for (std::size_t at = 0; at < factors.tres.size(); ++at) {
    const double weighted = factors.tres[at] * weights[at].weight;
    if (weighted == 0) continue;
    text += fmt::format("{}{}={:.0f}", text.empty() ? "" : ",", site.tres[weights[at].tres].name,
                        weighted);
  }
  return text;
}

class Sprio {
 public:
  Sprio(const Bench& bench, const SlurmScenario& scenario)
      : scenario_(scenario), replay_(bench, scenario) {}

  void read(const File& file) {
    Rows rows(file.path, {"epoch", "job_id", "partition", "priority"});
    std::vector<Shown> sample;
    std::optional<Time> at;
    while (rows.next()) {
      const Time epoch = parse_epoch(rows.text("epoch"));
      if (at && *at != epoch) {
        compare(*at, std::min(epoch, *at + kSampleTakes), sample);
        sample.clear();
      }
      at = epoch;
      Shown shown{.number = static_cast<std::uint32_t>(rows.whole("job_id")),
                  .partition = std::string(rows.text("partition")),
                  .priority = static_cast<std::uint32_t>(rows.whole("priority"))};
      for (std::size_t each = 0; each < kFactors; ++each) {
        const std::string name = kFactorColumns[each].brief;
        shown.normalized[each] = rows.number(name + "_n");
        shown.weighted[each] = rows.number(name + "_w");
      }
      if (rows.has("tres_w")) shown.tres = std::string(rows.text("tres_w"));
      sample.push_back(std::move(shown));
    }
    if (at) compare(*at, *at + kSampleTakes, sample);
  }

  void add_rows(Bench& bench) const {
    const std::string because = "the sample was taken while the priority changed";
    priorities_.add_to(bench, scenario_, "priorities, sprio", because);
    for (std::size_t at = 0; at < kFactors; ++at) {
      factors_[at].add_to(bench, scenario_,
                          fmt::format("factor {}, sprio", kFactorColumns[at].brief), because);
    }
    tres_.add_to(bench, scenario_, "factor tres, sprio", because);
  }

 private:
  const site::PrioritySettings& settings() const {
    return replay_.priorities().scales().settings();
  }

  std::optional<Verdict> judge(const Shown& shown) const {
    const slurmctld::Score* const score = replay_.score(shown.number);
    const site::Partition* const partition = scenario_.site.find_partition(shown.partition);
    if (score == nullptr || partition == nullptr) return std::nullopt;
    const auto place = static_cast<std::uint32_t>(partition - scenario_.site.partitions.data());
    const slurmctld::Scales& scales = replay_.priorities().scales();
    slurmctld::Factors factors = score->factors;
    factors.partition = scales.partition(place);
    Verdict verdict;
    verdict.priority = replay_.priorities().priority(shown.number, place) == shown.priority;
    for (std::size_t at = 0; at < kFactors; ++at) {
      const double factor = factors.*kFactorColumns[at].factor;
      const double weighted = factor * (settings().*kFactorColumns[at].weight);
      verdict.factors[at] = std::abs(factor - shown.normalized[at]) <= 0.5000001e-7 &&
                            std::abs(weighted - shown.weighted[at]) <= 0.5000001;
    }
    verdict.tres = weighted_tres(factors, settings().weight_tres, scenario_.site) == shown.tres;
    return verdict;
  }

  /// The controller answered at some time from `at` to `until`.
  void compare(Time at, Time until, const std::vector<Shown>& sample) {
    replay_.advance(at);
    std::vector<std::optional<Verdict>> before;
    for (const Shown& each : sample) before.push_back(judge(each));
    replay_.advance(until);
    for (std::size_t row = 0; row < sample.size(); ++row) {
      const std::optional<Verdict> after = judge(sample[row]);
      if (!after) continue;  // sacct does not have the job
      const Verdict was = before[row].value_or(*after);
      const auto decide = [&](RowTally& tally, bool earlier, bool later, const char* what) {
        if (earlier != later) {
          tally.leave_undecided();
        } else {
          tally.count(later,
                      fmt::format("{} of job {} at {:.3f}", what, sample[row].number, seconds(at)));
        }
      };
      decide(priorities_, was.priority, after->priority, "priority");
      for (std::size_t each = 0; each < kFactors; ++each) {
        if (settings().*kFactorColumns[each].weight == 0) continue;
        decide(factors_[each], was.factors[each], after->factors[each], kFactorColumns[each].brief);
      }
      if (!settings().weight_tres.empty()) decide(tres_, was.tres, after->tres, "tres");
    }
  }

  const SlurmScenario& scenario_;
  PriorityReplay replay_;
  RowTally priorities_, tres_;
  std::array<RowTally, kFactors> factors_;
};

void check(Bench& bench, const SlurmScenario& scenario) {
  const auto file = find_table(bench, scenario, "sprio.csv");
  if (!file || scenario.site.config.priority.type != site::PriorityType::multifactor) return;
  Sprio sprio(bench, scenario);
  sprio.read(*file);
  sprio.add_rows(bench);
}

}  // namespace
}  // namespace sprio_check

void register_sprio(SlurmChecks& checks) { checks.add(sprio_check::check); }

}  // namespace almanac::reproduce
