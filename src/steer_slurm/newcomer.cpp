// SPDX-License-Identifier: Apache-2.0
#include "steer_slurm/newcomer.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "slurm/gres.h"
#include "text/number.h"

namespace almanac::steer_slurm {
namespace {

constexpr std::string_view kFirstLine = "almanac-job-submit 1\n";

int to_int(std::int64_t count) {
  return static_cast<int>(std::min<std::int64_t>(count, std::numeric_limits<int>::max()));
}

class Question {
 public:
  explicit Question(std::string_view lines) {
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      const std::string_view line = lines.substr(0, end);
      if (const auto space = line.find(' '); space != line.npos) {
        values_.try_emplace(line.substr(0, space), line.substr(space + 1));
      }
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  }

  std::string text(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string() : std::string(found->second);
  }
  std::optional<std::int64_t> number(std::string_view name) const {
    constexpr std::int64_t kLargest = 1'000'000'000;
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    const auto read = almanac::text::parse_whole(found->second);
    if (!read || *read < 0 || *read > kLargest) return std::nullopt;
    return *read;
  }
  slurm::Gres gres(std::string_view name) const {
    return slurm::parse_gres(text(name)).value_or(slurm::Gres{});
  }

 private:
  std::map<std::string_view, std::string_view> values_;
};

}  // namespace

std::optional<manager::Job> read_question(std::string_view text) {
  if (!text.starts_with(kFirstLine)) return std::nullopt;
  const Question question(text.substr(kFirstLine.size()));
  const auto uid = question.number("uid");
  if (!uid) return std::nullopt;
  manager::Job job{.name = question.text("name"),
                   .uid = static_cast<std::uint32_t>(*uid),
                   .account = question.text("account"),
                   .partition = question.text("partition"),
                   .qos = question.text("qos")};
  job.tasks = question.text("array");
  job.nodes = to_int(std::max<std::int64_t>(1, question.number("nodes").value_or(1)));
  const std::int64_t tasks = question.number("tasks").value_or(job.nodes);
  const slurm::Gres of_job = question.gres("tres_per_job");
  const slurm::Gres of_node = question.gres("tres_per_node");
  const slurm::Gres of_task = question.gres("tres_per_task");
  job.gpus_per_node = of_node.gpus;
  job.gpus = std::max(
      {of_job.gpus, to_int(std::int64_t{of_node.gpus} * job.nodes), to_int(of_task.gpus * tasks)});
  for (const slurm::Gres* each : {&of_job, &of_node, &of_task}) {
    if (job.gpu_type.empty()) job.gpu_type = each->gpu_type;
    job.shards = std::max(job.shards, each->shards);
  }
  const auto cpus = question.number("cpus");
  const std::int64_t of_tasks = tasks * question.number("cpus_per_task").value_or(1);
  job.cpus = static_cast<double>(std::max(cpus.value_or(1), of_tasks));
  if (const auto memory_mb = question.number("memory_mb")) {
    job.memory_gb = static_cast<double>(*memory_mb) / 1024 * job.nodes;
  }
  if (const auto limit = question.number("limit_min")) job.limit = std::chrono::minutes(*limit);
  return job;
}

std::string to_text(const Answer& answer) {
  std::string made;
  if (answer.site_factor) made += fmt::format("site_factor {}\n", *answer.site_factor);
  if (answer.hold > Duration{0}) {
    made += fmt::format("hold {}\n", std::chrono::floor<std::chrono::seconds>(answer.hold).count());
  }
  // The plugin takes an empty message for no answer.
  if (made.empty()) made = "pass\n";
  return made;
}

}  // namespace almanac::steer_slurm
