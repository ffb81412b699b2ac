// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses generic resources as Slurm writes them: those of a node, "gpu:v100:8(S:0-1),shard:16";
/// those that a job requests, "gres:gpu:2", "gres/gpu:v100:2"; those that it holds of a node,
/// "gpu:v100:2(IDX:0-1)".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::text {

/// GPUs of one type, or MIG instances of one size; Slurm counts both as gres/gpu.
struct TypedGpus {
  std::string type{};
  int count = 0;

  bool operator==(const TypedGpus&) const = default;
};

struct Gres {
  int gpus = 0;
  std::string gpu_type{};   ///< Several types as "a100|h100".
  std::uint64_t index = 0;  ///< A bit for each GPU in IDX, of whole GPUs or of their shards. GPUs
                            ///< from 64 on have no bit.
  int shards = 0;
  int mps = 0;
  std::vector<TypedGpus> types{};  ///< GPUs whose type is given, in order.

  bool operator==(const Gres&) const = default;
};

/// Parses a list. "", "(null)" and "N/A" are empty lists; resources other than GPUs are ignored.
/// Returns nothing if `text` is not a list of resources.
std::optional<Gres> parse_gres(std::string_view text);

/// Returns `count` x `over`, at most one million, the largest count in a list.
int times(int count, int over);

}  // namespace almanac::text
