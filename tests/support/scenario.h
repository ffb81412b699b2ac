// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads scenarios: schedules written by hand in small text files, one behaviour each.
///
/// A line is one statement; '#' begins a comment, and the comments `name:`, `description:` and
/// `source:` at the top are part of the scenario.
///
// clang-format off
///     cluster 2 x 8 gpu [V100] [cpus 24] [memory 256] [bandwidth 100] [limit 150] [rack r1] [uplink 10]
///                           [sockets 2] [nvlink 0+3:2] [nvlink_domain rack]
///                                 one virtual cluster for every job; a further line adds nodes;
///                                 cores, GB, GB/s of a node, watts of a GPU,
///                                 Gb/s of the link of a node; GPUs that NVLink connects, each with
///                                 each, by so many links
///     vc NAME 2 x 8 gpu ...       or several virtual clusters
///     switch r1 uplink 40         Gb/s of the link above a switch
///     storage remote 1 [cache 100]       GB/s from afar and GB, of all jobs
///     capacity NAME 1 nodes at 1h        ("at start": from the beginning)
///     node 0 down at 100s         or `up at`, or `notice 120s at`: so long before it goes
///     closed 100s to 200s [node 1]       a maintenance window, in which no job may run, or none
///                                        starts on that node
///     signal price 3 at 1h
///     job A submit 0s gpus 3 run 100s    [vc X] [user u] [name n] [type V100] [limit 200s]
///                                        [predicted 90s] [cpus 4] [memory 32] [model m] [kind k]
///                                        [reference_cpus 8] [bandwidth 20] [share 0.5]
///                                        [batch 8] [steps 40] [sends 1s of 2s [at 10]]
///                                        [reads 1 of imagenet 100] [group g] [metric 10:0.5|20:0.6]
///                                        [qos q] [tier 2] [requeue no]
///     policy easy+oracle                 [profile helios]; several lines: all give the same schedule
///     speed linear                       jobs run as tests/support/linear.toml says, by their model;
///                                        those without one as recorded; a GPU works in proportion
///                                        to its power limit, of 200 W at most
///     elastic FILE                       jobs whose model is an application of that file of
///                                        tests/support train as it says
///     believes FILE               the policy believes the speeds of that file of tests/support
///     restart 7s 30s 60s                 one, up to eight, more GPUs; one time alone is for all
///     launch 1s
///     seed 7
///     quota 4 users ann,eve       together they may hold 4 GPUs; before the jobs
///     tenant NAME guarantee 4 [limit 8] [borrows no] [parent NAME] [priority 1]
///                 [owns 2 socket] [pins node 3] [tier 2]
///     qos NAME tier 2             priority tier of jobs with that QOS
///     expect A 0s..100s at 0:3  B never too_large  C waits
///     waits C 10s..90s reserved B        all stretches in which C waits, in order
///     waits C 90s..95s behind B because it is expected to take 40 GPU-s, this job 60 GPU-s
///     waits C 95s..99s stopped B because ... for 30 GPU-s    with the cost of the stop
// clang-format on
///
/// A job that is stopped has several stretches: `expect A 0s..10s 40s..137s`. `at` says where the
/// stretch before it ran, with numbers of GPUs as `at 0:[0+3]`; without it any place will do. A job
/// that `waits` never starts though it could, were there room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/play.h"

namespace almanac {

struct ExpectedRun {
  Time start{};
  Time end{};
  std::string place{};  ///< "" = any.
};

struct ExpectedJob {
  JobId job{};
  std::vector<ExpectedRun> runs{};
  std::string never{};  ///< Name of the reason, in lower case; "" = it runs.
};

struct ExpectedWait {
  JobId job{};
  std::string text{};  ///< "10s..90s reserved B".
};

struct Scenario {
  std::string name{};
  std::string description{};
  std::string source{};
  Case input{};
  std::vector<std::string> policies{};
  std::vector<ExpectedJob> jobs{};  ///< One a job, in order of the trace.
  std::vector<ExpectedWait> waits{};
};

/// Reads a scenario. Fails with invalid, naming `file` and the line.
Result<Scenario> parse_scenario(std::string_view text, const std::string& file);

/// The schedule that a scenario asks for, one line a job.
std::string expected_timeline(const Scenario& scenario);
/// What happened, written alike: places only where the scenario names them.
std::string actual_timeline(const Scenario& scenario, const Played& played);
/// Why `job` waited, one line a stretch.
std::string actual_waits(const Scenario& scenario, const sim::Schedule& result);

}  // namespace almanac
