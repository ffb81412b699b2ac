// SPDX-License-Identifier: Apache-2.0
#include "site/site.h"

#include <algorithm>

namespace almanac::site {
namespace {

template <typename T>
const T* named(const std::vector<T>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const T& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// The amount of `tres` ("cpu", "gres/gpu:a100") of a node.
std::int64_t count_of(const Node& node, std::string_view tres) {
  if (tres == "cpu") return node.effective_cpus;
  if (tres == "mem") return node.memory_mb;
  if (tres == "node") return 1;
  if (!tres.starts_with("gres/")) return 0;
  tres.remove_prefix(5);
  const auto colon = tres.find(':');
  return node.count(tres.substr(0, colon),
                    colon == std::string_view::npos ? "" : tres.substr(colon + 1));
}

}  // namespace

std::int64_t Node::count(std::string_view name, std::string_view type) const {
  std::int64_t sum = 0;
  for (const NodeGres& each : gres) {
    if (each.name == name && (type.empty() || each.type == type)) sum += each.count;
  }
  return sum;
}

std::optional<TresIndex> Site::find_tres(std::string_view name) const {
  const Tres* const found = named(tres, name);
  if (found == nullptr) return std::nullopt;
  return static_cast<TresIndex>(found - tres.data());
}

const Node* Site::find_node(std::string_view name) const { return named(nodes, name); }
const Partition* Site::find_partition(std::string_view name) const {
  return named(partitions, name);
}
const Qos* Site::find_qos(std::string_view name) const { return named(qos, name); }

const Partition* Site::default_partition() const {
  const auto found = std::find_if(partitions.begin(), partitions.end(),
                                  [](const Partition& each) { return each.is_default; });
  return found == partitions.end() ? nullptr : &*found;
}

std::int32_t Site::find_association(std::string_view account, std::string_view user,
                                    std::string_view partition) const {
  std::int32_t for_all = -1;
  for (std::size_t at = 0; at < associations.size(); ++at) {
    const Association& each = associations[at];
    if (each.account != account || each.user != user) continue;
    if (!each.partition.empty() && each.partition == partition)
      return static_cast<std::int32_t>(at);
    if (each.partition.empty()) for_all = static_cast<std::int32_t>(at);
  }
  return for_all;
}

std::int64_t Site::total(TresIndex index, const Partition* partition) const {
  const std::string_view name = tres[index].name;
  std::int64_t sum = 0;
  if (constexpr std::string_view kLicense = "license/"; name.starts_with(kLicense)) {
    const License* const license = named(licenses, name.substr(kLicense.size()));
    return license == nullptr ? 0 : license->total;
  }
  if (partition == nullptr) {
    for (const Node& each : nodes) sum += count_of(each, name);
  } else {
    for (const NodeIndex each : partition->nodes) sum += count_of(nodes[each], name);
  }
  return sum;
}

std::vector<Tres> standard_tres() {
  return {{"cpu", 1},     {"mem", 2},     {"energy", 3}, {"node", 4},
          {"billing", 5}, {"fs/disk", 6}, {"vmem", 7},   {"pages", 8}};
}

}  // namespace almanac::site
