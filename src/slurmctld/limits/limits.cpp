// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/limits/limits.h"

#include <algorithm>
#include <set>
#include <utility>

#include "slurmctld/limits/names.h"

namespace almanac::slurmctld {
namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};

std::int64_t amount_of(const site::TresCounts& counts, site::TresIndex tres) {
  const auto found = std::find_if(counts.begin(), counts.end(),
                                  [&](const site::TresCount& each) { return each.tres == tres; });
  return found == counts.end() ? 0 : found->count;
}

std::int64_t amount_of(const std::map<site::TresIndex, std::int64_t>& counts,
                       site::TresIndex tres) {
  const auto found = counts.find(tres);
  return found == counts.end() ? 0 : found->second;
}

/// The most that one node of the allocation holds.
std::int64_t most_on_node(const site::Site& site, const Wanted& wanted, site::TresIndex tres) {
  std::int64_t most = 0;
  for (const Share& share : wanted.allocation.shares) {
    std::int64_t count = 0;
    if (tres == site::kCpu) count = share.cpus;
    if (tres == site::kMemory) count = share.memory_mb;
    if (tres == site::kNode) count = 1;
    if (site.tres[tres].name == "gres/gpu") count = share.num_gpus();
    most = std::max(most, count);
  }
  return most;
}

/// Nodes of the job that the group does not use yet.
std::int64_t new_nodes(const Wanted& wanted, const Use& use) {
  return std::count_if(wanted.allocation.shares.begin(), wanted.allocation.shares.end(),
                       [&](const Share& share) { return !use.nodes.contains(share.node); });
}

/// Limits that a QOS has set hide those of later QOS and of associations.
class Seen {
 public:
  /// Returns whether the limit counts, and hides it from now on if a QOS sets it.
  bool first(const LimitNames& kind, site::TresIndex tres, bool is_qos) {
    const std::pair key{group_of(kind), tres};
    if (seen_.contains(key)) return false;
    if (is_qos) seen_.insert(key);
    return true;
  }

 private:
  /// The limits of QOS and associations that are of one kind.
  static int group_of(const LimitNames& kind) {
    if (&kind == &kAssocGroup || &kind == &kQosGroup) return 0;
    if (&kind == &kAssocGroupMinutes || &kind == &kQosGroupMinutes) return 1;
    if (&kind == &kAssocGroupRunMinutes || &kind == &kQosGroupRunMinutes) return 2;
    if (&kind == &kAssocPerJob || &kind == &kQosPerJob) return 3;
    if (&kind == &kAssocPerNode || &kind == &kQosPerNode) return 4;
    if (&kind == &kAssocMinutesPerJob || &kind == &kQosMinutesPerJob) return 5;
    if (&kind == &kQosPerUser) return 6;
    return &kind == &kQosPerAccount ? 7 : 8;
  }

  std::set<std::pair<int, site::TresIndex>> seen_;
};

/// Checks limits one after another, and keeps the first reason.
class Check {
 public:
  Check(const site::Site& site, const Wanted& wanted) : site_(site), wanted_(wanted) {}

  ReasonName reason() const { return reason_; }

