// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/tree_parts.h"

#include <algorithm>

namespace almanac::policy {
namespace {

/// The owners that share a tenant's part: its children, and the tenant itself.
struct Siblings {
  double guarantees = 0;
  int count = 0;
  void add(double guarantee) {
    guarantees += guarantee;
    ++count;
  }
  double part(double guarantee) const {
    return guarantees > 0 ? guarantee / guarantees : 1.0 / count;
  }
};

}  // namespace

std::vector<double> parts_of_tree(std::span<const Owner> owners, const View& view) {
  const std::vector<cluster::Tenant>& tenants = view.cluster.tenants;
  const std::size_t top = tenants.size();
  const auto parent = [&](std::size_t at) {
    return tenants[at].parent < 0 ? top : static_cast<std::size_t>(tenants[at].parent);
  };
  std::vector<bool> is_owner(top, false);
  std::vector<bool> counts(top, false);
  std::vector<double> own(top, 0);  // guarantee that no child has
  std::vector<Siblings> below(top + 1);
  for (const Owner owner : owners) {
    if (owner >= top) {
      below[top].add(1);
      continue;
    }
    is_owner[owner] = true;
    for (std::size_t at = owner; at != top; at = parent(at)) counts[at] = true;
  }
  for (std::size_t at = 0; at < top; ++at) {
    own[at] += tenants[at].guarantee;
    if (parent(at) != top) own[parent(at)] -= tenants[at].guarantee;
    if (counts[at]) below[parent(at)].add(tenants[at].guarantee);
  }
  for (std::size_t at = 0; at < top; ++at) {
    own[at] = std::max(0.0, own[at]);
    if (is_owner[at]) below[at].add(own[at]);
  }
  std::vector<double> parts(top, 0);  // of a tenant with all below it; parents come first
  for (std::size_t at = 0; at < top; ++at) {
    if (!counts[at]) continue;
    const double above = parent(at) == top ? 1 : parts[parent(at)];
    parts[at] = above * below[parent(at)].part(tenants[at].guarantee);
  }
  std::vector<double> made;
  for (const Owner owner : owners) {
    made.push_back(owner >= top ? below[top].part(1)
                                : parts[owner] * below[owner].part(own[owner]));
  }
  return made;
}

}  // namespace almanac::policy
