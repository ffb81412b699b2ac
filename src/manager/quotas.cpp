// SPDX-License-Identifier: Apache-2.0
#include "manager/quotas.h"

#include <algorithm>

#include <fmt/format.h>

namespace almanac::manager {
namespace {

/// No tree of accounts is as deep; one that is none ends here.
constexpr int kDeepest = 100;

}  // namespace

std::string whose(const Quota& quota) {
  std::string made = quota.qos.empty() ? fmt::format("account {}", quota.account)
                                       : fmt::format("QOS {}", quota.qos);
  if (!quota.user.empty()) made = fmt::format("user {} of {}", quota.user, made);
  return made;
}

std::string QuotaFinder::own_partition(const Job& job) const {
  const bool is_own =
      std::any_of(limits_.quotas.begin(), limits_.quotas.end(), [&](const Quota& quota) {
        return quota.partition == job.partition && quota.user == job.user &&
               quota.account == job.account;
      });
  return is_own ? job.partition : "";
}

bool QuotaFinder::counts(const Quota& quota, const Job& job,
                         const std::string& own_partition) const {
  if (!quota.qos.empty()) return quota.qos == job.qos;
  if (!quota.user.empty()) {
    return quota.user == job.user && quota.account == job.account &&
           quota.partition == own_partition;
  }
  std::string account = job.account;
  for (int depth = 0; depth < kDeepest; ++depth) {
    if (quota.account == account) return true;
    const auto parent = limits_.parents.find(account);
    if (parent == limits_.parents.end()) return false;
    account = parent->second;
  }
  return false;
}

const QuotaFinder::Found& QuotaFinder::of(const Job& job) {
  const auto [known, is_new] =
      found_.try_emplace(Whose{job.account, job.user, job.partition, job.qos});
  Found& made = known->second;
  if (!is_new) return made;
  const std::string partition = own_partition(job);
  bool has_qos = false;
  for (std::uint32_t at = 0; at < limits_.quotas.size(); ++at) {
    const Quota& quota = limits_.quotas[at];
    if (quota.gpus == Quota::kAny || !counts(quota, job, partition)) continue;
    made.counted.push_back(at);
    if (!quota.qos.empty() && !has_qos) made.asked.clear();
    has_qos = has_qos || !quota.qos.empty();
    if (!has_qos || !quota.qos.empty()) made.asked.push_back(at);
  }
  return made;
}

}  // namespace almanac::manager
