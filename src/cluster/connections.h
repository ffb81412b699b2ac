// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the GPUs of a node reach each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace almanac::cluster {

struct NodeClass;

/// The kinds of connection between two GPUs, the fastest first.
enum class Between : std::uint8_t { nvlink, pcie_switch, socket, system };

/// A set of GPUs, each connected to every other in this way.
struct Connection {
  Between by{};             ///< Never `system`, which is the default for GPUs without a connection.
  std::vector<int> gpus{};  ///< In ascending order.
  int links = 1;            ///< NVLink links between any two of the GPUs; 1 for other kinds.

  bool operator==(const Connection&) const = default;
};

/// The fastest connection from one GPU to another.
struct Way {
  Between by = Between::system;
  int links = 1;

  bool operator==(const Way&) const = default;
};

/// Returns "NV4", "PIX" (one PCIe switch), "NODE" (one socket) or "SYS" (another socket), as
/// `nvidia-smi topo -m` prints them.
std::string to_string(const Way& way);

/// Returns "nvlink", "pcie" or "socket", as cluster files spell them.
const char* word_of(Between by);

/// Returns the way between any two GPUs of a node: `[a][b]` = `[b][a]`; `[a][a]` has no meaning.
std::vector<std::vector<Way>> ways(const NodeClass& make);

/// Returns the distance of two GPUs.
///
/// Source   Amaral et al., SC'17: 1 by NVLink, 20 to another socket.
/// Differs  Values in between are ours: 10 within a socket, 5 behind one PCIe switch. Several
///          NVLink links divide the distance by their number.
double distance(const Way& way);

/// Returns the distances of all pairs of GPUs, for topology::Layout.
std::vector<std::vector<double>> distances(const NodeClass& make);

/// Returns the ways as a table: a row for each GPU, below a row of GPU numbers.
std::string table_of_ways(const NodeClass& make);

}  // namespace almanac::cluster
