// SPDX-License-Identifier: Apache-2.0
#include "steer/quotas.h"

#include <algorithm>

#include <fmt/format.h>

#include "steer/world.h"

namespace almanac::steer {
namespace {

/// No tree of accounts is as deep; one that is none ends here.
constexpr int kDeepest = 100;

int gpus_of(const slurm::Job& job) {
  int made = 0;
  for (const slurm::Held& held : job.holds) made += held.gpu_count;
  return made;
}

/// Of the quotas of one job, those of a QOS first, which then count alone: the one that leaves
/// least; null = it has none.
template <typename List>
const typename List::value_type* least_of(const List& quotas, const std::vector<std::size_t>& own) {
  const typename List::value_type* made = nullptr;
  for (const std::size_t at : own) {
    if (made != nullptr && !made->quota->qos.empty() && quotas[at].quota->qos.empty()) break;
    if (made == nullptr || quotas[at].left() < made->left()) made = &quotas[at];
  }
  return made;
}

}  // namespace

bool enforces_limits(const slurm::Site& site) {
  const auto found = site.parameters.find("AccountingStorageEnforce");
  if (found == site.parameters.end()) return false;
  const std::vector<std::string> words = split_names(found->second);
  return std::any_of(words.begin(), words.end(), [](const std::string& each) {
    return each == "limits" || each == "safe" || each == "all";
  });
}

Quotas::Quotas(const Mirror& mirror) : limits_(mirror.limits()) {
  for (const slurm::Quota& each : limits_.quotas) quotas_.push_back({.quota = &each});
  if (quotas_.empty()) return;
  for (const auto& [number, job] : mirror.jobs()) {
    // Slurm counts nobody who has ended, though his nodes are still being cleaned.
    if (!holds_nodes(job) || job.state == slurm::State::completing) continue;
    take(job, gpus_of(job));
  }
}

std::string Quotas::own_partition(const slurm::Job& job) const {
  const bool is_own = std::any_of(quotas_.begin(), quotas_.end(), [&](const Of& each) {
    return each.quota->partition == job.partition && each.quota->user == job.user &&
           each.quota->account == job.account;
  });
  return is_own ? job.partition : "";
}

bool Quotas::counts(const slurm::Quota& quota, const slurm::Job& job,
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

const std::vector<std::size_t>& Quotas::of(const slurm::Job& job) {
  const auto [found, is_new] =
      found_.try_emplace(Whose{job.account, job.user, job.partition, job.qos});
  if (!is_new) return found->second;
  const std::string partition = own_partition(job);
  // Those of its QOS first.
  for (const bool is_of_qos : {true, false}) {
    for (std::size_t at = 0; at < quotas_.size(); ++at) {
      const slurm::Quota& quota = *quotas_[at].quota;
      if (quota.qos.empty() == is_of_qos || !counts(quota, job, partition)) continue;
      found->second.push_back(at);
    }
  }
  return found->second;
}

int Quotas::left(const slurm::Job& job) {
  const auto* const least = least_of(quotas_, of(job));
  return least == nullptr ? kAny : least->left();
}

void Quotas::take(const slurm::Job& job, int gpus) {
  for (const std::size_t at : of(job)) quotas_[at].held += gpus;
}

std::string Quotas::tightest(const slurm::Job& job) {
  const auto* const least = least_of(quotas_, of(job));
  if (least == nullptr) return "";
  const slurm::Quota& quota = *least->quota;
  std::string whose = quota.qos.empty() ? fmt::format("account {}", quota.account)
                                        : fmt::format("QOS {}", quota.qos);
  if (!quota.user.empty()) whose = fmt::format("user {} of {}", quota.user, whose);
  return fmt::format("{} has {} of {} GPUs", whose, least->held, quota.gpus);
}

}  // namespace almanac::steer
