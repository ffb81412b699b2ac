// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecasts that other threads request, and the questions that the forecasting thread has yet
/// to answer.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/time.h"
#include "service/changed_forecasts.h"
#include "service/clock.h"
#include "service/expected.h"
#include "service/starts_if.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::service {

/// Thread-safe.
class Answers {
 public:
  using Forecasts = std::map<store::JobNumber, Expected>;
  using Changes = std::vector<forecast::Change>;

  /// `clock` must outlive it.
  explicit Answers(const Clock& clock) : clock_(clock) {}

  // Those who ask.
  std::optional<Expected> of(store::JobNumber job) const;
  /// With other numbers of GPUs; waits for that for at most `patience`. The question stands for a
  /// minute.
  std::optional<Expected> ask(store::JobNumber job, Duration patience);
  /// The forecast for a job that has not been submitted; nothing while it is being computed.
  /// The question stands for a minute.
  ///
  /// An answer is good for a minute while `revision`, that of the present, stays as it was. It is
  /// good for 5 s in any case, so that a client of a busy service gets one.
  std::optional<Expected> ask(const store::Submission& asked, std::uint64_t revision);
  /// Likewise, the forecasts after changes, or why a change cannot be made.
  std::optional<Result<ChangedForecasts>> ask(const Changes& asked, std::uint64_t revision);
  /// Likewise, the changes that would start a job.
  std::optional<Result<StartsIf>> ask_changes(store::JobNumber job, std::uint64_t revision);

  // The thread that answers.
  /// Whether a question has no answer yet.
  bool is_question_open() const;
  /// Replaces all forecasts, and drops the questions that are no longer asked. Erases from `told`
  /// the jobs that had a forecast before.
  void publish(Forecasts forecasts, std::vector<store::Told>& told);
  /// Jobs for which somebody asked about other numbers of GPUs.
  std::set<store::JobNumber> jobs_asked() const;
  void answer(store::JobNumber job, std::vector<WithGpus> other_gpus);
  /// Submissions without an answer.
  std::vector<store::Submission> open_questions() const;
  /// `revision` is that of the present that the answer is about.
  void answer(const store::Submission& asked, std::uint64_t revision, const Expected& found);
  /// Changes without an answer.
  std::vector<Changes> open_changes() const;
  void answer(const Changes& asked, std::uint64_t revision, Result<ChangedForecasts> found);
  /// Jobs for which somebody asked which changes would start them, without an answer.
  std::vector<store::JobNumber> open_jobs() const;
  void answer(store::JobNumber asked, std::uint64_t revision, Result<StartsIf> found);

  /// Sleeps for at most `at_most`, or until the end.
  void sleep(std::chrono::milliseconds at_most) const;
  /// Ends every wait, now and later.
  void end();
  /// Whether end() was called.
  const std::atomic<bool>& has_ended() const { return has_ended_; }

 private:
  /// Requests that stand for a while after somebody asked last, the oldest first.
  template <typename Asked, typename Answer>
  class Questions {
   public:
    std::optional<Answer> ask(const Asked& asked, std::uint64_t revision, Clock::Instant now);
    void answer(const Asked& asked, std::uint64_t revision, Answer found, Clock::Instant now);
    std::vector<Asked> open() const;

   private:
    struct One {
      Asked asked{};
      Clock::Instant when{};
      std::optional<Answer> answer{};
      std::uint64_t revision = 0;  // of the answer
      Clock::Instant answered{};
    };
    std::vector<One> all_;
  };

  const Clock& clock_;
  mutable std::mutex mutex_;
  mutable std::condition_variable news_;
  Forecasts forecasts_;
  std::map<store::JobNumber, Clock::Instant> asked_;  // when somebody asked last
  Questions<store::Submission, Expected> newcomers_;  // jobs that have not been submitted
  Questions<Changes, Result<ChangedForecasts>> changes_;
  Questions<store::JobNumber, Result<StartsIf>> starts_;
  std::atomic<bool> has_ended_ = false;
};

}  // namespace almanac::service
