// SPDX-License-Identifier: Apache-2.0
#include "study/efficiency.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stats/quantile.h"
#include "table/csv_reader.h"
#include "table/spool.h"
#include "text/datetime.h"
#include "text/number.h"
#include "trace/tres.h"

namespace almanac::study {
namespace {

constexpr double kNotTold = std::numeric_limits<double>::quiet_NaN();

/// "[D-][HH:]MM:SS[.mmm]" in seconds; nothing for what is none.
std::optional<double> cpu_seconds(std::string_view text) {
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
  const std::string_view letters = "KMGT";
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

class Reader {
 public:
  explicit Reader(table::CsvReader csv) : csv_(std::move(csv)) {}

  Result<std::vector<JobUse>> read() {
    for (const char* const column : {"JobID", "ElapsedRaw", "AllocCPUS", "AllocTRES", "TotalCPU"}) {
      if (csv_.find(column)) continue;
      return fail(Code::invalid,
                  fmt::format("the column \"{}\" is missing: the header has {}", column,
                              fmt::join(csv_.header(), ", ")),
                  csv_.where(), fmt::format("all columns: {}", kUseCommand));
    }
    if (const auto name = csv_.find("JobName")) csv_.join_surplus_into(*name);
    for (;;) {
      const auto more = csv_.next();
      if (!more) return tl::unexpected(more.error());
      if (!*more) break;
      const std::string_view id = field("JobID");
      const auto dot = id.find('.');
      dot == std::string_view::npos ? add_job(id) : add_step(id.substr(0, dot));
    }
    std::erase_if(jobs_, [](const JobUse& job) { return job.elapsed <= Duration{0}; });
    return std::move(jobs_);
  }

 private:
  std::string_view field(std::string_view column) const {
    const auto at = csv_.find(column);
    return at ? csv_[*at] : std::string_view();
  }

  void add_job(std::string_view id) {
    JobUse job{.id = std::string(id),
               .name = std::string(field("JobName")),
               .user = std::string(field("User")),
               .state = std::string(field("State").substr(0, field("State").find(' '))),
               .cores = text::parse_decimal(field("AllocCPUS")).value_or(0),
               .memory_gb = kNotTold,
               .memory_used_gb = kNotTold,
               .gpu_use = kNotTold};
    if (const auto submit = text::parse_datetime(field("Submit"))) job.submit = *submit;
    const double elapsed_s = text::parse_decimal(field("ElapsedRaw")).value_or(0);
    job.elapsed = Duration{std::llround(elapsed_s * 1e3)};
    if (const auto limit = text::parse_decimal(field("TimelimitRaw"))) {
      job.limit = Duration{std::llround(*limit * 60'000)};
    }
    if (const auto tres = trace::parse_tres(field("AllocTRES"))) {
      job.gpus = tres->gpus;
      job.memory_gb = static_cast<double>(tres->memory_gb);
    }
    const auto used = cpu_seconds(field("TotalCPU"));
    job.cores_used = used && elapsed_s > 0 ? *used / elapsed_s : kNotTold;
    place_[job.id] = jobs_.size();
    jobs_.push_back(std::move(job));
  }

  /// Slurm writes the steps of a job behind it.
  void add_step(std::string_view of) {
    const auto found = place_.find(of);
    if (found == place_.end()) return;
    JobUse& job = jobs_[found->second];
    const double tasks = text::parse_decimal(field("NTasks")).value_or(1);
    if (const auto most = gigabytes(field("MaxRSS"))) {
      job.memory_used_gb = std::fmax(job.memory_used_gb, *most * std::max(1.0, tasks));
    }
    const auto use = text::parse_decimal(tres_value(field("TRESUsageInAve"), "gres/gpuutil"));
    if (use && job.gpus > 0) {
      // Counted is the sum over a task's GPUs, in percent.
      const double share = std::min(1.0, *use * std::max(1.0, tasks) / (100 * job.gpus));
      job.gpu_use = std::fmax(job.gpu_use, share);
    }
  }

  table::CsvReader csv_;
  std::vector<JobUse> jobs_;
  std::map<std::string, std::size_t, std::less<>> place_;
};

}  // namespace

double JobUse::time_share() const {
  return limit == kNoDuration ? kNotTold : seconds(elapsed) / seconds(limit);
}

Result<std::vector<JobUse>> read_job_use(const std::string& path) {
  const auto place = path == "-" ? table::spool_standard_input() : Result<std::string>(path);
  if (!place) return tl::unexpected(place.error());
  auto csv = table::CsvReader::open(*place, '|');
  if (!csv) return tl::unexpected(csv.error());
  return Reader(std::move(*csv)).read();
}

std::vector<UserUse> by_user(const std::vector<JobUse>& jobs) {
  struct Shares {
    UserUse use{};
    std::vector<double> memory{};
    std::vector<double> time{};
  };
  std::map<std::string, Shares> users;
  for (const JobUse& job : jobs) {
    // Shorter than Slurm samples, a job's use says nothing.
    if (job.elapsed < 1min) continue;
    Shares& user = users[job.user];
    const double hours = seconds(job.elapsed) / 3600;
    ++user.use.jobs;
    if (const double share = job.core_share(); std::isfinite(share)) {
      user.use.core_hours += job.cores * hours;
      user.use.core_hours_unused += job.cores * hours * std::max(0.0, 1 - share);
    }
    user.use.gpu_hours += job.gpus * hours;
    if (std::isfinite(job.gpu_use)) {
      user.use.gpu_hours_known += job.gpus * hours;
      user.use.gpu_hours_unused += job.gpus * hours * (1 - job.gpu_use);
    }
    if (const double share = job.memory_share(); std::isfinite(share)) {
      user.use.gb_hours += job.memory_gb * hours;
      user.use.gb_hours_unused += job.memory_gb * hours * std::max(0.0, 1 - share);
      user.memory.push_back(share);
    }
    if (std::isfinite(job.time_share())) user.time.push_back(job.time_share());
  }
  std::vector<UserUse> all;
  for (auto& [name, user] : users) {
    user.use.user = name;
    user.use.memory_share = stats::quantile(user.memory, 0.5);
    user.use.time_share = stats::quantile(user.time, 0.5);
    all.push_back(std::move(user.use));
  }
  std::stable_sort(all.begin(), all.end(), [](const UserUse& a, const UserUse& b) {
    return std::pair(a.gpu_hours_unused, a.core_hours_unused) >
           std::pair(b.gpu_hours_unused, b.core_hours_unused);
  });
  return all;
}

}  // namespace almanac::study
