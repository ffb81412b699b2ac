// SPDX-License-Identifier: Apache-2.0
#include "slurm_replay/replay.h"

#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <pwd.h>

#include "slurm_replay/arrivals.h"

namespace almanac::replay {
namespace {

/// Counts calls and adds up how long they take; of any thread.
class Calls {
 public:
  template <typename Call>
  auto time(Call&& call) {
    const auto begin = std::chrono::steady_clock::now();
    auto answer = call();
    const std::scoped_lock lock(mutex_);
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ++count_;
    return answer;
  }
  double mean_s() const { return count_ == 0 ? 0 : total_ / static_cast<double>(count_); }

 private:
  std::mutex mutex_;
  double total_ = 0;
  std::int64_t count_ = 0;
};

struct Progress {
  std::uint32_t number = 0;  // of Slurm; 0 = not there
  Time known = kNoTime;      // when the answer to its submission came
  Time submit = kNoTime;
  Time start = kNoTime;
  Time end = kNoTime;
  int restarts = 0;
  bool held = false;
  bool failed = false;
};

class Replay {
 public:
  Replay(trace::Trace& trace, std::vector<std::uint32_t> uids, Controller& controller,
         const Options& options)
      : trace_(trace),
        uids_(std::move(uids)),
        controller_(controller),
        options_(options),
        jobs_(trace.jobs.size()) {}

  Report run() {
    std::thread submitter([&] { submit_all(); });
    while (!is_over()) {
      look();
      end_due();
      std::this_thread::sleep_for(options_.poll);
    }
    submitter.join();
    conclude();
    return report_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Due {
    Time at;
    std::size_t job;
    bool operator>(const Due& other) const { return at > other.at; }
  };

  std::string name_of(NameId name) const {
    return name == kNoName ? "" : std::string(trace_.names[name]);
  }

  Time now() const { return Time{} + std::chrono::duration_cast<Duration>(Clock::now() - begin_); }

  void submit_all() {
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      std::this_thread::sleep_until(begin_ + trace_.jobs[job].request.submit.time_since_epoch());
      submit(job);
    }
    const std::scoped_lock lock(mutex_);
    all_submitted_ = true;
    last_act_ = now();
  }

  void submit(std::size_t job) {
    const trace::Request& request = trace_.jobs[job].request;
    const Asked asked{.uid = uids_[job],
                      .name = std::string(trace_.names[request.name]),
                      .partition = request.partition == kNoName
                                       ? options_.partition
                                       : std::string(trace_.names[request.partition]),
                      .account = name_of(request.account),
                      .qos = name_of(request.qos),
                      .gpus = request.gpus,
                      .limit_min = limit_min(request),
                      .mark = job};
    Progress& progress = jobs_[job];
    {
      const std::scoped_lock lock(mutex_);
      if (progress.submit == kNoTime) progress.submit = now();
    }
    while (true) {
      auto number = submits_.time([&] { return controller_.submit(asked); });
      std::unique_lock lock(mutex_);
      if (number) {
        progress.number = *number;
        progress.known = now();
        return;
      }
      if (number.error().code != Code::unavailable) {
        fmt::print(stderr, "job {}: {}\n", job, to_string(number.error()));
        progress.failed = true;
        ++report_.refused;
        return;
      }
      // Whether it was done is known only when a look has seen the job, or not.
      const int looked = looks_that_told_;
      while (looks_that_told_ < looked + 2) {
        lock.unlock();
        std::this_thread::sleep_for(options_.poll);
        lock.lock();
        if (progress.number != 0) return;
      }
    }
  }

  void look() {
    const Time asked = now();
    auto seen = looks_.time([&] { return controller_.look(); });
    if (!seen) {
      ++report_.silences;
      return;
    }
    if (!*seen) return;
    std::vector<std::size_t> again;
    {
      const std::scoped_lock lock(mutex_);
      ++looks_that_told_;
      std::vector<bool> is_there(jobs_.size());
      for (const Seen& each : **seen) {
        if (each.mark >= jobs_.size()) continue;
        is_there[each.mark] = true;
        take(each);
      }
      for (std::size_t job = 0; job < jobs_.size(); ++job) {
        Progress& progress = jobs_[job];
        const bool should_be_there = progress.number != 0 && progress.known < asked &&
                                     progress.end == kNoTime && !progress.failed;
        if (!should_be_there || is_there[job]) continue;
        ++report_.forgotten;
        if (progress.start != kNoTime) {
          ++report_.ran_twice;
          progress.start = kNoTime;
        }
        progress.number = 0;
        again.push_back(job);
      }
    }
    for (const std::size_t job : again) submit(job);
  }

