// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tiresias against a second implementation, written from its rule alone: at every event all jobs
/// are sorted by queue and submission, and those that fill the GPUs of one node by count run.
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/draft.h"
#include "support/play.h"

namespace almanac {
namespace {

constexpr std::array<std::int64_t, 2> kLimitsMs = {60'000, 240'000};  // GPU-ms

struct SlowJob {
  JobId id{};
  std::int64_t submit = 0;  // milliseconds, as all below
  std::int64_t left = 0;
  std::int64_t ran = 0;
  std::int64_t since = -1;  // of the present run; -1 = it does not run
  int gpus = 0;

  std::size_t queue() const {
    const auto at = std::upper_bound(kLimitsMs.begin(), kLimitsMs.end(), ran * gpus);
    return static_cast<std::size_t>(at - kLimitsMs.begin());
  }
};

class Slow {
 public:
  explicit Slow(const Case& input)
      : gpus_(input.cluster.gpus(VcId{0})), restart_(input.options.restart) {
    for (std::uint32_t at = 0; at < input.trace.jobs.size(); ++at) {
      const trace::Job& job = input.trace.jobs[at];
      coming_.push_back({.id = JobId{at},
                         .submit = job.request.submit.time_since_epoch().count(),
                         .left = job.outcome.run.count(),
                         .gpus = job.request.gpus});
    }
  }

  std::vector<Run> play() {
    for (std::int64_t at = next(); at != kNever; at = next()) {
      advance(at);
      while (!coming_.empty() && coming_.front().submit == at) {
        live_.push_back(coming_.front());
        coming_.erase(coming_.begin());
      }
      std::erase_if(live_, [&](SlowJob& job) {
        if (job.since < 0 || job.left > 0) return false;
        close(job, false);
        return true;
      });
      choose();
    }
    return std::move(runs_);
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::int64_t next() const {
    std::int64_t at = coming_.empty() ? kNever : coming_.front().submit;
    for (const SlowJob& job : live_) {
      if (job.since < 0) continue;
      at = std::min(at, now_ + job.left);
      if (job.queue() == kLimitsMs.size()) continue;
      const std::int64_t short_of = kLimitsMs[job.queue()] - job.ran * job.gpus;
      at = std::min(at, now_ + (short_of + job.gpus - 1) / job.gpus);
    }
    return at;
  }

  void advance(std::int64_t to) {
    for (SlowJob& job : live_) {
      if (job.since < 0) continue;
      job.left -= to - now_;
      job.ran += to - now_;
    }
    now_ = to;
  }

  void choose() {
    std::stable_sort(live_.begin(), live_.end(), [](const SlowJob& a, const SlowJob& b) {
      return std::tuple(a.queue(), a.submit, a.id) < std::tuple(b.queue(), b.submit, b.id);
    });
    int left = gpus_;
    for (SlowJob& job : live_) {
      const bool runs = job.gpus <= left;
      if (runs) left -= job.gpus;
      if (!runs && job.since >= 0) {
        close(job, true);
        job.left += restart_.of(job.gpus).count();
        job.since = -1;
      } else if (runs && job.since < 0) {
        job.since = now_;
      }
    }
  }

  void close(const SlowJob& job, bool stopped) {
    runs_.push_back({.job = job.id,
                     .start = Time{Duration{job.since}},
                     .begin = Time{Duration{job.since}},
                     .end = Time{Duration{now_}},
                     .stopped = stopped});
  }

  int gpus_;
  schedule::RestartCost restart_;
  std::int64_t now_ = 0;
  std::vector<SlowJob> coming_;
  std::vector<SlowJob> live_;
  std::vector<Run> runs_;
};

std::string stretches(const Case& input, std::vector<Run> runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::tuple(a.job, a.start) < std::tuple(b.job, b.start);
  });
  std::string text;
  for (const Run& run : runs) {
    text += std::string(input.trace.id(input.trace.jobs[index(run.job)].id)) + " " +
            time_text(run.start) + ".." + time_text(run.end) + "\n";
  }
  return text;
}

RC_GTEST_PROP(Tiresias, IsWhatTheSlowOneDoes, ()) {
  const DraftLimits limits{.vcs = 1, .nodes = 1, .shortest_run = 1};
  Case input = to_case(*drafts(limits), limits);
  input.policy = "tiresias:60:240";
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  RC_ASSERT("\n" + stretches(input, played->runs) == "\n" + stretches(input, Slow(input).play()));
}

}  // namespace
}  // namespace almanac
