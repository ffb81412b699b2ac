// SPDX-License-Identifier: Apache-2.0

/// \file
/// Everything that a predictor remembers: ended jobs by kind, and the current jobs of each user.
///
/// Record jobs in order of time: each at its submission and again at its end.
/// Cost     about a dozen hash look-ups each; 80 bytes for each kind of job that ever ended
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "predict/kinds.h"
#include "predict/recent.h"

namespace almanac::predict {

/// A count that halves in each `half_life`.
class FadingCount {
 public:
  explicit FadingCount(Duration half_life) : half_life_(seconds(half_life)) {}
  void add(Time now) {
    count_ = at(now) + 1;
    since_ = now;
  }
  double at(Time now) const { return count_ * std::exp2(-seconds(now - since_) / half_life_); }

 private:
  double half_life_;
  double count_ = 0;
  Time since_{};
};

/// A job that was submitted and has not ended.
struct Underway {
  JobId job{};
  Time submit{};
};

/// Submitted jobs that have not ended, in order of submission.
class UnderwayList {
 public:
  void add(JobId job, Time submit) { jobs_.push_back({job, submit}); }
  /// Returns whether the job was in the list.
  bool remove(JobId job);
  std::span<const Underway> jobs() const { return jobs_; }

 private:
  std::vector<Underway> jobs_;  // job ids ascend
};

/// The activity of one user; jobs without a user count as those of one more user.
struct Activity {
  static constexpr std::size_t kClasses = 5;
  /// Run time classes: below 1 min, 10 min, 1 h, 6 h, and above.
  static std::size_t class_of(double log);

  UnderwayList underway{};
  FadingCount hour{1h};  ///< Submissions.
  FadingCount day{24h};
  Time last_submit = kNoTime;
  std::array<float, kClasses> classes{};  ///< Of ended jobs, decaying by 0.95 per job.
  std::uint32_t in_a_row = 0;             ///< Jobs that did not complete since the last that did.
};

/// Submissions of one user's jobs with exactly equal requests.
struct Burst {
  /// One of the latest submissions.
  struct Mate {
    JobId job = kNoJob;
    Time submit{};
    float log = 0;  ///< log10 seconds of its run time, once it has ended.
    bool ended = false;
  };
  static constexpr std::size_t kMates = 3;

  UnderwayList underway{};
  FadingCount hour{1h};
  std::array<Mate, kMates> mates{};  ///< Latest first; kNoJob if there are no more.
};

/// Ended jobs of the kind with this key.
struct Remembered {
  std::uint64_t key = 0;
  Recent recent{};
};

class Memory {
 public:
  explicit Memory(const Names& names) : kinds_(names) {}

  KindKeys keys(const trace::Request& request) { return kinds_.keys(request); }
  /// Records a submission. Not needed for a job of which only the end matters.
  void submitted(JobId job, const trace::Request& request);
  void ended(JobId job, const trace::Request& request, const Ended& ended);

  /// Returns the ended jobs, in order of key, for a file.
  std::vector<Remembered> ended_so_far() const;
  /// Restores ended jobs from a file; no job may have ended here.
  void recall(std::span<const Remembered> before);

  /// Returns the ended jobs of a kind; null without any.
  const Recent* recent(const KindKeys& keys, Kind kind) const;
  /// Returns the activity of a user; null for a new one.
  const Activity* activity(NameId user) const;
  /// Returns the user's jobs with exactly the same request; null without any.
  const Burst* burst(const KindKeys& keys) const;
  std::uint32_t jobs_underway() const { return jobs_underway_; }
  std::int64_t gpus_underway() const { return gpus_underway_; }
  const FadingCount& submissions() const { return submissions_; }

 private:
  Kinds kinds_;
  std::unordered_map<std::uint64_t, Recent> recent_;
  std::unordered_map<std::uint64_t, Burst> bursts_;  // by Kind::user_shape, else Kind::shape
  std::vector<Activity> users_;                      // by NameId
  FadingCount submissions_{1h};
  std::uint32_t jobs_underway_ = 0;
  std::int64_t gpus_underway_ = 0;
};

}  // namespace almanac::predict
