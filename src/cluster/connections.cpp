// SPDX-License-Identifier: Apache-2.0
#include "cluster/connections.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "cluster/cluster.h"

namespace almanac::cluster {

std::string to_string(const Way& way) {
  switch (way.by) {
    case Between::nvlink:
      return fmt::format("NV{}", way.links);
    case Between::pcie_switch:
      return "PIX";
    case Between::socket:
      return "NODE";
    case Between::system:
      break;
  }
  return "SYS";
}

const char* word_of(Between by) {
  switch (by) {
    case Between::nvlink:
      return "nvlink";
    case Between::pcie_switch:
      return "pcie";
    case Between::socket:
      return "socket";
    case Between::system:
      break;
  }
  return "system";
}

std::vector<std::vector<Way>> ways(const NodeClass& make) {
  const auto gpus = static_cast<std::size_t>(make.gpus);
  const bool tells_sockets =
      make.sockets > 1 ||
      std::any_of(make.connections.begin(), make.connections.end(),
                  [](const Connection& each) { return each.by == Between::socket; });
  const Way usual{tells_sockets ? Between::system : Between::socket};
  std::vector<std::vector<Way>> made(gpus, std::vector<Way>(gpus, usual));
  const auto connect = [&](std::size_t one, std::size_t other, const Way& way) {
    if (one != other && way.by <= made[one][other].by) made[one][other] = way;
  };
  for (std::size_t one = 0; one < gpus && make.sockets > 1; ++one) {
    const std::size_t size = gpus / static_cast<std::size_t>(make.sockets);
    for (std::size_t other = 0; other < gpus; ++other) {
      if (one / size == other / size) connect(one, other, {Between::socket});
    }
  }
  for (const Connection& each : make.connections) {
    for (const int one : each.gpus) {
      for (const int other : each.gpus) {
        connect(static_cast<std::size_t>(one), static_cast<std::size_t>(other),
                {each.by, each.links});
      }
    }
  }
  return made;
}

double distance(const Way& way) {
  switch (way.by) {
    case Between::nvlink:
      return 1.0 / way.links;
    case Between::pcie_switch:
      return 5;
    case Between::socket:
      return 10;
    case Between::system:
      break;
  }
  return 20;
}

std::vector<std::vector<double>> distances(const NodeClass& make) {
  std::vector<std::vector<double>> made;
  for (const std::vector<Way>& from : ways(make)) {
    std::vector<double>& row = made.emplace_back();
    for (const Way& way : from) row.push_back(distance(way));
  }
  return made;
}

std::string table_of_ways(const NodeClass& make) {
  const std::vector<std::vector<Way>> all = ways(make);
  std::string text = fmt::format("{:6}", "");
  for (std::size_t gpu = 0; gpu < all.size(); ++gpu) text += fmt::format(" GPU{:<3}", gpu);
  for (std::size_t one = 0; one < all.size(); ++one) {
    text += fmt::format("\nGPU{:<3}", one);
    for (std::size_t other = 0; other < all.size(); ++other) {
      text += fmt::format(" {:6}", one == other ? "X" : to_string(all[one][other]));
    }
  }
  std::string trimmed;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::size_t last = text.find_last_not_of(' ', end - 1);
    trimmed += text.substr(from, last + 1 - from) + "\n";
    from = end + 1;
  }
  return trimmed;
}

}  // namespace almanac::cluster
