// SPDX-License-Identifier: Apache-2.0

/// \file
/// A connection to a controller by Slurm's own commands: squeue, scontrol, sinfo, scancel, sacct.
/// Needs nothing else; costs a process for each query and each changed job (about 10 ms).
///
/// Each news() queries everything and returns the differences. The site factor of a job can be set,
/// but no command prints it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slurm/differences.h"
#include "slurm/types.h"

namespace almanac::slurm {

/// Output of a command, and its exit status.
struct Printed {
  std::string out{};
  std::string err{};
  int status = 0;
};

/// Runs a command to its end. Fails with `not_found` if there is no such program.
using RunCommand =
    std::function<Result<Printed>(const std::vector<std::string>& argv, Duration patience)>;

/// Commands of this machine, which write times as seconds since 1970.
Result<Printed> run_slurm(const std::vector<std::string>& argv, Duration patience);

class CommandLink final : public Link {
 public:
  explicit CommandLink(RunCommand run = run_slurm) : run_(std::move(run)) {}

  Abilities can() const override { return {.requeue = true, .power = true, .begins = true}; }
  std::string_view way() const override { return "commands"; }
  Result<Site> site() override;
  Result<News> news() override;
  std::vector<Result<void>> change(std::span<const JobChange> changes) override;
  Result<void> end(JobNumber job, Fate fate) override;
  Result<void> power(std::span<const std::string> nodes, bool on) override;
  Result<void> weigh(std::span<const std::string> nodes, std::uint32_t weight) override;
  Result<void> ended(Time from, Time until, const TakeEnded& take) override;
  std::int64_t unread_rows() const override { return unread_rows_; }

 private:
  /// Its output, if it ends well.
  Result<std::string> ask(const std::vector<std::string>& argv);
  /// Sets "state=..." of nodes.
  Result<void> update(std::span<const std::string> nodes, const std::string& what);
  Result<void> change_one(const JobChange& change);
  Result<Picture> picture();
  /// Refreshes the inputs of fair share, if the site uses it and they are old.
  void renew_associations();

  RunCommand run_;
  Differences differences_;
  Duration skew_ = Duration::zero();
  std::map<std::string, std::string> switches_;  ///< By node, from site().
  std::vector<Association> associations_;        ///< From the last answer.
  Time associations_seen_ = kNoTime;
  bool keeps_shares_ = false;          ///< From site().
  bool works_out_priorities_ = false;  ///< From site().
  std::int64_t unread_rows_ = 0;
  bool silent_ = false;  ///< No controller answered the last question.
};

}  // namespace almanac::slurm
