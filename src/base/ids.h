// SPDX-License-Identifier: Apache-2.0

/// \file
/// Index types that cannot be mixed up. Each is an index into a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace almanac {

enum class JobId : std::uint32_t {};     ///< Position in order of arrival.
enum class NodeId : std::uint32_t {};    ///< Position in the cluster; a VC's nodes are consecutive.
enum class VcId : std::uint32_t {};      ///< Virtual cluster (Slurm partition or account).
enum class NameId : std::uint32_t {};    ///< A string of a Names pool; 0 = not given.
enum class DemandId : std::uint32_t {};  ///< A distinct resource demand of a run.
enum class TenantId : std::uint16_t {};  ///< Position in Cluster::tenants.
enum class ClaimId : std::uint32_t {};   ///< What jobs claim of quotas; 0 = nothing.

inline constexpr NameId kNoName{0};
inline constexpr ClaimId kNoClaim{0};
inline constexpr JobId kNoJob{std::numeric_limits<std::uint32_t>::max()};
inline constexpr NodeId kNoNode{std::numeric_limits<std::uint32_t>::max()};
inline constexpr TenantId kNoTenant{std::numeric_limits<std::uint16_t>::max()};
inline constexpr VcId kNoVc{std::numeric_limits<std::uint32_t>::max()};

/// Returns the index as a number.
template <typename Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace almanac