  void group(const site::TresCounts& limits, const Use& use, const LimitNames& names, bool is_qos,
             double factor = 0) {
    for (const site::TresCount& limit : limits) {
      if (!counts(names, limit.tres, is_qos)) continue;
      std::int64_t asked = amount_of(wanted_.tres, limit.tres);
      const std::int64_t most = scaled(limit.count, factor);
      const std::int64_t held = limit.tres == site::kNode
                                    ? static_cast<std::int64_t>(use.nodes.size())
                                    : amount_of(use.tres, limit.tres);
      const std::int64_t more = limit.tres == site::kNode ? new_nodes(wanted_, use) : asked;
      if (asked > most || (asked > 0 && more + held > most && more > 0)) fail(names, limit.tres);
    }
  }
  void minutes(const site::TresCounts& limits, const Used* used, const Use& use,
               const LimitNames& names, bool is_qos, bool is_safe) {
    if (used == nullptr) return;
    for (const site::TresCount& limit : limits) {
      if (!counts(names, limit.tres, is_qos)) continue;
      const std::int64_t asked = amount_of(wanted_.tres, limit.tres);
      const auto minutes = limit.tres < used->tres.size()
                               ? static_cast<std::int64_t>(used->tres[limit.tres] / 60)
                               : 0;
      const std::int64_t whole = asked * (wanted_.limit / 60);
      const std::int64_t running = amount_of(use.run_seconds, limit.tres) / 60;
      const bool over = asked > 0 && minutes >= limit.count;
      const bool unsafe = is_safe && (whole > limit.count ||
                                      (asked > 0 && whole + running > limit.count - minutes));
      if (over || unsafe) fail(names, limit.tres);
    }
  }
  void run_minutes(const site::TresCounts& limits, const Use& use, const LimitNames& names,
                   bool is_qos) {
    for (const site::TresCount& limit : limits) {
      if (!counts(names, limit.tres, is_qos)) continue;
      const std::int64_t asked = amount_of(wanted_.tres, limit.tres);
      const std::int64_t whole = asked * (wanted_.limit / 60);
      const std::int64_t running = amount_of(use.run_seconds, limit.tres) / 60;
      if (whole > limit.count || (asked > 0 && whole + running > limit.count)) {
        fail(names, limit.tres);
      }
    }
  }
  void job(const site::JobLimits& limits, const LimitNames& minutes, const LimitNames& all,
           const LimitNames& on_node, bool is_qos, double factor = 0) {
    for (const site::TresCount& limit : limits.tres_minutes) {
      if (!counts(minutes, limit.tres, is_qos)) continue;
      if (amount_of(wanted_.tres, limit.tres) * (wanted_.limit / 60) > limit.count) {
        fail(minutes, limit.tres);
      }
    }
    for (const site::TresCount& limit : limits.tres) {
      if (!counts(all, limit.tres, is_qos)) continue;
      if (amount_of(wanted_.tres, limit.tres) > scaled(limit.count, factor)) fail(all, limit.tres);
    }
    for (const site::TresCount& limit : limits.tres_per_node) {
      if (!counts(on_node, limit.tres, is_qos)) continue;
      if (most_on_node(site_, wanted_, limit.tres) > limit.count) fail(on_node, limit.tres);
    }
  }
  void least(const site::TresCounts& limits) {
    for (const site::TresCount& limit : limits) {
      if (!counts(kQosMin, limit.tres, true)) continue;
      if (amount_of(wanted_.tres, limit.tres) < limit.count) fail(kQosMin, limit.tres);
    }
  }

 private:
  bool counts(const LimitNames& names, site::TresIndex tres, bool is_qos) {
    return reason_ == kNone && seen_.first(names, tres, is_qos);
  }
  static std::int64_t scaled(std::int64_t limit, double factor) {
    return factor > 0 ? static_cast<std::int64_t>(static_cast<double>(limit) * factor) : limit;
  }
  void fail(const LimitNames& names, site::TresIndex tres) {
    reason_ = name_of(names, tres, site_.tres[tres].name);
  }

  const site::Site& site_;
  const Wanted& wanted_;
  Seen seen_;
  ReasonName reason_ = kNone;
};

}  // namespace

Limits::Limits(const site::Site& site)
    : site_(site),
      is_on_(site.config.enforced.limits || site.config.enforced.safe),
      by_association_(site.associations.size()),
      by_qos_(site.qos.size()) {
  for (const site::Partition& each : site.partitions) {
    const site::Qos* const qos = each.qos.empty() ? nullptr : site.find_qos(each.qos);
    partition_qos_.push_back(qos == nullptr ? kNobody
                                            : static_cast<std::uint32_t>(qos - site.qos.data()));
  }
}

