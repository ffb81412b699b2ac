// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the GPUs of a node reach each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace almanac::cluster {

struct NodeClass;

/// What lies between two GPUs, the fastest first.
enum class Between : std::uint8_t { nvlink, pcie_switch, socket, system };

/// GPUs that are connected so, each with each.
struct Connection {
  Between by{};             ///< Not `system`: that is what is not told.
  std::vector<int> gpus{};  ///< Rising.
  int links = 1;            ///< Of NVLink, between any two of them; 1 of what is not.

  bool operator==(const Connection&) const = default;
};

/// The fastest way from one GPU to another.
struct Way {
  Between by = Between::system;
  int links = 1;

  bool operator==(const Way&) const = default;
};

/// "NV4", "PIX" (one PCIe switch), "NODE" (one socket), "SYS" (another socket), as `nvidia-smi topo
/// -m` has it.
std::string to_string(const Way& way);

/// "nvlink", "pcie", "socket", as cluster files have it.
const char* word_of(Between by);

/// Ways between any two GPUs of a node: `[a][b]` = `[b][a]`; `[a][a]` says nothing.
std::vector<std::vector<Way>> ways(const NodeClass& make);

/// How far two GPUs are from each other.
///
/// Source   Amaral et al., SC'17: 1 by NVLink, 20 to another socket. In between ours: 10 within a
///          socket, 5 behind one PCIe switch, and several links of NVLink so many times nearer.
double distance(const Way& way);

/// Of any two GPUs, for topology::Layout.
std::vector<std::vector<double>> distances(const NodeClass& make);

/// A table of ways, GPU by GPU: a line for each, with a line of numbers above.
std::string table_of_ways(const NodeClass& make);

}  // namespace almanac::cluster
