// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/fair_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace almanac::slurmctld {
namespace {

/// Slurm's NO_VAL: the level_fs of accounts that have fairshare=parent, and of the one "before" the
/// first of a level.
constexpr long double kNoLevel = 4294967294.0L;

class Walk {
 public:
  Walk(const AssociationTree& tree, const UsageLedger& usage, std::vector<Standing>& standings)
      : tree_(tree),
        usage_(usage),
        standings_(standings),
        rank_(tree.users()),
        rank_without_ties_(tree.users()) {
    steps_.reserve(tree.size());
  }

  void visit(AssociationAt account, std::uint16_t depth, bool account_is_tied) {
    const std::span<const AssociationAt> children = tree_.children(account);
    for (const AssociationAt child : children) judge(child);
    std::vector<AssociationAt> order(children.begin(), children.end());
    std::stable_sort(order.begin(), order.end(), [&](AssociationAt a, AssociationAt b) {
      if (standings_[a].level_fs != standings_[b].level_fs) {
        return standings_[a].level_fs > standings_[b].level_fs;
      }
      return tree_.is_user(a) && !tree_.is_user(b);
    });
    long double before = kNoLevel;
    for (std::size_t place = 0; place < order.size(); ++place) {
      const AssociationAt at = order[place];
      const bool is_tied = (place == 0 && account_is_tied) || before == standings_[at].level_fs;
      steps_.push_back({at, depth, is_tied});
      if (tree_.is_user(at)) {
        if (!is_tied) rank_ = rank_without_ties_;
        standings_[at].factor = rank_ / static_cast<double>(tree_.users());
        --rank_without_ties_;
      } else {
        visit(at, static_cast<std::uint16_t>(depth + 1), is_tied);
      }
      before = standings_[at].level_fs;
    }
  }

  std::vector<FairTreeStep> steps() && { return std::move(steps_); }

 private:
  void judge(AssociationAt at) {
    const long double of_parent = usage_.of(tree_.fair_parent(at)).raw;
    Standing& standing = standings_[at];
    standing.effective_usage = of_parent == 0 ? 0.0L : usage_.of(at).raw / of_parent;
    standing.usage_share = usage_share(usage_, at);
    const long double share = tree_.level_share(at);
    if (tree_.takes_parents_shares(at)) {
      standing.level_fs =
          tree_.is_user(at) ? std::numeric_limits<long double>::infinity() : kNoLevel;
    } else if (share == 0) {
      standing.level_fs = 0;
    } else if (standing.effective_usage == 0) {
      standing.level_fs = std::numeric_limits<long double>::infinity();
    } else {
      standing.level_fs = share / standing.effective_usage;
    }
  }

  const AssociationTree& tree_;
  const UsageLedger& usage_;
  std::vector<Standing>& standings_;
  std::uint32_t rank_;
  std::uint32_t rank_without_ties_;
  std::vector<FairTreeStep> steps_;
};

}  // namespace

long double usage_share(const UsageLedger& usage, AssociationAt at) {
  if (usage.total().raw == 0) return 0;
  return std::min(usage.of(at).raw / usage.total().raw, 1.0L);
}

std::vector<FairTreeStep> rank_fair_tree(const AssociationTree& tree, const UsageLedger& usage,
                                         std::vector<Standing>& standings) {
  if (tree.size() == 0) return {};
  Walk walk(tree, usage, standings);
  walk.visit(0, 1, false);
  return std::move(walk).steps();
}

}  // namespace almanac::slurmctld
