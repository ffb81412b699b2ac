// SPDX-License-Identifier: Apache-2.0

/// \file
/// Leaves a run on disk as a folder that anyone can analyse; docs/reference/formats.md describes
/// it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/experiment.h"
#include "experiment/summary.h"
#include "process/descriptor.h"

namespace almanac::experiment {

/// Creates the folder `path`, or clears an earlier run from it, and locks it while the result
/// lives. Fails with `conflict` if it contains anything else, or while another process writes a run
/// there.
Result<process::Descriptor> open_run_directory(const std::string& path);

/// Writes <policy>/jobs.csv, waits.csv.zst and timeline.csv.
Result<void> write_policy_run(const std::string& path, const Prepared& prepared, std::size_t run,
                              const sim::Schedule& schedule);

/// Writes summary.json, cluster.toml and, last, run.json. `command` is the command line.
Result<void> write_run(const std::string& path, const Prepared& prepared,
                       const std::vector<Summary>& summaries,
                       const std::vector<std::string>& command, bool complete);

/// The contents of run.json.
struct RunRecord {
  Experiment experiment;
  std::string trace_sha256;
  std::string configuration_hash;
  std::string version;
  bool complete = true;
};

Result<RunRecord> read_run(const std::string& path);
Result<std::vector<Summary>> read_summaries(const std::string& path);

/// Converts summaries to the text of summary.json, and back; errors name `file`.
std::string to_json(const std::vector<Summary>& summaries);
Result<std::vector<Summary>> parse_summaries(const std::string& text, const std::string& file);

/// A hash over all that decides the schedules: policies, cluster, costs, load, seed. Hexadecimal.
std::string configuration_hash(const Prepared& prepared);

}  // namespace almanac::experiment
