// SPDX-License-Identifier: Apache-2.0

/// \file
/// fairtree_log.csv: how fair tree walked the associations in each decay pass.
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/slurm_check.h"
#include "reproduce/slurm_priorities.h"

namespace almanac::reproduce {

void register_fair_tree(SlurmChecks& checks);

namespace fair_tree_check {
namespace {

struct Step {
  std::int64_t depth = 0;
  bool is_tied = false;
  std::string name{};
  std::string account{};
  std::string level_fs{};
};

class Walks {
 public:
  Walks(const Bench& bench, const SlurmScenario& scenario)
      : scenario_(scenario), replay_(bench, scenario) {}

  void compare(Time at, const std::vector<Step>& shown) {
    replay_.advance(at);
    const std::vector<slurmctld::FairTreeStep>& ours = replay_.priorities().walk();
    bool is_equal = ours.size() == shown.size();
    for (std::size_t step = 0; step < shown.size(); ++step) {
      const bool fits = step < ours.size() && is_same(ours[step], shown[step]);
      is_equal = is_equal && fits;
      steps_.count(fits,
                   fmt::format("step {} ({}) at {:.3f}", step + 1, shown[step].name, seconds(at)));
    }
    walks_.count(is_equal, fmt::format("at {:.3f}", seconds(at)));
  }

  void add_rows(Bench& bench) const {
    walks_.add_to(bench, scenario_, "walks of fair tree, log");
    steps_.add_to(bench, scenario_, "steps of fair tree, log");
  }

 private:
  bool is_same(const slurmctld::FairTreeStep& ours, const Step& shown) const {
    const site::Association& association = scenario_.site.associations[ours.association];
    const std::string& name = association.is_account() ? association.account : association.user;
    if (ours.depth != shown.depth || ours.is_tied != shown.is_tied || name != shown.name ||
        association.account != shown.account) {
      return false;
    }
    if (shown.level_fs == "parent") return association.shares == site::Association::kParent;
    const long double level = replay_.priorities().standings()[ours.association].level_fs;
    if (shown.level_fs == "inf") return std::isinf(level);
    const auto printed = static_cast<double>(level);
    return std::abs(printed - std::strtod(shown.level_fs.c_str(), nullptr)) <=
           1e-12 * std::max(1.0, printed);
  }

  const SlurmScenario& scenario_;
  PriorityReplay replay_;
  RowTally walks_, steps_;
};

void check(Bench& bench, const SlurmScenario& scenario) {
  const auto file = find_table(bench, scenario, "fairtree_log.csv");
  if (!file || scenario.site.config.priority.type != site::PriorityType::multifactor) return;
  Walks walks(bench, scenario);
  Rows rows(file->path, {"epoch", "depth", "tied", "name", "account", "level_fs"});
  std::vector<Step> walk;
  std::optional<Time> at;
  while (rows.next()) {
    const Time epoch = parse_epoch(rows.text("epoch"));
    if (at && epoch - *at >= 1s) {  // a walk takes milliseconds
      walks.compare(*at, walk);
      walk.clear();
    }
    at = epoch;
    walk.push_back({rows.whole("depth"), rows.text("tied") == "1", std::string(rows.text("name")),
                    std::string(rows.text("account")), std::string(rows.text("level_fs"))});
  }
  if (at) walks.compare(*at, walk);
  walks.add_rows(bench);
}

}  // namespace
}  // namespace fair_tree_check

void register_fair_tree(SlurmChecks& checks) { checks.add(fair_tree_check::check); }

}  // namespace almanac::reproduce
