// SPDX-License-Identifier: Apache-2.0

/// \file
/// Studies of the service's own job log as pages, made on request, one at a time, by a thread with
/// lower priority than rounds and answers.
///
/// A page stays valid until a job is submitted, starts or ends; at least five minutes, at most an
/// hour.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "service/service.h"

namespace almanac::serve {

class Studies {
 public:
  /// Days; the default retention of a service.
  static constexpr int kLongest = 366;

  struct Page {
    std::string html{};
    std::string policy{};  ///< Its Content-Security-Policy.
  };
  using Made = Result<std::shared_ptr<const Page>>;

  /// `service` outlives it.
  explicit Studies(const service::Service& service);
  /// Waits for a study that is being made.
  ~Studies();
  Studies(const Studies&) = delete;
  Studies& operator=(const Studies&) = delete;

  /// Returns a study of the jobs that ended within this many days, 1 to kLongest; nothing while it
  /// is being made: ask again. Fails with `not_found` if no job has ended, and with `unsupported`
  /// if the build has no page.
  std::optional<Made> ask(int days);

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    Made made;
    std::uint64_t revision = 0;  // that it is of
    Clock::time_point at{};
  };

  bool is_good(const Kept& kept) const;
  void work();
  Made make(int days) const;

  const service::Service& service_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::map<int, Kept> kept_;  // by days
  std::deque<int> asked_;
  bool stop_ = false;
  std::thread thread_;  // last member: all others exist when it starts
};

/// A page that says that it is not there yet, and looks again by itself.
std::shared_ptr<const Studies::Page> waiting_page();

}  // namespace almanac::serve
