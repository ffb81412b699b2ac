// SPDX-License-Identifier: Apache-2.0

/// \file
/// The head's side of boxes: which have joined, which report, and what they run.
///
/// Its state is on the disk: `boxes.json` in the state folder, and `tasks.json` in the folder of
/// each run (shepherd/remote.h), which it alone changes. A restarted head needs nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "boxes/wire.h"
#include "shepherd/remote.h"

namespace almanac::boxes {

/// A box without a report for this long is silent.
inline constexpr Duration kSilence = 30s;

/// Thread-safe.
class Head {
 public:
  struct Joined {
    std::string name{};
    std::string id{};  ///< Of its state folder; "" if it was declared gone.
    std::string hardware{};
    std::string cluster{};         ///< Its nodes, as keep_clusters() was given them last.
    std::set<std::string> gone{};  ///< Earlier ids, which never run anything again.
    bool is_damaged = false;       ///< Its hardware cannot be read; the next report replaces it.
  };
  struct Clocks {
    std::function<Duration()> since_boot;  ///< Never set; counts while the machine sleeps.
    std::function<Time()> wall;
  };
  using Say = std::function<void(const std::string&)>;
  /// Output that a log lacks, because it could not be written.
  struct Missing {
    std::size_t bytes = 0;
    std::string why{};
  };

  /// Reads the boxes of a state folder, in order of joining. Fails with `corrupt` if their names
  /// cannot be read: their order numbers the nodes that jobs hold.
  static Result<std::unique_ptr<Head>> open(const std::string& state, Clocks clocks, Say say);
  /// Keeps the nodes of each box, by its name, apart from its hardware: they number the nodes that
  /// jobs hold, also if the hardware becomes unreadable. Marks boxes that are not named as damaged.
  /// Fails like the disk; boxes are marked nevertheless.
  Result<void> keep_clusters(const std::map<std::string, std::string>& clusters);

  std::vector<Joined> boxes() const;
  /// Returns the names of the boxes that were declared gone, and have not joined again.
  std::set<std::string> gone() const;
  /// What a box passes that joins for the first time, or with other hardware.
  struct Entrance {
    /// Fails if these boxes cannot be the next cluster.
    std::function<Result<void>(const std::vector<Joined>&)> fits;
    /// Called when it has joined: its nodes are not in the cluster yet.
    std::function<void()> joined;
  };
  void on_join(Entrance entrance);

  /// Takes the report of a box, and returns the answer. Fails with `conflict` if another machine
  /// has joined by this name, the box has other hardware than when it joined and was not declared
  /// gone since, or does not fit in (Entrance), with `invalid` if it is no report, and with
  /// `unavailable` if the disk refuses.
  Result<std::string> take(const std::string& box, std::string_view report);
  /// Creates the logs of a run as its user, once for all its tasks, and returns a Logs in JSON.
  Result<std::string> open_logs(const std::string& box, const std::string& key);
  /// Appends output of a run to the log of its job: `stream` is "out" or "err", `offset` counts the
  /// bytes of this run on this box before. Returns up to where the head has it, so a repeated piece
  /// is not written twice: `offset` if the piece is still being written, or too many others are. A
  /// crash between write and record may repeat one piece. Fails with `unavailable` while the disk
  /// refuses the record, and then does not write the piece again.
  Result<std::int64_t> append(const std::string& box, const std::string& key,
                              const std::string& stream, std::int64_t offset,
                              std::string_view piece);

  /// Returns the boxes that take no new runs: those that do not report, and for a minute those that
  /// could not start a run, for example because their disk is full. Takes back what silent boxes
  /// were never sent.
  std::set<std::string> without_new_runs();
  /// Ends the runs of a box that is known not to run any more, as lost. If the box reports again,
  /// it must end what it has first. Fails with `not_found`, and with `conflict` while it reports.
  Result<void> declare_gone(const std::string& box);

 private:
  /// Pieces in logs of which there is no record yet, and what logs lack. Shared, because a writer
  /// may outlive the head.
  struct Unrecorded {
    std::mutex mutex;
    std::map<std::string, std::int64_t> ends;  // by key of the run and name of the record
    std::map<std::string, Missing> missing;

    void set_missing(const std::string& own, const Missing& what) {
      missing.erase(own);
      if (what.bytes > 0) missing.emplace(own, what);
    }
  };
  /// A log that lacks output without saying so.
  struct Notice {
    std::string own{};   // in Unrecorded::missing
    std::string path{};  // of the record
    shepherd::Spec spec{};
    std::string name{};  // of the log
  };
  struct Known {
    shepherd::RemoteRun run{};
    std::string folder{};
  };
  Head(std::string state, Clocks clocks, Say say);

  Result<void> write_boxes(const std::vector<Joined>& all) const;
  /// The box that reports, registered if it is new. Nothing if its state was declared gone.
  Result<bool> admit(const std::string& box, const Report& report);
  /// Reads the folders of runs that are new, and forgets those that are gone.
  void look_at_runs();
  /// The run that has this key, and the task of the box.
  std::pair<Known*, std::size_t> find(const std::string& box, const std::string& key);
  Result<void> apply(const std::string& box, const RunReport& said, Duration ahead);
  /// The logs of the runs in a report that lack output and do not say so yet.
  std::vector<Notice> notices(const std::string& box, const Report& report);
  /// Tries to say it, also if the run prints nothing more. Waits a moment for each.
  void tell(const std::vector<Notice>& notices);
  /// Gives a box no runs for a minute, since it could not start one.
  void set_aside(const std::string& box, const std::string& why);
  Result<void> end_task(Known& known, std::size_t task, shepherd::Outcome outcome);
  Result<void> add_orders(const std::string& box, const Report& report, Orders& to);

  const std::string state_;
  const Clocks clocks_;
  const Say say_;
  mutable std::mutex mutex_;
  Entrance entrance_;
  std::vector<Joined> boxes_;
  std::map<std::string, Duration> heard_;        // by box; since boot
  std::map<std::string, Duration> aside_until_;  // by box; since boot
  Duration begun_{};
  std::map<std::string, Known> runs_;  // by name: "17.1"
  const std::shared_ptr<Unrecorded> unrecorded_ = std::make_shared<Unrecorded>();
};

}  // namespace almanac::boxes
