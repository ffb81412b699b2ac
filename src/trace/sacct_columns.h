// SPDX-License-Identifier: Apache-2.0

/// \file
/// The columns of sacct and the form of their values: which texts a column can contain, and the
/// codes that Slurm uses for missing values.
///
/// Source   sacct(1), slurm/slurm.h and src/sacct of Slurm 20.11 to 25.05.
#pragma once

#include <string>
#include <string_view>

namespace almanac::trace {

/// The form of the values of a column.
enum class SacctKind {
  id,       ///< "12", "12_3", "12_[1-9%2]", "12+1", "12.batch": never empty.
  time,     ///< "2025-01-31T10:00:00" in whatever zone, seconds since 1970, "Unknown".
  length,   ///< "1-02:03:04", "03:04.500", "UNLIMITED".
  count,    ///< "12", "2K", "Partition_Limit".
  amount,   ///< "1234K", "4Gn" (a node), "2Gc" (a core).
  tres,     ///< "cpu=8,gres/gpu:a100=2", "gpu:a100:2(S:0)".
  state,    ///< "COMPLETED", "CANCELLED by 1001", "OUT_OF_ME+".
  word,     ///< A name without blanks: a user, a partition.
  nodes,    ///< "n[01-04]", "None assigned".
  exit,     ///< "0:9".
  feature,  ///< Argument of --constraint: "a100|h100". May contain the delimiter.
  text,     ///< Whatever a user wrote. May hold the delimiter and newlines.
  nothing,  ///< Behind the last delimiter of sacct -p.
};

/// The rows in which sacct never leaves the column empty, even without a value.
enum class SacctFilled { any, jobs, all };

struct SacctColumn {
  std::string_view name{};
  SacctKind kind = SacctKind::text;
  /// Width of the number in Slurm, which determines its codes for "no value"; 0 if it is not a
  /// number.
  int bits = 0;
  SacctFilled filled = SacctFilled::any;
};

/// The column that a header calls `name`, in upper or lower case; one that no release has is a
/// text, for nothing is known of its values.
SacctColumn sacct_column(std::string_view name);

/// Whether the values of a column may hold the delimiter.
constexpr bool can_hold_delimiter(SacctKind kind) {
  return kind == SacctKind::text || kind == SacctKind::feature;
}

/// Whether `cell` can stand in a column of that kind. Empty ones can, but for ids.
bool fits(SacctKind kind, std::string_view cell);

/// Whether `number`, kept in that many bits, is one of Slurm's codes for "no value" or "infinite".
bool is_no_value(double number, int bits);

/// Returns the value of a cell: "" for every form of a missing value, including "Unknown" for a
/// time; counts without unit prefixes. `scratch` keeps text that is not part of `cell`.
std::string_view value_in(const SacctColumn& column, std::string_view cell, std::string& scratch);

/// Whether the id is that of a job step, "12.batch".
constexpr bool is_step(std::string_view id) { return id.find('.') != std::string_view::npos; }

}  // namespace almanac::trace
