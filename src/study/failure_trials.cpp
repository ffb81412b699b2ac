// SPDX-License-Identifier: Apache-2.0
#include "study/failure_trials.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "table/csv_writer.h"
#include "table/output_file.h"

namespace almanac::study {
namespace {

/// The jobs of a trace by the ids that its source writes, and where each one's attempts are.
class Jobs {
 public:
  explicit Jobs(const trace::Trace& trace) : trace_(trace), attempts_(trace.jobs.size()) {
    positions_.reserve(trace.jobs.size());
    for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
      positions_.emplace(trace.id(trace.jobs[at].id), static_cast<std::uint32_t>(at));
    }
    for (std::size_t at = trace.attempts.size(); at-- > 0;) {
      auto& [first, count] = attempts_[trace.attempts[at].job];
      first = at;
      ++count;
    }
  }

  std::optional<std::uint32_t> find(const failure::LogName& name) const {
    for (const std::string& id : name.ids) {
      if (const auto found = positions_.find(id); found != positions_.end()) return found->second;
    }
    return std::nullopt;
  }
  std::span<const trace::Attempt> attempts(std::uint32_t job) const {
    const auto [first, count] = attempts_[job];
    return std::span(trace_.attempts).subspan(first, count);
  }

 private:
  const trace::Trace& trace_;
  std::unordered_map<std::string, std::uint32_t> positions_;
  std::vector<std::pair<std::size_t, std::size_t>> attempts_;
};

/// What the trials of one job number their attempts from and to.
struct Numbering {
  int first = 1;
  int last = 0;
  int trials = 0;
};

int gpus_of(const trace::Trace& trace, const trace::Attempt& attempt) {
  int gpus = 0;
  for (std::uint32_t at = 0; at < attempt.num_pieces; ++at) {
    gpus += trace.pieces[attempt.first_piece + at].gpus;
  }
  return gpus;
}

/// Fills in what the trace knows of a trial; gives whether that was the job's last attempt.
bool describe(FailedTrial& trial, const trace::Trace& trace, const Jobs& jobs,
              const Numbering& numbering) {
  const trace::Job& job = trace.jobs[*trial.job];
  const auto attempts = jobs.attempts(*trial.job);
  trial.gpus = job.request.gpus;
  if (attempts.empty()) {
    if (numbering.trials == 1) trial.runtime_s = seconds(job.outcome.run);
    return !trial.attempt || *trial.attempt == numbering.last;
  }
  const auto last = static_cast<std::ptrdiff_t>(attempts.size()) - 1;
  const std::ptrdiff_t at = trial.attempt ? *trial.attempt - numbering.first : last;
  if (at < 0 || at > last) return at > last;
  const trace::Attempt& attempt = attempts[static_cast<std::size_t>(at)];
  if (attempt.start != kNoTime && attempt.end != kNoTime && attempt.end >= attempt.start) {
    trial.runtime_s = seconds(attempt.end - attempt.start);
  }
  if (const int gpus = gpus_of(trace, attempt); gpus > 0) trial.gpus = gpus;
  return at == last;
}

}  // namespace

FailureTrials join_failures(std::span<const failure::JudgedLog> logs, const failure::RuleSet& set,
                            const trace::Trace* trace) {
  FailureTrials made{.joined = trace != nullptr, .logs = static_cast<std::int64_t>(logs.size())};
  std::optional<Jobs> jobs;
  if (trace != nullptr) jobs.emplace(*trace);

  // A joined trial is its job and attempt; another is the path that its logs have in common.
  std::map<std::tuple<std::int64_t, int, std::string>, std::size_t> known;
  for (std::size_t at = 0; at < logs.size(); ++at) {
    const failure::JudgedLog& log = logs[at];
    const auto job = jobs ? jobs->find(log.name) : std::nullopt;
    if (job) ++made.logs_joined;
    const auto [trial, fresh] =
        known.try_emplace({job ? static_cast<std::int64_t>(*job) : -1,
                           log.name.attempt.value_or(-1), job ? "" : log.name.stem},
                          made.trials.size());
    if (fresh) {
      made.trials.push_back({.log = at,
                             .job_id = job ? trace->id(trace->jobs[*job].id) : log.name.id,
                             .attempt = log.name.attempt,
                             .job = job});
    } else if (failure::says_more(set, log, logs[made.trials[trial->second].log])) {
      made.trials[trial->second].log = at;
    }
  }
  if (trace == nullptr) return made;

  std::unordered_map<std::uint32_t, Numbering> numberings;
  for (const FailedTrial& trial : made.trials) {
    if (!trial.job) continue;
    Numbering& numbering = numberings[*trial.job];
    ++numbering.trials;
    // Some launchers count attempts from 0.
    numbering.first = std::min(numbering.first, trial.attempt.value_or(1));
    numbering.last = std::max(numbering.last, trial.attempt.value_or(0));
  }
  std::erase_if(made.trials, [&](FailedTrial& trial) {
    if (!trial.job) return false;
    const bool last = describe(trial, *trace, *jobs, numberings.at(*trial.job));
    if (!last) return false;
    switch (trace->jobs[*trial.job].outcome.state) {
      case trace::JobState::completed:
        ++made.succeeded;
        return true;
      case trace::JobState::pending:
      case trace::JobState::running:
        ++made.unended;
        return true;
      case trace::JobState::cancelled:
        if (logs[trial.log].verdict.rule) return false;
        ++made.cancelled;
        return true;
      default:
        return false;
    }
  });
  return made;
}

Result<void> write_verdicts(const std::string& path, const FailureTrials& trials,
                            std::span<const failure::JudgedLog> logs, const failure::RuleSet& set) {
  auto file = table::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  table::CsvWriter csv(*file);
  csv.header({"path", "job_id", "attempt", "category", "class", "kind", "rule", "line", "quote",
              "suggestion"});
  for (const FailedTrial& trial : trials.trials) {
    const failure::JudgedLog& log = logs[trial.log];
    csv.text(log.path).text(trial.job_id);
    trial.attempt ? csv.whole(*trial.attempt) : csv.missing();
    if (!log.verdict.rule) {
      csv.text(failure::kNoSignature);
      for (int column = 0; column < 6; ++column) csv.missing();
    } else {
      const failure::Rule& rule = set.rules.rules[*log.verdict.rule];
      const failure::Category& category = set.rules.categories[rule.category];
      csv.text(category.name).text(failure::join_classes(category));
      csv.text(failure::to_string(rule.kind)).text(rule.id).whole(log.verdict.line);
      csv.text(log.verdict.quote).text(failure::suggestion_of(set.rules, rule));
    }
    csv.end_row();
  }
  csv.flush();
  return file->commit();
}

}  // namespace almanac::study
