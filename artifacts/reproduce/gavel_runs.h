// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs of Gavel's published simulator, played again and laid beside what it printed job by job.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reproduce/bench.h"
#include "reproduce/gavel_data.h"

namespace almanac::reproduce {

/// The jobs over which figures of generated streams are means (Gavel, section 7.1).
inline constexpr int kMeasuredFrom = 4000;
inline constexpr int kMeasuredUntil = 5000;
/// GPUs of each type in those runs.
inline constexpr int kEachType = 36;

inline constexpr const char* kGavelRuns = "printed by the program of Gavel's authors";

struct PublishedJob {
  int number = 0;
  double arrival_s = 0;
  double jct_s = 0;
};

/// Columns job, arrival_s, jct_s.
std::vector<PublishedJob> read_jobs(const std::string& path);

/// Adds a row that counts jobs whose JCT is equal to 1e-6, and one of the mean over them. If a job
/// has no end in ours, the mean has no result, and its remark says why: `played` is the number of
/// jobs that were played, and published jobs may have later numbers. Both rows have `remark`.
void compare_jobs(Bench& bench, const std::string& what, const std::vector<PublishedJob>& published,
                  const std::vector<gavel::Ended>& ours, std::size_t played,
                  const std::string& remark = "");

/// A generated stream, played.
struct StreamCourse {
  std::size_t jobs = 0;  ///< Jobs of the stream.
  gavel::Course course{};
  /// The program of the paper draws jobs until those that are measured have ended; a stream has
  /// only so many. Says so if they did not suffice; else "".
  std::string remark{};
};

/// Plays a generated stream, `per_hour` jobs an hour, on kEachType GPUs of each type. Malformed
/// when no policy is called so.
StreamCourse play_stream(const std::string& stream, const ModelSpeeds& speeds, double mean_gap_s,
                         std::string_view policy, std::uint32_t seed);

/// The mean JCT of the measured jobs beside the published one, both in units of `unit_s` seconds.
Row mean_row(std::string what, double published, const StreamCourse& played, std::string unit,
             double unit_s = 1);

/// "continuous_allox_seed42_0.4_per_hour".
struct StreamRun {
  std::string policy{};
  std::uint32_t seed = 0;
  double per_hour = 0;
};
/// Malformed when the stem says something else.
StreamRun read_stream_run(const std::string& stem);

/// Where the stream of a seed lies: "data/elastic/gavel/continuous_single_gpu_seed42.csv" by seed.
using Streams = std::map<std::uint32_t, std::string>;
inline constexpr const char* kStreams = "data/elastic/gavel/continuous_single_gpu_seed*.csv";
Streams find_streams(Bench& bench);

/// A file of a run over a stream, job by job.
void compare_stream(Bench& bench, const File& file, const Streams& streams,
                    const ModelSpeeds& speeds);

/// trace_runs_jobs.csv with the clusters of runs_summary.csv beside it.
void compare_traces(Bench& bench, const File& file,
                    const std::map<std::string, std::vector<gavel::Job>>& traces,
                    const ModelSpeeds& speeds);

}  // namespace almanac::reproduce
