// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job log to study: the options that select its jobs and cluster, and the head of a report on
/// it.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/trace_options.h"
#include "cluster/cluster.h"
#include "figure/document.h"
#include "study/study.h"

namespace almanac::cli {

/// The log, jobs and cluster that a command line selects.
struct StudiedTrace {
  trace::Trace trace;
  cluster::Cluster cluster;
  std::string filter;  ///< "submitted from 2020-05-01"; "" = every job.
};

/// --cluster --from --to, each with `suffix` where two logs are asked for.
struct StudyOptions {
  std::string cluster{};
  std::string from{};
  std::string to{};

  void add_to(CLI::App& command, const std::string& suffix = "");
  /// Reads the log, keeps the jobs of the time asked for, and reads or infers the cluster. Notes go
  /// to stderr.
  Result<StudiedTrace> load(const TraceOptions& trace) const;
};

/// Returns the name of a file without folder and endings.
std::string short_name(const std::string& path);

/// Fills in title, subtitle, facts, notes and provenance of the report on one log.
void describe(figure::Document& document, const StudiedTrace& studied, const study::Study& study,
              const std::vector<std::string>& command);

/// Adds the second log of a comparison to a report that describe() introduced.
void add_second(figure::Document& document, const StudiedTrace& second);

}  // namespace almanac::cli