std::vector<std::uint32_t> Limits::qos_of(const Job& job, PartitionAt partition) const {
  std::vector<std::uint32_t> order;
  if (partition < partition_qos_.size() && partition_qos_[partition] != kNobody) {
    order.push_back(partition_qos_[partition]);
  }
  if (job.qos < site_.qos.size() && (order.empty() || order.front() != job.qos)) {
    order.push_back(job.qos);
    if (site_.qos[job.qos].flags.over_part_qos) std::reverse(order.begin(), order.end());
  }
  return order;
}

std::vector<std::uint32_t> Limits::chain_of(const Job& job) const {
  std::vector<std::uint32_t> chain;
  if (job.association >= site_.associations.size()) return chain;
  for (auto at = static_cast<std::int32_t>(job.association); at >= 0;
       at = site_.associations[static_cast<std::size_t>(at)].parent) {
    chain.push_back(static_cast<std::uint32_t>(at));
  }
  return chain;
}

ReasonName Limits::before_nodes(const Job& job, PartitionAt partition, Seconds limit) const {
  if (!is_on_) return kNone;
  const auto use_of = [](const auto& uses, std::uint32_t qos, const std::string& name) {
    const auto found = uses.find({qos, name});
    return found == uses.end() ? 0 : found->second.jobs;
  };
  const auto is_over = [&](Duration wall) {
    return wall != kNoDuration && wall != text::kUnlimited && limit > wall.count() / 1000;
  };
  const auto used_up = [&](Duration wall, const Used& used) {
    return wall != kNoDuration && wall != text::kUnlimited && usage_ != nullptr &&
           used.wall_s >= static_cast<double>(wall.count()) / 1000;
  };
  // What a QOS sets hides the limits of later QOS and of associations.
  bool group_jobs = false;
  bool group_wall = false;
  bool max_jobs = false;
  bool max_jobs_account = false;
  bool max_wall = false;
  for (const std::uint32_t at : qos_of(job, partition)) {
    const site::Qos& qos = site_.qos[at];
    if (qos.group.jobs != site::kNoLimit && !std::exchange(group_jobs, true) &&
        by_qos_[at].jobs >= qos.group.jobs) {
      return "QOSGrpJobsLimit";
    }
    if (qos.group.wall != kNoDuration && !std::exchange(group_wall, true) && usage_ != nullptr &&
        used_up(qos.group.wall, usage_->of_qos(at))) {
      return "QOSGrpWallLimit";
    }
    if (qos.per_account.jobs != site::kNoLimit && !std::exchange(max_jobs_account, true) &&
        use_of(by_qos_and_account_, at, job.ask.account) >= qos.per_account.jobs) {
      return "MaxJobsPerAccount";
    }
    if (qos.per_user.jobs != site::kNoLimit && !std::exchange(max_jobs, true) &&
        use_of(by_qos_and_user_, at, job.ask.user) >= qos.per_user.jobs) {
      return "QOSMaxJobsPerUserLimit";
    }
    if (qos.job.wall != kNoDuration && !std::exchange(max_wall, true) && is_over(qos.job.wall)) {
      return "QOSMaxWallDurationPerJobLimit";
    }
  }
  bool is_user = true;
  for (const std::uint32_t at : chain_of(job)) {
    const site::Association& association = site_.associations[at];
    if (!group_jobs && association.group.jobs != site::kNoLimit &&
        by_association_[at].jobs >= association.group.jobs) {
      return "AssocGrpJobsLimit";
    }
    if (!group_wall && usage_ != nullptr && used_up(association.group.wall, usage_->of(at))) {
      return "AssocGrpWallLimit";
    }
    if (!std::exchange(is_user, false)) continue;
    if (!max_jobs && !max_jobs_account && association.max_jobs != site::kNoLimit &&
        by_association_[at].jobs >= association.max_jobs) {
      return "AssocMaxJobsLimit";
    }
    if (!max_wall && is_over(association.job.wall)) return "AssocMaxWallDurationPerJobLimit";
  }
  return kNone;
}

