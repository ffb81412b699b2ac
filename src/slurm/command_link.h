// SPDX-License-Identifier: Apache-2.0

/// \file
/// The way to a controller by Slurm's own commands: squeue, scontrol, sinfo, scancel, sacct. Needs
/// nothing but them; a process for each question and for each job that changes (some 10 ms).
///
/// Each news() asks for everything and tells what differs. The site factor of a job can be set, but
/// no command tells it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slurm/differences.h"
#include "slurm/link.h"

namespace almanac::slurm {

/// What a command wrote, and its exit status.
struct Printed {
  std::string out{};
  std::string err{};
  int status = 0;
};

/// Runs a command to its end. Fails with not_found where there is no such program.
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
  /// Renews what fair share goes by, where that is kept and was not asked for lately.
  void renew_associations();

  RunCommand run_;
  Differences differences_;
  Duration skew_ = Duration::zero();
  std::map<std::string, std::string> switches_;  ///< Of each node, as of site().
  std::vector<Association> associations_;        ///< As last told.
  Time associations_seen_ = kNoTime;
  bool keeps_shares_ = false;          ///< As of site().
  bool works_out_priorities_ = false;  ///< The same.
  std::int64_t unread_rows_ = 0;
  bool silent_ = false;  ///< No controller answered the last question.
};

}  // namespace almanac::slurm
