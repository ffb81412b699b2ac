// SPDX-License-Identifier: Apache-2.0
#include "study/read_job_use.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "table/spool.h"
#include "text/datetime.h"
#include "text/number.h"
#include "trace/read.h"
#include "trace/sacct_columns.h"
#include "trace/sacct_rows.h"
#include "trace/sacct_runs.h"
#include "trace/tres.h"

namespace almanac::study {
namespace {

constexpr double kNotTold = std::numeric_limits<double>::quiet_NaN();
constexpr double kLongest_s = 1e12;  // 31,700 years: a longer time means a damaged row

constexpr const char* kHowToRecordGpuUse =
    "no step has gres/gpuutil, so Slurm does not record the use of GPUs. It does from 23.02 on, "
    "with AccountingStorageTRES=gres/gpu, JobAcctGatherType=jobacct_gather/cgroup (or linux) and "
    "JobAcctGatherFrequency=30 in slurm.conf, without JobAcctGatherParams=DisableGPUAcct, and "
    "AutoDetect=nvml (or rsmi) in gres.conf";

/// "[D-][HH:]MM:SS[.mmm]" in seconds; nothing for what is none.
std::optional<double> cpu_seconds(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto count = text::parse_decimal(text.substr(0, dash));
    if (!count) return std::nullopt;
    days = *count;
    text.remove_prefix(dash + 1);
  }
  double seconds = 0;
  while (!text.empty()) {
    const auto colon = std::min(text.find(':'), text.size());
    const auto part = text::parse_decimal(text.substr(0, colon));
    if (!part || *part < 0) return std::nullopt;
    seconds = 60 * seconds + *part;
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return days * 86'400 + seconds;
}

/// "1234K", "1.5G": bytes as Slurm writes them, in GB of 1024 MiB; a bare number counts bytes.
std::optional<double> gigabytes(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double unit = 1.0 / (1024.0 * 1024 * 1024);
  const std::string_view letters = "KMGTPE";
  if (const auto at = letters.find(text.back()); at != std::string_view::npos) {
    unit *= std::pow(1024.0, static_cast<double>(at + 1));
    text.remove_suffix(1);
  }
  const auto count = text::parse_decimal(text);
  if (!count || *count < 0) return std::nullopt;
  return *count * unit;
}

/// The value of `key` in "cpu=00:01:02,gres/gpuutil=31,mem=5M".
std::string_view tres_value(std::string_view list, std::string_view key) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(item.size() + 1, list.size()));
    if (item.starts_with(key) && item.size() > key.size() && item[key.size()] == '=') {
      return item.substr(key.size() + 1);
    }
  }
  return {};
}

/// One run of a job.
struct Run {
  JobUse use{};
  Time end = kNoTime;  // at the earliest, where the log does not tell
};

/// The amount of `key`, NaN if there is none or Slurm has no value.
double tres_amount(std::string_view list, std::string_view key, int bits,
                   std::optional<double> (*parse)(std::string_view)) {
  const auto value = parse(tres_value(list, key));
  return value && !trace::is_no_value(*value, bits) ? *value : kNotTold;
}

/// The mean of two runs by the time that each took; of what one of them does not tell, the other.
double mean_over(const JobUse& a, const JobUse& b, double JobUse::*what) {
  if (std::isnan(a.*what) || a.*what == b.*what) return b.*what;
  if (std::isnan(b.*what)) return a.*what;
  const double first = seconds(a.elapsed);
  const double second = seconds(b.elapsed);
  return (first * a.*what + second * b.*what) / (first + second);
}

/// Raises the highest measurements of `job` to those of `other`.
void take_most(JobUse& job, const JobUse& other) {
  for (const auto what :
       {&JobUse::memory_used_gb, &JobUse::gpu_use_at_most, &JobUse::gpu_memory_gb}) {
    job.*what = std::fmax(job.*what, other.*what);
  }
}

