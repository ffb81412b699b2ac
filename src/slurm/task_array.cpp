// SPDX-License-Identifier: Apache-2.0
#include "slurm/task_array.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slurm/refusals.h"
#include "text/number.h"

namespace almanac::slurm {
namespace {

constexpr Duration kScontrolPatience = 60s;

/// What a plugin says stands before what Slurm says: all lines tell.
std::string in_one_line(std::string text) {
  text.erase(text.find_last_not_of('\n') + 1);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Result<std::string> ask(const RunCommand& run, const std::vector<std::string>& argv) {
  auto said = run(argv, kScontrolPatience);
  if (!said) return tl::unexpected(said.error());
  if (said->status == 0) return std::move(said->out);
  const std::string& why = said->err.empty() ? said->out : said->err;
  return fail(code_of_refusal(why), in_one_line(why));
}

}  // namespace

Result<JobNumber> submit(const TaskArray& array, const RunCommand& run) {
  std::vector<std::string> argv{"sbatch", "--job-name=" + array.name,
                                fmt::format("--cpus-per-task={}", array.cores)};
  argv.insert(argv.end(), array.options.begin(), array.options.end());
  // If an option is given twice, the last one counts: these are ours.
  argv.insert(argv.end(), {"--parsable", fmt::format("--array={}", fmt::join(array.tasks, ",")),
                           "--output=/dev/null", "--error=" + array.err, "--wrap=" + array.script});
  const auto said = ask(run, argv);
  if (!said) return tl::unexpected(said.error());
  // "123", or "123;cluster".
  const auto number = text::parse_whole(said->substr(0, said->find_first_of(";\n")));
  if (!number || *number <= 0) {
    return fail(Code::invalid,
                fmt::format("sbatch should have printed a job number, but printed {}", *said), {},
                "check that this sbatch is Slurm's");
  }
  return JobNumber{static_cast<std::uint32_t>(*number)};
}

Result<std::map<std::uint32_t, Task>> tasks_of(JobNumber array, const RunCommand& run) {
  const auto said =
      ask(run, {"squeue", "--noheader", "--array", "--states=all",
                fmt::format("--jobs={}", static_cast<std::uint32_t>(array)), "--format=%K %T %r"});
  std::map<std::uint32_t, Task> tasks;
  if (!said) {
    if (said.error().code == Code::not_found) return tasks;
    return tl::unexpected(said.error());
  }
  std::istringstream lines(*said);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint32_t number = 0;
    Task task;
    if (!(words >> number >> task.word)) continue;
    std::getline(words >> std::ws, task.reason);
    const auto stands = read_state({task.word});
    if (!stands) {
      return fail(Code::invalid, fmt::format("squeue printed an unknown state: {}", line));
    }
    task.state = stands->state;
    tasks.emplace(number, std::move(task));
  }
  return tasks;
}

}  // namespace almanac::slurm
