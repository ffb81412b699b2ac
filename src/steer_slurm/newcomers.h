// SPDX-License-Identifier: Apache-2.0

/// \file
/// Answers Slurm's plugin job_submit/almanac, so that a new job has its place in the queue before
/// Slurm first looks at it. Works in its own thread. While the plugin waits, all of slurmctld
/// waits, so the answer must not wait for anything.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "base/result.h"
#include "process/bell.h"
#include "process/descriptor.h"
#include "steer_slurm/newcomer.h"

namespace almanac::steer_slurm {

class Newcomers {
 public:
  /// Must not wait: what cannot be said at once is not said.
  using Ask = std::function<Answer(const manager::Job&)>;

  /// Listens at `path`, where no other may; answers root, this process' user and `slurm_uid`.
  static Result<std::unique_ptr<Newcomers>> listen(const std::string& path, std::uint32_t slurm_uid,
                                                   Ask ask);
  ~Newcomers();
  Newcomers(const Newcomers&) = delete;
  Newcomers& operator=(const Newcomers&) = delete;

 private:
  Newcomers(process::Descriptor socket, std::set<std::uint32_t> may_ask, Ask ask);
  void work();
  /// Whether there is reason to try again at once.
  bool let_one_in();
  void answer(const process::Descriptor& plugin);
  const std::string& user_of(std::uint32_t uid);

  process::Descriptor socket_;
  process::Bell bell_;
  std::set<std::uint32_t> may_ask_;
  Ask ask_;
  std::map<std::uint32_t, std::string> users_;  // that were asked about
  std::thread thread_;                          // the last: all else is there when it begins
};

}  // namespace almanac::steer_slurm
