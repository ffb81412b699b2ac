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
  double iteration_s = 0;  ///< Alone.
};

/// Jobs, as places in the list of candidates.
using Group = std::vector<std::size_t>;

/// Returns the stages of the jobs of a group, in its order.
std::vector<Stages> stages_of(const Group& group, std::span<const Candidate> jobs);
/// Returns the jobs of `one`, then those of `other`.
Group joined(const Group& one, const Group& other);
/// Returns the kind of each job: jobs with equal stages and iterations are of one kind, and kinds
/// are numbered as they appear.
std::vector<int> kinds_of(std::span<const Candidate> jobs);

/// Groups whose jobs ask the same GPUs.
struct GroupsOf {
  int gpus = 0;
  std::vector<Group> groups{};
};
/// Returns a group for each job, by the GPUs it asks in order of appearance.
std::vector<GroupsOf> single_groups(std::span<const int> gpus_of);
/// Returns all groups, in order.
std::vector<Group> all_groups(std::span<const GroupsOf> by_gpus);

/// Seconds that an iteration of each job of a group takes; alone that of the job.
double iteration_of(const Group& group, std::span<const Candidate> jobs);
/// The weight of a group: the share of four resources that it uses.
double weight_of(const Group& group, std::span<const Candidate> jobs);
/// Whether its jobs would be done sooner one after the other.
bool in_vain(const Group& group, std::span<const Candidate> jobs);

/// Of a group that might be made, not negative; 0 = it may not.
using GroupWeight = std::function<double(const Group&)>;

/// Groups of up to four jobs that ask as many GPUs, merged by matchings of the greatest weight
/// until what they need fits into `gpus`. `gpus_of` says what each job asks.
///
/// Differs  Of more than `most_matched` groups that ask as many, so many in a row are matched by
///          themselves. The published program matches all.
/// Cost     four matchings a number of GPUs; weight() for each pair of groups.
std::vector<Group> group(std::span<const int> gpus_of, int gpus, const GroupWeight& weight,
                         std::size_t most_matched = std::numeric_limits<std::size_t>::max());
/// The same of jobs that take turns, by weight_of().
std::vector<Group> group(std::span<const Candidate> jobs, int gpus);

}  // namespace almanac::interleave