  void take(const Seen& seen) {
    Progress& progress = jobs_[seen.mark];
    if (progress.number == 0) {
      progress.number = seen.number;
      progress.known = now();
    }
    progress.held = seen.held;
    if (progress.failed) return;
    if (seen.restarts > progress.restarts) {
      progress.restarts = seen.restarts;
      ++report_.ran_twice;
      progress.start = progress.end = kNoTime;
    }
    switch (seen.stage) {
      case Stage::waits:
      case Stage::boots:
        return;
      case Stage::runs:
        if (progress.start == kNoTime) {
          progress.start = last_act_ = now();
          due_.push({progress.start + trace_.jobs[seen.mark].outcome.run, seen.mark});
        } else if (progress.end != kNoTime && now() - progress.end > kForgetsEnd) {
          // A controller that was killed may have forgotten that it ended.
          due_.push({now(), seen.mark});
          progress.end = now();
        }
        return;
      case Stage::ends:
      case Stage::ended:
        if (progress.end != kNoTime) return;
        ++report_.ended_by_other;
        progress.failed = true;
        last_act_ = now();
        return;
    }
  }

  void end_due() {
    while (!due_.empty() && due_.top().at <= now()) {
      const std::size_t job = due_.top().job;
      due_.pop();
      Progress& progress = jobs_[job];
      if (progress.failed || progress.start == kNoTime) continue;
      const auto done = ends_.time([&] { return controller_.end(progress.number); });
      if (!done) {
        ++report_.silences;
        due_.push({now() + options_.poll, job});
        return;
      }
      const std::scoped_lock lock(mutex_);
      if (progress.end == kNoTime) progress.end = now();
      last_act_ = now();
    }
  }

  bool is_over() {
    const std::scoped_lock lock(mutex_);
    if (!all_submitted_ || !due_.empty()) return false;
    for (const Progress& each : jobs_) {
      if (each.end == kNoTime && !each.failed) return now() - last_act_ > options_.patience;
    }
    return true;
  }

  void conclude() {
    for (std::size_t at = 0; at < jobs_.size(); ++at) {
      const Progress& progress = jobs_[at];
      trace::Job& job = trace_.jobs[at];
      job.request.submit = progress.submit;
      if (progress.end == kNoTime || progress.start == kNoTime) {
        if (!progress.failed) {
          ++report_.never_started;
          if (progress.held) ++report_.held;
        }
        continue;
      }
      job.outcome.start = progress.start;
      job.outcome.end = progress.end;
      job.outcome.run = progress.end - progress.start;
      job.outcome.state = trace::JobState::completed;
    }
    report_.submit_s = submits_.mean_s();
    report_.look_s = looks_.mean_s();
    report_.end_s = ends_.mean_s();
  }

  static constexpr Duration kForgetsEnd = 3s;

  trace::Trace& trace_;
  std::vector<std::uint32_t> uids_;
  Controller& controller_;
  Options options_;
  Clock::time_point begin_ = Clock::now();
  Calls submits_;
  Calls looks_;
  Calls ends_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;

  std::mutex mutex_;  // of all below
  std::vector<Progress> jobs_;
  Report report_;
  Time last_act_{};
  int looks_that_told_ = 0;
  bool all_submitted_ = false;
};

Result<std::vector<std::uint32_t>> uids_of(const trace::Trace& trace) {
  std::unordered_map<NameId, std::uint32_t> known;
  std::vector<std::uint32_t> made;
  for (const trace::Job& job : trace.jobs) {
    const auto [found, is_new] = known.try_emplace(job.request.user);
    if (is_new) {
      const std::string user(trace.names[job.request.user]);
      const passwd* const entry = ::getpwnam(user.c_str());
      if (entry == nullptr) {
        return fail(Code::not_found, fmt::format("no user here is called \"{}\"", user), {},
                    "every user of the trace needs a line in /etc/passwd");
      }
      found->second = entry->pw_uid;
    }
    made.push_back(found->second);
  }
  return made;
}

}  // namespace

Result<Report> replay(trace::Trace& trace, Controller& controller, const Options& options) {
  auto uids = uids_of(trace);
  if (!uids) return tl::unexpected(uids.error());
  return Replay(trace, std::move(*uids), controller, options).run();
}

}  // namespace almanac::replay
