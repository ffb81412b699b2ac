// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/slurm/past_usage.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "slurmctld/main_loop/state.h"
#include "slurmctld/priority/billing.h"

namespace almanac::policy::whole {
namespace {

/// Returns what a GPU is billed for each second.
double billed_per_gpu(const site::Site& site) {
  if (site.partitions.empty()) return 1;
  const site::Partition* const marked = site.default_partition();
  const site::Partition* const partition = marked != nullptr ? marked : &site.partitions.front();
  const slurmctld::NodeTable table = slurmctld::make_node_table(site);
  for (const site::NodeIndex at : partition->nodes) {
    const slurmctld::Node& node = table.nodes[at];
    const slurmctld::Share whole{.node = static_cast<slurmctld::NodeAt>(at),
                                 .cpus = node.cpus,
                                 .memory_mb = node.memory_mb,
                                 .gpus = node.gpus};
    if (whole.num_gpus() == 0) continue;
    const site::TresCounts held = slurmctld::held_tres(site, table, {.shares = {whole}});
    return slurmctld::billable(held, partition->billing_weights, site.config.priority, site.tres) /
           whole.num_gpus();
  }
  return 1;
}

/// Returns the part of an even use from `from` to `until` that is left at `now`.
double part_left(const PastUse& use, Time now, double half_life_s) {
  if (half_life_s <= 0) return 1;
  const double rate = std::log(2.0) / half_life_s;
  const double since_end = seconds(now - std::min(use.until, now));
  const double length = seconds(use.until - use.from);
  if (length <= 0) return std::exp(-rate * since_end);
  return (std::exp(-rate * since_end) - std::exp(-rate * (since_end + length))) / (rate * length);
}

}  // namespace

void set_past_usage(site::Site& site, std::span<const PastUse> uses, const Names& names, Time now) {
  for (site::Association& each : site.associations) each.usage = {.known = true};
  for (site::Qos& each : site.qos) each.usage = {};
  site.usage_at = now;
  std::unordered_map<std::string_view, std::int32_t> of_user;
  for (std::size_t at = 0; at < site.associations.size(); ++at) {
    const site::Association& each = site.associations[at];
    if (each.is_account()) continue;
    const auto [known, is_new] = of_user.try_emplace(each.user, static_cast<std::int32_t>(at));
    if (!is_new && each.is_default) known->second = static_cast<std::int32_t>(at);
  }
  const double per_gpu = billed_per_gpu(site);
  const double half_life_s = seconds(site.config.priority.decay_half_life);
  for (const PastUse& use : uses) {
    if (use.user == kNoName) continue;
    const auto found = of_user.find(names[use.user]);
    if (found == of_user.end()) continue;
    const double billed = use.gpu_s * per_gpu * part_left(use, now, half_life_s);
    for (std::int32_t at = found->second; at >= 0;) {
      site::Association& each = site.associations[static_cast<std::size_t>(at)];
      each.usage.raw += billed;
      at = each.parent;
    }
  }
}

}  // namespace almanac::policy::whole
