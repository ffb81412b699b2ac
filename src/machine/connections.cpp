// SPDX-License-Identifier: Apache-2.0
#include "machine/connections.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cluster/sockets.h"

namespace almanac::machine {
namespace {

using cluster::Between;
using cluster::Connection;
using gpu::Ancestor;
using gpu::Route;

using Routes = std::vector<std::vector<Route>>;

Routes routes_of(const gpu::Driver& driver, const std::vector<int>& numbers) {
  Routes made(numbers.size(), std::vector<Route>(numbers.size()));
  for (std::size_t one = 0; one < numbers.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      made[one][other] = made[other][one] = driver.route(numbers[one], numbers[other]);
    }
  }
  return made;
}

/// GPUs with nothing farther than `most` between any of them and the first, group by group.
std::vector<std::vector<int>> groups_within(const Routes& routes, Ancestor most) {
  std::vector<std::vector<int>> made;
  for (std::size_t gpu = 0; gpu < routes.size(); ++gpu) {
    const auto group = std::find_if(made.begin(), made.end(), [&](const std::vector<int>& each) {
      const Ancestor by = routes[gpu][static_cast<std::size_t>(each.front())].by;
      return by != Ancestor::not_told && by <= most;
    });
    if (group == made.end()) {
      made.push_back({static_cast<int>(gpu)});
    } else {
      group->push_back(static_cast<int>(gpu));
    }
  }
  return made;
}

bool is_told(const Routes& routes) {
  for (std::size_t one = 0; one < routes.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (routes[one][other].by == Ancestor::not_told) return false;
    }
  }
  return true;
}

/// Whether as many links connect each of `gpus` with each.
bool are_alike(const Routes& routes, const std::vector<int>& gpus, int links) {
  return std::all_of(gpus.begin(), gpus.end(), [&](int one) {
    return std::all_of(gpus.begin(), gpus.end(), [&](int other) {
      return one == other ||
             routes[static_cast<std::size_t>(one)][static_cast<std::size_t>(other)].nvlinks ==
                 links;
    });
  });
}

/// Returns the NVLink connections: a single one if all pairs are equal, otherwise one per pair.
std::vector<Connection> nvlinks(const Routes& routes) {
  std::vector<int> all;
  for (std::size_t gpu = 0; gpu < routes.size(); ++gpu) all.push_back(static_cast<int>(gpu));
  const int links = routes.size() > 1 ? routes[0][1].nvlinks : 0;
  if (links > 0 && are_alike(routes, all, links)) return {{Between::nvlink, all, links}};
  std::vector<Connection> made;
  for (std::size_t one = 0; one < routes.size(); ++one) {
    for (std::size_t other = one + 1; other < routes.size(); ++other) {
      const int between = routes[one][other].nvlinks;
      if (between == 0) continue;
      made.push_back({Between::nvlink, {static_cast<int>(one), static_cast<int>(other)}, between});
    }
  }
  return made;
}

}  // namespace

void find_connections(const gpu::Driver& driver, const std::vector<int>& numbers,
                      cluster::NodeClass& make) {
  const Routes routes = routes_of(driver, numbers);
  make.connections.clear();
  if (is_told(routes)) {
    cluster::set_sockets(make, groups_within(routes, Ancestor::socket));
    const auto switches = groups_within(routes, Ancestor::one_switch);
    for (const auto& each : switches) {
      if (each.size() > 1 && switches.size() > 1) {
        make.connections.push_back({Between::pcie_switch, each});
      }
    }
  }
  for (Connection& each : nvlinks(routes)) make.connections.push_back(std::move(each));
}

}  // namespace almanac::machine
