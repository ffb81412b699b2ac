// SPDX-License-Identifier: Apache-2.0

/// \file
/// A small cluster for the tests of this room: nodes n0, n1, ..., each with two pairs of GPUs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/cells/layout.h"

namespace almanac::cells {

inline Place example_node(const std::string& name) {
  const auto pair = [&](int first) {
    return Place{.type = "PAIR",
                 .within = {{.type = "GPU", .node = name, .leaf = first},
                            {.type = "GPU", .node = name, .leaf = first + 1}}};
  };
  return {.type = "NODE", .within = {pair(0), pair(2)}};
}

/// Returns `nodes` nodes, without racks if `per_rack` is 0.
inline Layout example(int nodes, std::vector<Share> shares, int per_rack = 0) {
  Layout layout{.types = {{.name = "NODE", .child = "PAIR", .children = 2, .node = true},
                          {.name = "PAIR", .child = "GPU", .children = 2}},
                .shares = std::move(shares)};
  if (per_rack > 0) {
    layout.types.push_back({.name = "RACK", .child = "NODE", .children = per_rack});
  }
  for (int i = 0; i < nodes; ++i) {
    Place node = example_node(fmt::format("n{}", i));
    if (per_rack > 0) {
      if (i % per_rack == 0) layout.places.push_back({.type = "RACK"});
      layout.places.back().within.push_back(std::move(node));
    } else {
      layout.places.push_back(std::move(node));
    }
  }
  return layout;
}

inline Share owns(std::string vc, std::string type, int cells, std::string chain = "NODE") {
  return {.vc = std::move(vc), .chain = std::move(chain), .type = std::move(type), .cells = cells};
}

}  // namespace almanac::cells
