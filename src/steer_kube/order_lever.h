// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lever `order`: makes Kueue start the first workloads of each queue in Almanac's order, by the
/// ranks of ranks.h.
///
/// A rank is only ever added to a workload's own number, only while the workload waits, and only in
/// queues that share no cohort and preempt nothing by priority: a rank evicts no workload, and
/// overtakes none of another queue. Each write names the uid and version that it was decided on, so
/// the API server refuses it if anything has changed, and it is in the journal before. Numbers that
/// others write stay. If Almanac dies, ranks stay as they are. That is harmless in BestEffortFIFO
/// queues; a StrictFIFO queue of --backfill waits for the next order, and alarm.h says so.
///
/// A budget (kueue/write_budget.h) limits the writes in BestEffortFIFO queues, and kWritesPerSecond
/// all of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/lease.h"
#include "kube/picture.h"
#include "kueue/write_budget.h"
#include "service/clock.h"
#include "service/manager.h"
#include "steer_kube/lines.h"
#include "steer_kube/order_journal.h"
#include "steer_kube/settings.h"

namespace almanac::steer_kube {

/// Writes one number. The status that the API server answers with, and its words.
struct Written {
  int status = 0;                ///< 0 = no answer.
  std::string message{};         ///< If it is not good.
  Duration pause = kNoDuration;  ///< Retry-After.
};
/// Fails with `invalid` for names that no Kubernetes object has.
Result<Written> write_number(kube::Client& client, const std::string& api_version,
                             const Change& change, const std::string& resource_version);

/// Not thread-safe.
class OrderLever {
 public:
  using Instant = service::Clock::Instant;
  static constexpr int kWritesPerSecond = 5;

  OrderLever(Settings settings, OrderJournal journal)
      : settings_(std::move(settings)), journal_(std::move(journal)) {}

  /// Compares the numbers with the claims, and plans the next changes, the most urgent first.
  /// `ended` workloads have ended since the last call.
  void look(const kube::Picture& picture, const std::vector<Line>& lines, std::int64_t ended);
  /// The next change to make, with the version that it is based on; nothing if the lever rests, has
  /// nothing to do or has spent its budget.
  struct Next {
    Change change{};
    std::string version{};
    bool is_restore = false;  ///< Gives the number back.
    bool is_strict = false;   ///< Of a StrictFIFO queue.

    /// Whether the budget limits it.
    bool is_charged() const { return !is_restore && !is_strict; }
  };
  std::optional<Next> next(Instant now);
  /// Call before a change is made. Fails if the journal cannot be written.
  Result<void> begin(const Next& next, Time at);
  void end(const Next& next, const Written& written, Instant now);
  /// Lets it rest, "" ends that.
  void rest(std::string why) { rests_ = std::move(why); }
  /// Whether it has, or may have, anything to write: the Lease is needed for that only.
  bool wants_lease() const;

  const std::map<std::string, Claim>& claims() const { return journal_.claims(); }
  const std::set<std::string>& foreign() const { return journal_.foreign(); }
  service::LeverView view() const;
  std::vector<std::string> warnings() const;

 private:
  void reconcile(const kube::Picture& picture);
  /// Claims the numbers whose marks are on workloads and that the journal does not have, as after
  /// the loss of the state folder.
  void adopt(const kube::Picture& picture);
  void plan(const kube::Picture& picture, const std::vector<Line>& lines);
  void plan_restores(const kube::Picture& picture, const std::set<std::string>& ranked,
                     std::vector<Next>& made) const;
  /// Names an obstacle of the first queue in which the lever is to act.
  std::string why_idle(const std::vector<Line>& lines) const;
  void drop(const std::string& uid, const std::string& why, bool is_foreign = false);

  Settings settings_;
  OrderJournal journal_;
  std::vector<Next> wanted_{};
  /// Versions on which a change was tried: it waits for news of the workload.
  std::map<std::string, std::string> tried_{};
  kueue::WriteBudget budget_{};
  std::string rests_{};
  std::string idle_{};  ///< Why no queue may get ranks; "" if one may.
  std::string pause_{};
  Instant paused_until_{};
  int failures_ = 0;  ///< Of the server, in a row.
  int refusals_ = 0;  ///< Invalid changes, in a row.
  std::uint64_t done_ = 0, failed_ = 0, refused_ = 0;
  std::string trouble_{};  ///< Of the journal.
};

}  // namespace almanac::steer_kube
