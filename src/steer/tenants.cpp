// SPDX-License-Identifier: Apache-2.0
#include "steer/tenants.h"

#include <algorithm>

#include "steer/world.h"

namespace almanac::steer {
namespace {

using manager::Association;

bool is_account(const Association& each) { return each.user.empty(); }
/// The account that it is below; "" = it is the root.
const std::string& above(const Association& each) {
  return is_account(each) ? each.parent : each.account;
}

AccountOwner owner_of(const Association& each) {
  return {.account = each.account, .user = each.user, .partition = each.partition};
}

}  // namespace

std::string name_of(const AccountOwner& each) {
  std::string made = each.account;
  if (!each.user.empty()) made += "/" + each.user;
  if (!each.partition.empty()) made += "@" + each.partition;
  return made;
}

std::pair<std::vector<cluster::Tenant>, TenantsByOwner> tenants_of(
    const std::vector<Association>& associations, double gpus) {
  if (associations.size() >= index(kNoTenant)) return {};
  std::map<std::string, std::vector<const Association*>> below;
  std::map<std::string, double> shares;  // of all that are below an account
  std::vector<std::string> accounts;     // whose tenants are there and those below them not
  for (const Association& each : associations) {
    if (above(each).empty()) {
      accounts.push_back(each.account);
      continue;
    }
    below[above(each)].push_back(&each);
    if (each.shares > 0) shares[above(each)] += static_cast<double>(each.shares);
  }
  std::vector<cluster::Tenant> tenants;
  TenantsByOwner by_owner;
  for (std::size_t at = 0; at < accounts.size(); ++at) {
    const std::string account = accounts[at];
    const auto own = by_owner.find({.account = account});
    const std::int32_t parent =
        own == by_owner.end() ? -1 : static_cast<std::int32_t>(index(own->second));
    const double all = parent < 0 ? gpus : tenants[static_cast<std::size_t>(parent)].guarantee;
    for (const Association* const each : below[account]) {
      if (!is_account(*each) && each->shares == Association::kParent) {
        if (parent >= 0) by_owner.emplace(owner_of(*each), own->second);
        continue;
      }
      const double part =
          each->shares > 0 ? static_cast<double>(each->shares) / shares[account] : 0;
      by_owner.emplace(owner_of(*each), TenantId{static_cast<std::uint16_t>(tenants.size())});
      tenants.push_back(
          {.name = name_of(owner_of(*each)), .parent = parent, .guarantee = part * all});
      if (is_account(*each)) accounts.push_back(each->account);
    }
    below.erase(account);  // an account that were below itself would never end
  }
  return {std::move(tenants), std::move(by_owner)};
}

TenantId tenant_of(const TenantsByOwner& tenants, const std::string& account,
                   const std::string& user, const std::string& partitions) {
  if (tenants.empty()) return kNoTenant;
  for (const std::string& partition : split_names(partitions)) {
    const auto own = tenants.find({account, user, partition});
    if (own != tenants.end()) return own->second;
  }
  for (const std::string& whose : {user, std::string()}) {
    const auto found = tenants.find({account, whose, ""});
    if (found != tenants.end()) return found->second;
  }
  return kNoTenant;
}

std::vector<policy::PastUse> past_use_of(const std::vector<Association>& associations,
                                         const TenantsByOwner& tenants, Time at) {
  std::map<std::string, double> below;  // used below each account
  for (const Association& each : associations) {
    if (!above(each).empty()) below[above(each)] += each.use;
  }
  std::vector<policy::PastUse> made;
  for (const Association& each : associations) {
    const auto tenant = tenants.find(owner_of(each));
    if (tenant == tenants.end()) continue;
    const double own = each.use - (is_account(each) ? below[each.account] : 0);
    if (own <= 0) continue;
    made.push_back({.tenant = tenant->second, .gpu_s = own, .from = at, .until = at});
  }
  return made;
}

}  // namespace almanac::steer
