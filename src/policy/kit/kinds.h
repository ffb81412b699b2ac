// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which nodes a job may have together: those of one kind if that is enough, else those of all
/// kinds with one GPU type.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "cluster/ledger.h"

namespace almanac::policy {

/// Pools from which one job is placed.
using Kinds = std::span<const cluster::Pool* const>;

/// Calls `take(kinds)` with all pools that suit `demand` and have one GPU type, type by type, if
/// there are several such pools, until it returns true. Returns whether it did.
template <typename Take>
bool across_kinds(std::span<const cluster::Pool> pools, const cluster::Demand& demand,
                  Take&& take) {
  if (pools.size() < 2) return false;
  std::vector<const cluster::Pool*> alike;
  std::uint64_t tried = 0;
  for (const cluster::Pool& first : pools) {
    if (!first.suits(demand) || (tried & first.gpu_type) != 0) continue;
    tried |= first.gpu_type;
    alike.clear();
    for (const cluster::Pool& pool : pools) {
      if (pool.gpu_type == first.gpu_type && pool.suits(demand)) alike.push_back(&pool);
    }
    if (alike.size() > 1 && take(Kinds(alike))) return true;
  }
  return false;
}

/// Whether several kinds of node with one GPU type suit `demand`.
inline bool spans_kinds(std::span<const cluster::Pool> pools, const cluster::Demand& demand) {
  return across_kinds(pools, demand, [](Kinds) { return true; });
}

/// Calls `take` first with each single kind that suits `demand`, and then as across_kinds() does.
template <typename Take>
bool by_kind(std::span<const cluster::Pool> pools, const cluster::Demand& demand, Take&& take) {
  for (const cluster::Pool& pool : pools) {
    const cluster::Pool* const alone = &pool;
    if (pool.suits(demand) && take(Kinds(&alone, 1))) return true;
  }
  return across_kinds(pools, demand, take);
}

inline int free_gpus(Kinds kinds) {
  int free = 0;
  for (const cluster::Pool* const pool : kinds) free += pool->free_gpus;
  return free;
}

}  // namespace almanac::policy
