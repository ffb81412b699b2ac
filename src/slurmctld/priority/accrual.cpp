// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/accrual.h"

#include <algorithm>
#include <string>

namespace almanac::slurmctld {
namespace {

std::int64_t at_or_zero(const std::map<std::uint32_t, std::int64_t>& counts, std::uint32_t key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

Accrual::Accrual(const site::Site& site, const AssociationTree& tree)
    : site_(&site), tree_(tree), qos_(site.qos.size()), below_(site.associations.size(), 0) {
  std::map<std::string, std::uint32_t> users, accounts;
  for (const site::Association& each : site.associations) {
    user_.push_back(
        users.emplace(each.user, static_cast<std::uint32_t>(users.size())).first->second);
    account_.push_back(
        accounts.emplace(each.account, static_cast<std::uint32_t>(accounts.size())).first->second);
  }
}

std::pair<std::uint32_t, std::uint32_t> Accrual::ordered_qos(const AccrualJob& job) const {
  std::pair<std::uint32_t, std::uint32_t> order{job.partition_qos, job.qos};
  if (job.qos != kNowhere && site_->qos[job.qos].flags.over_part_qos) {
    std::swap(order.first, order.second);
  }
  if (order.first == kNowhere) std::swap(order.first, order.second);
  if (order.first == order.second) order.second = kNowhere;
  return order;
}

Accrual::Verdict Accrual::judge(const AccrualJob& job) const {
  Verdict verdict = Verdict::unlimited;
  const auto hold_to = [&](std::int64_t limit, std::int64_t count) {
    if (verdict != Verdict::full) verdict = count < limit ? Verdict::room : Verdict::full;
  };
  const auto [first, second] = ordered_qos(job);
  // The first QOS that sets a limit hides the same limit of the second, and of the association.
  bool group_is_set = false, user_is_set = false, account_is_set = false;
  for (const std::uint32_t qos : {first, second}) {
    if (qos == kNowhere) continue;
    const site::Qos& limits = site_->qos[qos];
    if (!group_is_set && limits.group.jobs_accrue != site::kNoLimit) {
      group_is_set = true;
      hold_to(limits.group.jobs_accrue, qos_[qos].all);
    }
    if (!user_is_set && limits.per_user.jobs_accrue != site::kNoLimit) {
      user_is_set = true;
      hold_to(limits.per_user.jobs_accrue, at_or_zero(qos_[qos].of_user, user_[job.association]));
    }
    if (!account_is_set && limits.per_account.jobs_accrue != site::kNoLimit) {
      account_is_set = true;
      hold_to(limits.per_account.jobs_accrue,
              at_or_zero(qos_[qos].of_account, account_[job.association]));
    }
  }
  const site::Association& own = site_->associations[job.association];
  if (!user_is_set && !account_is_set && own.max_jobs_accrue != site::kNoLimit) {
    hold_to(own.max_jobs_accrue, below_[job.association]);
  }
  for (AssociationAt at = job.association; at != kNowhere && !group_is_set; at = tree_.parent(at)) {
    const std::int64_t limit = site_->associations[at].group.jobs_accrue;
    if (limit != site::kNoLimit) hold_to(limit, below_[at]);
  }
  return verdict;
}

void Accrual::count(const AccrualJob& job, int step) {
  const auto [first, second] = ordered_qos(job);
  for (const std::uint32_t qos : {first, second}) {
    if (qos == kNowhere) continue;
    qos_[qos].all += step;
    qos_[qos].of_user[user_[job.association]] += step;
    qos_[qos].of_account[account_[job.association]] += step;
  }
  for (AssociationAt at = job.association; at != kNowhere; at = tree_.parent(at)) {
    below_[at] += step;
  }
}

}  // namespace almanac::slurmctld
