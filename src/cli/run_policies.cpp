// SPDX-License-Identifier: Apache-2.0
#include "cli/run_policies.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/keep_memory.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "experiment/dues.h"
#include "experiment/run_directory.h"
#include "policy/registry.h"
#include "report/comparison.h"
#include "report/document_directory.h"
#include "report/page.h"
#include "report/run_document.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

/// Says, once a policy, which jobs were left out for good.
void note_never(const experiment::Prepared& prepared, const sim::Schedule& schedule) {
  constexpr std::size_t kShown = 3;
  if (schedule.never.empty()) return;
  std::string shown;
  for (std::size_t at = 0; at < std::min(kShown, schedule.never.size()); ++at) {
    const auto& [job, reason] = schedule.never[at];
    shown += fmt::format("{}job {} {}", at > 0 ? "; " : "",
                         prepared.trace.id(prepared.trace.jobs[index(job)].id),
                         policy::to_string(reason, ""));
  }
  note(fmt::format("{} can never start on this cluster and {} left out: {}{}",
                   text::counted(schedule.never.size(), "job"),
                   schedule.never.size() == 1 ? "is" : "are", shown,
                   schedule.never.size() > kShown ? "; ..." : ""));
}

/// The runs in the order in which they are begun: those that take least time first, so that what is
/// ready soon is there soon. Learning takes longest by far, then reservations for all jobs.
std::vector<std::size_t> fastest_first(const experiment::Prepared& prepared) {
  const auto cost = [&](std::size_t run) {
    const policy::Composition& composition = prepared.runs[run].composition;
    const policy::TraitSet traits = policy::registry().traits(composition);
    if (traits.has(policy::Trait::reads_model)) return 3;
    if (!composition.whole.name.empty() || traits.has(policy::Trait::leases)) return 2;
    return composition.pass.name == "strict" ? 0 : 1;
  };
  std::vector<std::size_t> order(prepared.runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); });
  return order;
}

/// What is gathered for report.html while the policies run, whatever their order.
class RunPage {
 public:
  explicit RunPage(const experiment::Prepared& prepared)
      : input_(prepared), plan_(input_), digests_(prepared.runs.size()) {}

  /// Thread-safe for different runs.
  void take(std::size_t run, const experiment::Summary& summary, const sim::Schedule& schedule) {
    digests_[run] = report::digest(input_, plan_, summary, schedule);
  }
  Result<void> write(const std::string& folder, const std::vector<std::string>& command) {
    std::vector<report::PolicyDigest> taken;
    for (auto& digest : digests_) {
      if (digest) taken.push_back(std::move(*digest));
    }
    return report::write_page(folder,
                              report::run_document(input_, plan_, std::move(taken), command));
  }

 private:
  report::RunInput input_;
  report::DigestPlan plan_;
  std::vector<std::optional<report::PolicyDigest>> digests_;
};

}  // namespace

Result<RunReport> run_policies(const experiment::Prepared& prepared, const std::string& out,
                               int threads, const std::vector<std::string>& command) {
  keep_memory();  // from one policy to the next
  const std::atomic<bool>& stop = interrupted();
  process::Descriptor folder;
  if (!out.empty()) {
    auto opened = experiment::open_run_directory(out);
    if (!opened) return tl::unexpected(opened.error());
    folder = std::move(*opened);
    // Should this be killed, the folder still says what it is, and the next run may have it.
    if (auto begun = experiment::write_run(out, prepared, {}, command, false); !begun) {
      return tl::unexpected(begun.error());
    }
  }
  const std::size_t runs = prepared.runs.size();
  std::vector<std::optional<experiment::Summary>> summaries(runs);
  std::optional<RunPage> page;
  if (!out.empty() && report::has_page()) page.emplace(prepared);
  const auto arrived = std::make_unique<std::atomic<std::uint32_t>[]>(runs);
  std::mutex mutex;
  std::optional<Error> error;
  bool never_noted = false;
  std::vector<JobId> never;
  {
    const double total =
        static_cast<double>(runs) * static_cast<double>(prepared.trace.jobs.size());
    ProgressBar bar("simulating", [&] {
      double sum = 0;
      for (std::size_t run = 0; run < runs; ++run) sum += arrived[run].load();
      return sum / total;
    });
    const std::vector<std::size_t> order = fastest_first(prepared);
    std::atomic<std::size_t> begun = 0;
    tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
    arena.execute([&] {
      // Each task takes what is next in order: which of them are run first is not left to chance.
      tbb::parallel_for(std::size_t{0}, runs, [&](std::size_t) {
        if (stop.load()) return;
        const std::size_t run = order[begun++];
        auto schedule =
            experiment::simulate_run(prepared, run, &stop, &arrived[run], kNoJob, !out.empty());
        Result<void> written;
        if (schedule && !out.empty())
          written = experiment::write_policy_run(out, prepared, run, *schedule);
        std::optional<experiment::Summary> summary;
        if (schedule) {
          summary = experiment::summarize(prepared.runs[run].composition, prepared.trace, *schedule,
                                          prepared.power);
          experiment::add_dues(*summary,
                               experiment::judge(prepared.trace, prepared.cluster, *schedule));
          if (page) page->take(run, *summary, *schedule);
        }
        const std::lock_guard lock(mutex);
        if (!schedule || !written) {
          if (!error) error = !schedule ? schedule.error() : written.error();
          return;
        }
        if (runs > 1) {
          bar.say(fmt::format(
              "{}: jobs are done in {} on average and wait {}, took {}",
              experiment::marked_name(*summary), text::human_time(summary->avg_jct_s),
              text::human_time(summary->avg_wait_s), text::human_time(summary->engine_wall_s)));
        }
        summaries[run] = std::move(summary);
        if (!never_noted) {
          note_never(prepared, *schedule);
          for (const auto& [job, reason] : schedule->never) never.push_back(job);
        }
        never_noted = true;
      });
    });
  }
  if (error) return tl::unexpected(*error);
  RunReport report{.summaries = {}, .interrupted = stop.load()};
  for (auto& summary : summaries) {
    if (summary) report.summaries.push_back(std::move(*summary));
  }
  if (auto recorded = experiment::summarize_recorded(prepared.trace, prepared.cluster,
                                                     prepared.experiment.warm_up, never)) {
    report.summaries.push_back(std::move(*recorded));
  }
  if (page) {
    if (auto written = page->write(out, command); !written) return tl::unexpected(written.error());
  }
  if (!out.empty()) {
    const auto written =
        experiment::write_run(out, prepared, report.summaries, command, !report.interrupted);
    if (!written) return tl::unexpected(written.error());
  }
  return report;
}

void note_run(const std::string& out) {
  if (out.empty()) return;
  if (report::has_page()) {
    note(fmt::format("the run is in {}; its report is {}/report.html", out, out));
  } else {
    note(fmt::format("the run is in {}", out));
    note(std::string(report::kNoPage));
  }
}

Result<int> show_summaries(const std::vector<experiment::Summary>& summaries,
                           const ListOptions& list) {
  if (list.wants_document()) {
    fmt::print("{}", experiment::to_json(summaries));
    return kDone;
  }
  return list.print(report::comparison_rows(summaries), report::comparison_notes(summaries));
}

}  // namespace almanac::cli
