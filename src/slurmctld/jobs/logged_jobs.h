// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs of a log as the controller of a site received them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/names.h"
#include "slurmctld/jobs/job.h"
#include "trace/trace.h"

namespace almanac::slurmctld {

/// What a log says of a job and the site does not know, or the log does not say.
enum class Lack : std::uint8_t {
  partition,    ///< The site has none of its partitions, or it names none and the site has several:
                ///< the default partition counts.
  association,  ///< Its user has none in its account: neither fair share nor limits of accounts.
  qos,          ///< The site does not have its QOS: the default QOS counts.
  submit_line,  ///< Its submit line does not request what it got: what it got counts.
  reservation,  ///< The site does not have its reservation: it counts as requesting none.
  time_limit,   ///< Its time limit, perhaps extended while it ran, is above that of its partition,
                ///< which counts.
  memory,       ///< Neither the log nor a default of the site gives its memory: it requests none.
  cpus,         ///< The log has none: it requests one CPU per node.
  any_limit,  ///< The log has no time limit: DefaultTime of the partition counts, or else MaxTime.
  count       // how many there are
};

/// Translates jobs of a log into submissions.
///
/// A job requests what its submit line says, if that agrees with the GPUs, nodes and CPUs in the
/// log. Otherwise directives in its script said more, and it requests what it got: its nodes with
/// equal GPUs, CPUs and memory on each. A submit line without memory requests the site's default,
/// or what the log has if a default does not explain that: directives in the script are unknown. If
/// the log has no memory either, slurmctld would have given the job all memory of its nodes unless
/// its script said otherwise. Almanac then counts none, because the whole nodes would be a guess
/// that keeps all other jobs off them. A job becomes eligible when the log says so: begin times,
/// holds and dependencies of the submit line are left out. A job without a QOS has the default QOS
/// of its association, or else "normal".
class LoggedJobs {
 public:
  /// All must outlive it. The names may grow.
  LoggedJobs(const site::Site& site, const NodeTable& table, const Names& names);

  /// Returns the job, without a number. Cost: O(log(distinct submit lines)) once names are known.
  Job translate(const trace::Request& request);
  /// Whether the last translated job lacks something.
  bool lacked(Lack lack) const { return lacks_[static_cast<std::size_t>(lack)]; }

 private:
  using Lacks = std::array<bool, static_cast<std::size_t>(Lack::count)>;
  struct Line {
    bool is_known = false;
    std::optional<Submission> submission{};  // nothing if it cannot be read
  };

  void set_partitions(const trace::Request& request, const Submission* line, Job& job);
  void set_association(const trace::Request& request, const Submission* line, Job& job);
  const Submission* line_of(NameId line);
  bool agrees(const Submission& line, const trace::Request& request,
              const site::Partition& partition) const;
  Submission as_got(const trace::Request& request, const site::Partition& partition);
  void set_memory(const trace::Request& request, NodeRequest& ask);
  const std::vector<FeatureTerm>& features_of(NameId constraints);

  const site::Site& site_;
  const NodeTable& table_;
  const Names& names_;
  std::vector<Line> lines_;                                // by NameId
  std::map<NameId, std::vector<PartitionAt>> partitions_;  // by list
  std::map<NameId, std::vector<FeatureTerm>> features_;    // by constraints
  std::map<std::tuple<NameId, NameId, PartitionAt>, std::int32_t> associations_;
  std::vector<int> gpus_per_node_;  // the most that a node of a partition has
  Lacks lacks_{};
};

/// Returns what `site` does not know of the jobs of a log and what is assumed instead: a sentence
/// for each Lack, with counts and the first names, and with which usage fair share begins.
/// `has_past`: earlier jobs are known, which say what was used before. Cost: O(jobs).
std::vector<std::string> notes_on_lacks(const site::Site& site, const trace::Trace& trace,
                                        bool has_past);

}  // namespace almanac::slurmctld
