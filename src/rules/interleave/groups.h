// SPDX-License-Identifier: Apache-2.0

/// \file
/// Groups of jobs with equal GPU counts that take turns on the same GPUs, as Muri forms them.
///
/// Source   Zhao et al., SIGCOMM'22, sections 4 and 5, and the simulator published with it.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "rules/interleave/stages.h"

namespace almanac::interleave {

/// A job that may join a group.
struct Candidate {
  int gpus = 1;
  Stages stages{};
  double iteration_s = 0;  ///< Iteration time alone.
};

/// Positions in the list of candidates.
using Group = std::vector<std::size_t>;

/// Returns the stages of the jobs of a group, in its order.
std::vector<Stages> stages_of(const Group& group, std::span<const Candidate> jobs);
/// Returns the jobs of `one`, then those of `other`.
Group joined(const Group& one, const Group& other);
/// Returns the kind of each job: jobs with equal stages and iterations are of one kind, and kinds
/// are numbered as they appear.
std::vector<int> kinds_of(std::span<const Candidate> jobs);

/// Groups of jobs that request the same number of GPUs.
struct GroupsOf {
  int gpus = 0;
  std::vector<Group> groups{};
};
/// Returns one group per job, grouped by requested GPUs in order of appearance.
std::vector<GroupsOf> single_groups(std::span<const int> gpus_of);
/// Returns all groups, in order.
std::vector<Group> all_groups(std::span<const GroupsOf> by_gpus);

/// Returns the seconds of an iteration of each job of a group, or of the job itself if it is alone.
double iteration_of(const Group& group, std::span<const Candidate> jobs);
/// Returns the weight of a group: the fraction of four resources that it uses.
double weight_of(const Group& group, std::span<const Candidate> jobs);
/// Whether the jobs would finish sooner one after the other.
bool in_vain(const Group& group, std::span<const Candidate> jobs);

/// Weight of a possible group, 0 or more; 0 forbids it.
using GroupWeight = std::function<double(const Group&)>;

/// Forms groups of up to four jobs with equal GPU counts. Merges them by maximum-weight matchings
/// until they fit into `gpus`. `gpus_of` is the number of GPUs of each job.
///
/// Differs  Matches more than `most_matched` groups of one GPU count in blocks of that size. The
///          published program matches all of them at once.
/// Cost     four matchings per GPU count; weight() for each pair of groups
std::vector<Group> group(std::span<const int> gpus_of, int gpus, const GroupWeight& weight,
                         std::size_t most_matched = std::numeric_limits<std::size_t>::max());
/// Forms groups of jobs that take turns, weighted by weight_of().
std::vector<Group> group(std::span<const Candidate> jobs, int gpus);

}  // namespace almanac::interleave