ReasonName Limits::after_nodes(const Job& job, PartitionAt partition, const Wanted& wanted) const {
  if (!is_on_) return kNone;
  static const Use kNothing;
  const auto use_of = [&](const auto& uses, std::uint32_t qos,
                          const std::string& name) -> const Use& {
    const auto found = uses.find({qos, name});
    return found == uses.end() ? kNothing : found->second;
  };
  const bool is_safe = site_.config.enforced.safe;
  const double factor = job.qos < site_.qos.size() ? site_.qos[job.qos].limit_factor : 0;
  Check check(site_, wanted);
  for (const std::uint32_t at : qos_of(job, partition)) {
    const site::Qos& qos = site_.qos[at];
    const Used* const used = usage_ == nullptr ? nullptr : &usage_->of_qos(at);
    check.minutes(qos.group.tres_minutes, used, by_qos_[at], kQosGroupMinutes, true, is_safe);
    check.group(qos.group.tres, by_qos_[at], kQosGroup, true);
    check.run_minutes(qos.group.tres_run_minutes, by_qos_[at], kQosGroupRunMinutes, true);
    check.job(qos.job, kQosMinutesPerJob, kQosPerJob, kQosPerNode, true);
    check.least(qos.min_tres);
    check.group(qos.per_account.tres, use_of(by_qos_and_account_, at, job.ask.account),
                kQosPerAccount, true);
    check.group(qos.per_user.tres, use_of(by_qos_and_user_, at, job.ask.user), kQosPerUser, true);
  }
  bool is_user = true;
  for (const std::uint32_t at : chain_of(job)) {
    const site::Association& association = site_.associations[at];
    const Used* const used = usage_ == nullptr ? nullptr : &usage_->of(at);
    const Use& use = by_association_[at];
    check.minutes(association.group.tres_minutes, used, use, kAssocGroupMinutes, false, is_safe);
    check.group(association.group.tres, use, kAssocGroup, false, factor);
    check.run_minutes(association.group.tres_run_minutes, use, kAssocGroupRunMinutes, false);
    if (!std::exchange(is_user, false)) continue;
    check.job(association.job, kAssocMinutesPerJob, kAssocPerJob, kAssocPerNode, false, factor);
  }
  return check.reason();
}

template <typename Act>
void Limits::each_use(const Job& job, Act&& act) {
  for (const std::uint32_t at : chain_of(job)) act(by_association_[at]);
  for (const std::uint32_t at : qos_of(job, job.runs_in)) {
    act(by_qos_[at]);
    act(by_qos_and_user_[{at, job.ask.user}]);
    act(by_qos_and_account_[{at, job.ask.account}]);
  }
}

void Limits::start(Job& job, const Wanted& wanted) {
  if (!is_on_) return;
  job.held = wanted.tres;
  job.limit_left = wanted.limit;
  each_use(job, [&](Use& use) {
    ++use.jobs;
    for (const site::TresCount& each : wanted.tres) {
      use.tres[each.tres] += each.count;
      use.run_seconds[each.tres] += each.count * wanted.limit;
    }
    for (const Share& share : wanted.allocation.shares) ++use.nodes[share.node];
  });
}

void Limits::elapse(Job& job, Seconds elapsed) {
  if (!is_on_) return;
  const Seconds used = std::min(elapsed, job.limit_left);
  job.limit_left -= used;
  each_use(job, [&](Use& use) {
    for (const site::TresCount& each : job.held) use.run_seconds[each.tres] -= each.count * used;
  });
}

void Limits::end(Job& job) {
  if (!is_on_) return;
  each_use(job, [&](Use& use) {
    --use.jobs;
    for (const site::TresCount& each : job.held) {
      use.tres[each.tres] -= each.count;
      use.run_seconds[each.tres] -= each.count * job.limit_left;
    }
    for (const Share& share : job.allocation.shares) {
      const auto found = use.nodes.find(share.node);
      if (--found->second == 0) use.nodes.erase(found);
    }
  });
}

}  // namespace almanac::slurmctld
