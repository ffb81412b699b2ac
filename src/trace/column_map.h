// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says which column of a table means what: the description that every CSV reader runs on. The
/// known formats write theirs down in C++, users write theirs in TOML (docs/formats.md).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/job.h"

namespace almanac::trace {

/// What a column can tell about a job.
enum class Field {
  job_id,
  name,
  user,
  vc,
  kind,
  gpu_type,
  model,
  qos,
  alternatives,
  group,
  data_set,
  gpu_profile,
  metric,
  after,
  node_list,
  gpus,
  nodes,
  shards,
  mps,
  attempts,
  max_gpus,
  min_gpus,
  batch,
  steps,
  value,
  restart_s,
  checkpoint_s,
  gpu_share,
  gpu_memory_gb,
  cpus,
  memory_gb,
  reference_cpus,
  reference_memory_gb,
  reference_profile,
  data_gb,
  bandwidth_gbs,
  step_s,
  network_s,
  network_gbps,
  read_gbs,
  submit_s,
  eligible_s,
  gap_s,
  start_s,
  end_s,
  deadline_s,
  worthless_at_s,
  run_s,
  span_s,
  wait_s,
  time_limit_s,
  predicted_s,
  state,
};

/// "job_id", "submit_s", ...: as our own CSV calls its columns.
std::string_view to_string(Field field);

/// How a time or a length of time is written.
enum class Unit {
  any,   ///< Times: a date with time, or seconds, but all in one way. Lengths: seconds.
  date,  ///< "2020-05-27 23:58:26", UTC.
  ms,
  s,
  min,
  h,
  d,      ///< A number of these; times count from the epoch or any other zero.
  clock,  ///< Lengths only: "1-02:03:04", "1 day, 2:03:04", "90s".
};

struct Column {
  Field field{};
  std::string name{};     ///< In the header of the table.
  bool required = false;  ///< Some column of this field must be there, and filled in every row.
  Unit unit = Unit::any;
  double scale = 1;  ///< Multiplies numbers: 0.001 makes cores of millicores.
  /// Columns whose numbers multiply this one's: GPUs of a worker by workers.
  std::vector<std::string> times{};
};

struct ColumnMap {
  char delimiter = '\0';                     ///< NUL = found in the header.
  std::vector<Column> columns{};             ///< The first of a field that the table has is taken.
  std::map<Field, std::string> constants{};  ///< For fields without a column.
  std::map<std::string, JobState, std::less<>> states{};  ///< Words besides the usual ones.

  const Column* find(Field field) const;
};

/// Reads a column map from a TOML file. Fails with invalid, naming the line.
Result<ColumnMap> load_column_map(const std::string& path);

}  // namespace almanac::trace