/// A job that ran as `a`, and again as `b`.
JobUse both(const JobUse& a, const JobUse& b) {
  if (a.elapsed <= Duration{0}) return b;
  JobUse made = b;
  if (b.elapsed > Duration{0}) {
    for (const auto what : {&JobUse::cores, &JobUse::gpus, &JobUse::memory_gb, &JobUse::cores_used,
                            &JobUse::gpu_use}) {
      made.*what = mean_over(a, b, what);
    }
    made.longest = std::max(a.longest_run(), b.longest_run());
  } else {
    made = a;
    made.state = b.state;
  }
  take_most(made, a);
  made.energy_j = std::isnan(a.energy_j)   ? b.energy_j
                  : std::isnan(b.energy_j) ? a.energy_j
                                           : a.energy_j + b.energy_j;
  made.elapsed = a.elapsed + b.elapsed;
  made.submit = a.submit;
  return made;
}

class UseReader {
 public:
  UseReader(trace::SacctRows& rows, bool lenient) : rows_(rows), lenient_(lenient) {}

  Result<JobUseLog> read() {
    for (const char* const column : {"JobID", "ElapsedRaw", "AllocCPUS", "AllocTRES", "TotalCPU"}) {
      if (rows_.find(column)) continue;
      return fail(Code::invalid,
                  fmt::format("the column \"{}\" is missing: the header has {}", column,
                              fmt::join(rows_.header(), ", ")),
                  rows_.where(), fmt::format("all columns: {}", kUseCommand));
    }
    for (;;) {
      const auto more = rows_.next();
      std::string message;
      if (!more) {
        if (more.error().code != Code::invalid) return tl::unexpected(more.error());
        message = more.error().message;
      } else if (!*more) {
        break;
      } else {
        const std::string_view id = field("JobID");
        message = trace::is_step(id) ? add_step(id.substr(0, id.find('.'))) : add_run(id);
      }
      ++count_;
      if (message.empty()) continue;
      if (!lenient_) {
        return fail(Code::invalid, message, rows_.where(), "use --lenient to drop such rows");
      }
      if (dropped_++ == 0) first_dropped_ = fmt::format("line {}: {}", rows_.line(), message);
    }
    return conclude();
  }

 private:
  std::string_view field(std::string_view column) const {
    const auto at = rows_.find(column);
    return at ? rows_[*at] : std::string_view();
  }

