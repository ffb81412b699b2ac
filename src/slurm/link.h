// SPDX-License-Identifier: Apache-2.0

/// \file
/// The one port to a Slurm controller: what is new there, and what is to change.
///
/// Three ways lie behind it: the gateway, a program of its own that speaks libslurm; slurmrestd;
/// Slurm's commands. They differ in speed and in what they can do, which can() tells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "slurm/job.h"
#include "slurm/node.h"

namespace almanac::slurm {

/// What has changed since it was asked before.
struct News {
  Time at{};           ///< By the controller's clock.
  bool whole = false;  ///< All there is: what is not mentioned is not there any more.
  std::vector<Job> jobs{};
  std::vector<JobNumber> gone{};  ///< Neither wait nor run, and the controller has forgotten them.
  std::vector<Node> nodes{};
  std::vector<std::string> lost_nodes{};
  std::optional<std::vector<Partition>> partitions{};  ///< All of them, if one has changed.
  std::optional<std::vector<Reservation>> reservations{};
  std::optional<std::vector<Licence>> licences{};
  std::optional<Limits> limits{};
  std::optional<std::vector<Association>> associations{};  ///< All of them, if one has changed.
};

/// What is to change of one job that waits; what is missing stays.
struct JobChange {
  JobNumber job{};
  std::optional<std::int64_t> site_factor{};
  std::optional<std::uint32_t> priority{};      ///< kUsual = as Slurm itself would have it.
  std::optional<bool> held{};                   ///< True = priority 0; false = released.
  bool of_user = false;                         ///< Of a hold: its user may end it.
  std::optional<Time> begins{};                 ///< Not earlier; a time that is past = at once.
  std::optional<std::string> required_nodes{};  ///< "" = any.
  std::optional<std::string> comment{};         ///< The administrator's.
  std::optional<int> shards{};  ///< Of each node; of a job that asks shards by --gres.

  static constexpr std::uint32_t kUsual = 0xffffffff;
  bool operator==(const JobChange&) const = default;
};

/// What is to become of one that runs.
enum class Fate : std::uint8_t { requeue, suspend, resume, cancel };
inline constexpr std::array<std::string_view, 4> kFateWords{"requeue", "suspend", "resume",
                                                            "cancel"};
inline std::string_view to_string(Fate fate) { return kFateWords[static_cast<std::size_t>(fate)]; }

/// What a way to Slurm can do.
struct Abilities {
  bool site_factor = false;  ///< Of one job, not only its priority.
  bool requeue = false;      ///< And to suspend and resume.
  bool power = false;        ///< And to weigh nodes.
  bool begins = false;       ///< It sets when a job may begin.
};

/// A row of accounting.
using TakeEnded = std::function<Result<void>(Job&&)>;

/// One thread at a time. Every call may take seconds: a controller that is busy answers late. What
/// fails with unavailable may work a moment later; nothing is known then of whether it was done.
class Link {
 public:
  virtual ~Link() = default;
  virtual Abilities can() const = 0;
  /// "gateway", "slurmrestd", "commands".
  virtual std::string_view way() const = 0;
  virtual Result<Site> site() = 0;
  /// The first answer, and the first after a failure, is whole.
  virtual Result<News> news() = 0;
  /// An answer for each, in order: conflict = it does not wait any more, not_found = Slurm does not
  /// know it, unsupported = we may not, unavailable = try again.
  virtual std::vector<Result<void>> change(std::span<const JobChange> changes) = 0;
  virtual Result<void> end(JobNumber job, Fate fate) = 0;
  /// Powers nodes down or up; unsupported where the site has no programs for that.
  virtual Result<void> power(std::span<const std::string> nodes, bool on) = 0;
  virtual Result<void> weigh(std::span<const std::string> nodes, std::uint32_t weight) = 0;
  /// The jobs that accounting says ended in [from, until), in order of end.
  virtual Result<void> ended(Time from, Time until, const TakeEnded& take) = 0;
  /// How many rows of accounting the last ended() left out because it could not read them.
  virtual std::int64_t unread_rows() const { return 0; }
};

}  // namespace almanac::slurm
