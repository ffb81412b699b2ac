// SPDX-License-Identifier: Apache-2.0

/// \file
/// A machine that has joined a head: runs what the head wants there, each run under a shepherd, and
/// reports.
///
/// Its state folder has the runs, and survives the box's process: a restarted one adopts what runs.
/// While the head is silent, runs continue, and their ends are reported when it answers again. A
/// box never ends a run because the head is silent.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "boxes/wire.h"
#include "process/bell.h"
#include "process/descriptor.h"
#include "shepherd/run.h"

namespace almanac::boxes {

class Box {
 public:
  /// Sends `body` to a path of the head's API, and returns the body of the answer. Fails with
  /// `conflict` if the head refuses the box, and otherwise with `unavailable`.
  using Ask = std::function<Result<std::string>(const std::string& path, const std::string& body)>;
  using Say = std::function<void(const std::string&)>;
  struct Config {
    std::string state;  ///< Folder; is created.
    std::string name;
    std::string hardware;  ///< machine::describe_box.
    Ask ask;
    std::function<Time()> wall;
  };

  /// Fails with `conflict` if another process uses the folder.
  static Result<std::unique_ptr<Box>> open(Config config, Say say);

  /// Reports once, and does what the head wants. Fails like `ask`; what runs continues.
  Result<void> step();
  /// Steps at least once a second until `stop` is set and wake() called. Runs continue after that.
  /// Calls `alive` at each step. Tries again for ever, also if the head refuses the box: an
  /// operator may have renewed a key or declared another machine gone.
  void run(const std::atomic<bool>& stop, const std::function<void()>& alive);
  /// Safe in a signal handler.
  void wake() { bell_.ring(); }
  /// Returns how many runs the box has.
  std::size_t size() const { return runs_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    std::string spec{};                  ///< Until it is started; "" from then on.
    std::optional<shepherd::Run> run{};  ///< If it was started.
    std::optional<shepherd::Outcome> outcome{};
    std::map<std::string, std::int64_t> sent{};  ///< Bytes of output, by stream.
    bool is_all_sent = false;                    ///< Of its output, since it has ended.
    std::string order{};                         ///< As carried out.
    std::string limits{};
  };

  Box(Config config, Say say, process::Descriptor lock);
  Result<void> read_state();
  std::string folder(const char* what, const std::string& key) const;

  void look();
  /// Sends output that is new, of each run in turn, for a few seconds at most: the head must hear
  /// of the box in between.
  Result<void> send_output();
  /// Sends what is new of one run. True if all of it is sent.
  Result<bool> send_output(const std::string& key, Held& held, Clock::time_point until);
  Result<bool> send_stream(const std::string& key, Held& held, const std::string& stream,
                           Clock::time_point until);
  Result<void> carry_out(const RunOrder& order);
  /// Starts a run once the head has opened its logs. Fails like `ask`; to be called again.
  Result<void> start(const std::string& key, Held& held);
  /// Waits until the next report is due: after kEvery, or when a run has ended or `wake` is called.
  void wait_for_news();
  void end_unwanted(const std::string& key, Held& held);
  /// Forgets a run that has ended, and whose end the head has recorded.
  void forget(const std::string& key);
  Result<void> begin_again();

  const Config config_;
  const Say say_;
  const process::Descriptor lock_;
  process::Bell bell_;
  std::string id_;
  std::map<std::string, Held> runs_;  // by key
  std::string last_sent_;             // the run whose output was sent last
  bool reports_at_once_ = false;      // others wait to hear that this box has its task
};

}  // namespace almanac::boxes
