// SPDX-License-Identifier: Apache-2.0

/// \file
/// The port to the controller of a workload manager: what is new there, and what to change.
///
/// Implementations differ in speed and in their abilities, see can().
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
#include "manager/job.h"
#include "manager/node.h"
#include "manager/site.h"

namespace almanac::manager {

/// Changes since the previous query.
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

/// A change to a pending job; missing members stay as they are.
struct JobChange {
  JobNumber job{};
  std::optional<std::int64_t> site_factor{};
  std::optional<std::uint32_t> priority{};      ///< kUsual: as the manager itself computes it.
  std::optional<bool> held{};                   ///< True = priority 0; false = released.
  bool of_user = false;                         ///< For a hold: the user may release it.
  std::optional<Time> begins{};                 ///< Not earlier; a time that is past = at once.
  std::optional<std::string> required_nodes{};  ///< "" for any.
  std::optional<std::string> comment{};         ///< The administrator's.
  std::optional<int> shards{};  ///< Per node; for a job that requests shards by --gres.

  static constexpr std::uint32_t kUsual = 0xffffffff;
  bool operator==(const JobChange&) const = default;
};

/// What to do with a running job.
enum class Fate : std::uint8_t { requeue, suspend, resume, cancel };
inline constexpr std::array<std::string_view, 4> kFateWords{"requeue", "suspend", "resume",
                                                            "cancel"};
inline std::string_view to_string(Fate fate) { return kFateWords[static_cast<std::size_t>(fate)]; }

/// Abilities of a connection.
struct Abilities {
  bool site_factor = false;  ///< Of a single job, not only its priority.
  bool requeue = false;      ///< Also suspend and resume.
  bool power = false;        ///< Also node weights.
  bool begins = false;       ///< Sets begin times.
};

/// A row of accounting.
using TakeEnded = std::function<Result<void>(Job&&)>;

/// For one thread at a time. Every call may take seconds, because a busy controller answers late.
/// After a failure with `unavailable`, a retry may succeed, and it is unknown whether the change
/// was made.
class Link {
 public:
  virtual ~Link() = default;
  virtual Abilities can() const = 0;
  /// "gateway", "slurmrestd", "commands".
  virtual std::string_view way() const = 0;
  virtual Result<Site> site() = 0;
  /// The first answer, and the first after a failure, is whole.
  virtual Result<News> news() = 0;
  /// Returns one result per change, in order: conflict: the job is no longer pending; not_found:
  /// the manager does not know it; unsupported: not permitted; unavailable: try again.
  virtual std::vector<Result<void>> change(std::span<const JobChange> changes) = 0;
  virtual Result<void> end(JobNumber job, Fate fate) = 0;
  /// Powers nodes down or up; `unsupported` if the site has no programs for that.
  virtual Result<void> power(std::span<const std::string> nodes, bool on) = 0;
  virtual Result<void> weigh(std::span<const std::string> nodes, std::uint32_t weight) = 0;
  /// The jobs that accounting says ended in [from, until), in order of end.
  virtual Result<void> ended(Time from, Time until, const TakeEnded& take) = 0;
  /// How many rows of accounting the last ended() left out because it could not read them.
  virtual std::int64_t unread_rows() const { return 0; }
};

}  // namespace almanac::manager
