// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/limits.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gateway/owned.h"
#include "gateway/refusal.h"

namespace almanac::gateway {
namespace {

/// The limit on GPUs in an array in the order of the controller's TRES; nothing = no limit.
std::optional<int> most_at(const std::uint64_t* most, std::size_t gpu) {
  constexpr std::uint64_t kAny = std::numeric_limits<int>::max();
  if (most == nullptr || most[gpu] >= kAny) return std::nullopt;
  return static_cast<int>(most[gpu]);
}

manager::Association share_of(const slurmdb_assoc_rec_t& of, std::optional<std::size_t> gpu) {
  const bool is_all = of.shares_raw == SLURMDB_FS_USE_PARENT;
  manager::Association made{.account = text(of.acct),
                            .user = text(of.user),
                            .partition = text(of.partition),
                            .shares = is_all ? manager::Association::kParent : of.shares_raw};
  if (made.user.empty()) made.parent = text(of.parent_acct);
  if (of.usage == nullptr) return made;
  made.use = static_cast<double>(of.usage->usage_raw);
  if (gpu && of.usage->usage_tres_raw != nullptr && *gpu < of.usage->tres_cnt) {
    made.use = static_cast<double>(of.usage->usage_tres_raw[*gpu]);
  }
  return made;
}

}  // namespace

Result<Accounts> accounts() {
  assoc_mgr_info_request_msg_t asked{};
  asked.flags = ASSOC_MGR_INFO_FLAG_ASSOC | ASSOC_MGR_INFO_FLAG_QOS | ASSOC_MGR_INFO_FLAG_USERS;
  assoc_mgr_info_msg_t* raw = nullptr;
  if (slurm_load_assoc_mgr_info(&asked, &raw) != SLURM_SUCCESS) return refusal("get the limits");
  const Associations told(raw);
  const std::span names(told->tres_names, told->tres_cnt);
  const auto gpu = std::find_if(names.begin(), names.end(),
                                [](const char* name) { return text(name) == "gres/gpu"; });
  Accounts all;
  manager::Limits& made = all.limits;
  each<slurmdb_user_rec_t>(told->user_list, [&](const slurmdb_user_rec_t& of) {
    if (!text(of.default_acct).empty()) made.accounts[text(of.name)] = of.default_acct;
  });
  each<slurmdb_qos_rec_t>(told->qos_list, [&](const slurmdb_qos_rec_t& of) {
    if (of.priority == 0 || of.priority == NO_VAL) return;
    made.qos_priorities.push_back({.qos = text(of.name), .priority = of.priority});
  });
  const bool counts_gpus = gpu != names.end();
  const auto at = static_cast<std::size_t>(gpu - names.begin());
  each<slurmdb_assoc_rec_t>(told->assoc_list, [&](const slurmdb_assoc_rec_t& of) {
    all.associations.push_back(share_of(of, counts_gpus ? std::optional(at) : std::nullopt));
  });
  // A site that does not count GPUs cannot limit them.
  if (!counts_gpus) return all;
  std::vector<manager::Quota> apart;  // without a limit
  each<slurmdb_assoc_rec_t>(told->assoc_list, [&](const slurmdb_assoc_rec_t& of) {
    const bool is_account = text(of.user).empty();
    if (is_account && !text(of.parent_acct).empty()) made.parents[text(of.acct)] = of.parent_acct;
    const auto most = most_at(of.grp_tres_ctld, at);
    manager::Quota quota{.account = text(of.acct),
                         .user = text(of.user),
                         .partition = text(of.partition),
                         .gpus = most.value_or(manager::Quota::kAny)};
    if (!most && quota.partition.empty()) return;
    (most ? made.quotas : apart).push_back(std::move(quota));
  });
  // Such an entry matters only if the same user also has a limit without a partition.
  std::erase_if(apart, [&](const manager::Quota& each) {
    return std::none_of(made.quotas.begin(), made.quotas.end(), [&](const manager::Quota& other) {
      return other.partition.empty() && other.user == each.user && other.account == each.account;
    });
  });
  made.quotas.insert(made.quotas.end(), apart.begin(), apart.end());
  each<slurmdb_qos_rec_t>(told->qos_list, [&](const slurmdb_qos_rec_t& of) {
    const auto most = most_at(of.grp_tres_ctld, at);
    if (most) made.quotas.push_back({.qos = text(of.name), .gpus = *most});
  });
  return all;
}

}  // namespace almanac::gateway