  std::string add_run(std::string_view id) {
    if (!trace::fits(trace::SacctKind::id, id)) {
      return fmt::format("JobID must be that of a job, found \"{}\"", id.substr(0, 60));
    }
    const auto tres = trace::parse_tres(field("AllocTRES"));
    if (!tres) {
      return fmt::format(
          "AllocTRES must be a list like cpu=8,gres/gpu=8 of at most {:.0f} GPUs, found \"{}\"",
          trace::kMostOfTres, field("AllocTRES").substr(0, 60));
    }
    const auto elapsed = field("ElapsedRaw").empty() ? std::optional<double>(0)
                                                     : text::parse_decimal(field("ElapsedRaw"));
    if (!elapsed || *elapsed < 0 || *elapsed > kLongest_s) {
      return fmt::format("ElapsedRaw must be seconds from 0 to {:.0f}, found \"{}\"", kLongest_s,
                         field("ElapsedRaw"));
    }
    for (const char* const column : {"Submit", "End"}) {
      if (trace::fits(trace::SacctKind::time, field(column))) continue;
      return fmt::format("{} must be a time as YYYY-MM-DDThh:mm:ss, found \"{}\"", column,
                         field(column).substr(0, 60));
    }
    const auto cpus = text::parse_decimal(field("AllocCPUS"));
    if (cpus && *cpus > trace::kMostCpus) {
      return fmt::format("AllocCPUS must be {:.0f} or less, found \"{}\"", trace::kMostCpus,
                         field("AllocCPUS"));
    }
    const auto limit = text::parse_decimal(field("TimelimitRaw"));
    if (limit && *limit > kLongest_s / 60) {
      return fmt::format("TimelimitRaw must be minutes up to {:.0f}, found \"{}\"", kLongest_s / 60,
                         field("TimelimitRaw"));
    }
    Run run{.use = {.id = std::string(id),
                    .name = std::string(field("JobName")),
                    .user = std::string(field("User")),
                    .partition = std::string(field("Partition")),
                    .state = std::string(field("State")),
                    .elapsed = Duration{std::llround(*elapsed * 1e3)},
                    .cores = cpus.value_or(kNotTold),
                    .gpus = static_cast<double>(tres->gpus),
                    .memory_gb = static_cast<double>(tres->memory_gb),
                    .memory_used_gb = kNotTold,
                    .gpu_type = tres->gpu_type}};
    JobUse& job = run.use;
    if (std::isnan(job.cores)) job.cores = static_cast<double>(tres->cpus);
    if (const auto submit = text::parse_datetime(field("Submit"))) {
      job.submit = *submit;
      run.end = job.submit + job.elapsed;
    }
    if (const auto end = text::parse_datetime(field("End"))) run.end = *end;
    if (limit) job.limit = Duration{std::llround(*limit * 60'000)};
    auto used = cpu_seconds(field("TotalCPU"));
    // Slurm counts processor time when a step ends.
    if (used && *used == 0 && job.state == "RUNNING") used = std::nullopt;
    job.cores_used = used && *elapsed > 0 ? *used / *elapsed : kNotTold;
    if (const auto joules = text::parse_decimal(field("ConsumedEnergyRaw"));
        joules && *joules > 0) {
      job.energy_j = *joules;
    }
    if (job.gpus > 0 && *elapsed > 0) ++with_gpus_;
    auto& runs = runs_[job.id];
    if (runs.empty()) order_.push_back(job.id);
    runs.push_back(std::move(run));
    return {};
  }

  /// Slurm writes the steps of a run behind it.
  std::string add_step(std::string_view of) {
    ++steps_;
    const auto found = runs_.find(of);
    if (found == runs_.end()) return {};
    JobUse& job = found->second.back().use;
    const double tasks = text::parse_decimal(field("NTasks")).value_or(1);
    if (const auto most = gigabytes(field("MaxRSS"))) {
      job.memory_used_gb = std::fmax(job.memory_used_gb, *most * std::max(1.0, tasks));
    }
    add_gpu_use(job, std::max(1.0, tasks));
    return {};
  }

  void add_gpu_use(JobUse& job, double tasks) {
    if (job.gpus <= 0) return;
    const auto share = [&](std::string_view column) {
      // Counted is the sum over a task's GPUs, in percent.
      const double percent =
          tres_amount(field(column), "gres/gpuutil", 32,
                      [](std::string_view text) { return text::parse_decimal(text); });
      return std::isnan(percent) ? percent : std::min(1.0, percent * tasks / (100 * job.gpus));
    };
    const auto add = [](double& to, double value) { to = std::fmax(to, value); };
    if (const double use = share("TRESUsageInAve"); !std::isnan(use)) {
      add(job.gpu_use, use);
      job.gpu_use_is_sample = true;
    }
    add(job.gpu_use_at_most, share("TRESUsageInMax"));
    for (const char* const column : {"TRESUsageInMax", "TRESUsageInAve"}) {
      const double most = tres_amount(field(column), "gres/gpumem", 64, gigabytes);
      if (std::isnan(most)) continue;
      add(job.gpu_memory_gb, most * tasks);
      break;
    }
    has_gpu_use_ = has_gpu_use_ || !std::isnan(job.gpu_use) || !std::isnan(job.gpu_use_at_most);
  }

  /// What would make the use of GPUs known, in a sentence; "" if it is known or there are none.
  std::string lacks_gpu_use() const {
    if (with_gpus_ == 0 || steps_ == 0) return "";
    if (!has_gpu_use_) {
      return rows_.find("TRESUsageInAve") || rows_.find("TRESUsageInMax")
                 ? kHowToRecordGpuUse
                 : fmt::format(
                       "the use of GPUs needs the columns TRESUsageInAve and "
                       "TRESUsageInMax: {}",
                       kUseCommand);
    }
    return rows_.find("TRESUsageInMax")
               ? ""
               : fmt::format("which GPUs were never used needs the column TRESUsageInMax: {}",
                             kUseCommand);
  }

  Result<JobUseLog> conclude() {
    JobUseLog log;
    const bool has_steps = steps_ > 0;
    for (const std::string& id : order_) {
      std::vector<Run>& runs = runs_[id];
      leave_out_repeated(runs);
      int jobs_of_id = 0;
      for (std::size_t at = 0, next = 0; at < runs.size(); at = next) {
        JobUse job = std::move(runs[at].use);
        for (next = at + 1; next < runs.size() && is_next(job, runs[next - 1].end, runs[next].use);
             ++next) {
          job = both(job, runs[next].use);
        }
        if (++jobs_of_id > 1) job.id += fmt::format("#{}", jobs_of_id);
        // sacct -X has no statistics and says 0.
        if (!has_steps && job.cores_used == 0) job.cores_used = kNotTold;
        if (job.elapsed > Duration{0}) {
          log.jobs.push_back(std::move(job));
        } else {
          log.never_ran.push_back(job.id);
        }
      }
    }
    log.notes = rows_.notes();
    if (dropped_ > 0) {
      log.notes.push_back(
          fmt::format("dropped {} of {} rows, the first in {}", dropped_, count_, first_dropped_));
    }
    if (!has_steps && !log.jobs.empty()) {
      log.notes.emplace_back(
          "the log has no job steps, which hold the used resources: run sacct without -X");
    }
    if (std::string lacks = lacks_gpu_use(); !lacks.empty()) log.notes.push_back(std::move(lacks));
    return log;
  }

  /// Logs that overlap tell of a run several times: what was heard of it last counts.
  static void leave_out_repeated(std::vector<Run>& runs) {
    for (std::size_t i = 1; i < runs.size();) {
      const JobUse& was = runs[i - 1].use;
      JobUse& job = runs[i].use;
      const bool is_repeated =
          was.submit != kNoTime && was.submit == job.submit && was.state != "RESIZING" &&
          (was.elapsed == job.elapsed || was.state == "RUNNING" || was.state == "PENDING");
      if (!is_repeated) {
        ++i;
        continue;
      }
      take_most(job, was);
      job.gpu_use = std::fmax(job.gpu_use, was.gpu_use);
      runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
  }

  static bool is_next(const JobUse& job, Time end, const JobUse& later) {
    const auto state = [](const JobUse& of) {
      return of.state == "REQUEUED"
                 ? trace::JobState::preempted
                 : trace::parse_state(of.state).value_or(trace::JobState::unknown);
    };
    return trace::is_same_job(
        {.user = job.user, .name = job.name, .submit = job.submit, .end = end, .state = state(job)},
        {.user = later.user, .name = later.name, .submit = later.submit, .state = state(later)});
  }

  trace::SacctRows& rows_;
  bool lenient_;
  std::map<std::string, std::vector<Run>, std::less<>> runs_;
  std::vector<std::string> order_;
  std::int64_t count_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t with_gpus_ = 0;  // runs
  bool has_gpu_use_ = false;
  std::int64_t dropped_ = 0;
  std::string first_dropped_;
};

}  // namespace

Result<JobUseLog> read_job_use(const std::string& path, bool lenient) {
  const auto place = path == "-" ? table::spool_standard_input() : Result<std::string>(path);
  if (!place) return tl::unexpected(place.error());
  static const std::vector<std::string> kUsed{"JobID",
                                              "JobName",
                                              "User",
                                              "Partition",
                                              "State",
                                              "Submit",
                                              "End",
                                              "ElapsedRaw",
                                              "AllocCPUS",
                                              "AllocTRES",
                                              "TotalCPU",
                                              "MaxRSS",
                                              "NTasks",
                                              "TimelimitRaw",
                                              "TRESUsageInAve",
                                              "TRESUsageInMax",
                                              "ConsumedEnergyRaw"};
  const auto read = [&]() -> Result<JobUseLog> {
    const auto rows = trace::SacctRows::open(*place, kUsed, true, kUseCommand);
    if (!rows) return tl::unexpected(rows.error());
    return UseReader(**rows, lenient).read();
  };
  auto log = read();
  if (!log && path == "-") log.error().where.file = trace::kStandardInput;
  return log;
}

}  // namespace almanac::study
