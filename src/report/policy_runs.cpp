// SPDX-License-Identifier: Apache-2.0
#include "report/policy_runs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "experiment/apply_failures.h"
#include "experiment/dues.h"
#include "experiment/run_directory.h"
#include "policy/registry.h"
#include "report/document_directory.h"
#include "report/page.h"
#include "report/run_document.h"
#include "text/human.h"

namespace almanac::report {
namespace {

/// Which jobs were left out for good; "" = none was.
std::string never_in_words(const experiment::Prepared& prepared, const sim::Schedule& schedule) {
  constexpr std::size_t kShown = 3;
  if (schedule.never.empty()) return "";
  std::string shown;
  for (std::size_t at = 0; at < std::min(kShown, schedule.never.size()); ++at) {
    const auto& [job, reason] = schedule.never[at];
    shown += fmt::format("{}job {} {}", at > 0 ? "; " : "",
                         prepared.trace.id(prepared.trace.jobs[index(job)].id),
                         policy::to_string(reason, ""));
  }
  return fmt::format("{} can never start on this cluster and {} left out: {}{}",
                     text::counted(schedule.never.size(), "job"),
                     schedule.never.size() == 1 ? "is" : "are", shown,
                     schedule.never.size() > kShown ? "; ..." : "");
}

/// Returns the order in which runs start: the fastest first, so that first results appear soon.
/// Learning takes the longest by far, then reservations for all jobs.
std::vector<std::size_t> fastest_first(const experiment::Prepared& prepared) {
  const auto cost = [&](std::size_t run) {
    const policy::Composition& composition = prepared.runs[run].composition;
    const policy::TraitSet traits = policy::registry().traits(composition);
    if (traits.has(policy::Trait::reads_model)) return 3;
    if (!composition.whole.name.empty() || traits.has(policy::Trait::leases)) return 2;
    return traits.has(policy::Trait::keeps_line) ? 0 : 1;
  };
  std::vector<std::size_t> order(prepared.runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); });
  return order;
}

}  // namespace

/// What is gathered for report.html while the policies run, whatever their order.
class PolicyRuns::Page {
 public:
  explicit Page(const experiment::Prepared& prepared)
      : input_(prepared), plan_(input_), digests_(prepared.runs.size()) {}

  /// Thread-safe for different runs.
  void take(std::size_t run, const experiment::Summary& summary, const sim::Schedule& schedule) {
    digests_[run] = digest(input_, plan_, summary, schedule);
  }
  Result<void> write(const std::string& folder, const std::vector<std::string>& command) {
    std::vector<PolicyDigest> taken;
    for (auto& digest : digests_) {
      if (digest) taken.push_back(std::move(*digest));
    }
    return write_page(folder, run_document(input_, plan_, std::move(taken), command));
  }

 private:
  RunInput input_;
  DigestPlan plan_;
  std::vector<std::optional<PolicyDigest>> digests_;
};

PolicyRuns::PolicyRuns(const experiment::Prepared& prepared, std::string out,
                       std::vector<std::string> command)
    : prepared_(prepared),
      out_(std::move(out)),
      command_(std::move(command)),
      arrived_(std::make_unique<std::atomic<std::uint32_t>[]>(prepared.runs.size())),
      summaries_(prepared.runs.size()) {}

PolicyRuns::~PolicyRuns() = default;

Result<void> PolicyRuns::begin() {
  if (out_.empty()) return {};
  auto opened = experiment::open_run_directory(out_);
  if (!opened) return tl::unexpected(opened.error());
  folder_ = std::move(*opened);
  // If the program is killed, the folder still says what it is, and the next run may replace it.
  if (auto begun = experiment::write_run(out_, prepared_, {}, command_, false); !begun) {
    return begun;
  }
  if (has_page()) page_ = std::make_unique<Page>(prepared_);
  return {};
}

double PolicyRuns::progress() const {
  double sum = 0;
  for (std::size_t run = 0; run < prepared_.runs.size(); ++run) sum += arrived_[run].load();
  return sum / static_cast<double>(prepared_.runs.size()) /
         static_cast<double>(prepared_.trace.jobs.size());
}

Result<void> PolicyRuns::play(int threads, const std::atomic<bool>& stop, const RunHooks& hooks) {
  std::optional<Error> error;
  const std::vector<std::size_t> order = fastest_first(prepared_);
  std::atomic<std::size_t> begun = 0;
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  arena.execute([&] {
    // Each task takes the next run, so the order does not depend on the scheduler of tasks.
    tbb::parallel_for(std::size_t{0}, order.size(), [&](std::size_t) {
      if (stop.load()) return;
      const auto played = play_one(order[begun++], stop, hooks);
      const std::lock_guard lock(mutex_);
      if (!played && !error) error = played.error();
    });
  });
  interrupted_ = stop.load();
  if (error) return tl::unexpected(*error);
  return {};
}

Result<void> PolicyRuns::play_one(std::size_t run, const std::atomic<bool>& stop,
                                  const RunHooks& hooks) {
  const bool keeps = !out_.empty();
  const auto schedule =
      experiment::simulate_run(prepared_, run, &stop, &arrived_[run], kNoJob, keeps);
  if (!schedule) return tl::unexpected(schedule.error());
  Result<void> written;
  if (keeps) written = experiment::write_policy_run(out_, prepared_, run, *schedule);
  experiment::Summary summary = experiment::summarize(prepared_.runs[run].composition,
                                                      prepared_.trace, *schedule, prepared_.power);
  if (prepared_.failures != nullptr) {
    summary.failures = experiment::failures_of(prepared_, *schedule);
  }
  experiment::add_dues(summary, experiment::judge(prepared_.trace, prepared_.cluster, *schedule));
  if (page_) page_->take(run, summary, *schedule);
  if (!written) return written;
  const std::lock_guard lock(mutex_);
  if (prepared_.runs.size() > 1) {
    hooks.ready(fmt::format("{}: mean completion {}, mean wait {} (simulated in {})",
                            experiment::marked_name(summary), text::human_time(summary.avg_jct_s),
                            text::human_time(summary.avg_wait_s),
                            text::human_time(summary.engine_wall_s)));
  }
  summaries_[run] = std::move(summary);
  if (!std::exchange(never_noted_, true)) {
    if (const std::string words = never_in_words(prepared_, *schedule); !words.empty()) {
      hooks.note(words);
    }
    for (const auto& [job, reason] : schedule->never) never_.push_back(job);
  }
  return {};
}

Result<RunReport> PolicyRuns::finish() {
  RunReport report{.summaries = {}, .interrupted = interrupted_};
  for (auto& summary : summaries_) {
    if (summary) report.summaries.push_back(std::move(*summary));
  }
  if (auto recorded = experiment::summarize_recorded(prepared_.trace, prepared_.cluster,
                                                     prepared_.experiment.warm_up, never_)) {
    report.summaries.push_back(std::move(*recorded));
  }
  if (page_) {
    if (auto written = page_->write(out_, command_); !written) {
      return tl::unexpected(written.error());
    }
  }
  if (!out_.empty()) {
    const auto written =
        experiment::write_run(out_, prepared_, report.summaries, command_, !report.interrupted);
    if (!written) return tl::unexpected(written.error());
  }
  return report;
}

}  // namespace almanac::report
