// SPDX-License-Identifier: Apache-2.0
#include "reproduce/slurm_sacct.h"

#include <map>
#include <string_view>

#include "table/lines.h"
#include "text/datetime.h"
#include "text/number.h"

namespace almanac::reproduce {
namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t end = line.find('|');
    cells.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

std::int64_t time_of(std::string_view cell) {
  const auto time = text::parse_datetime(cell);
  return time ? static_cast<std::int64_t>(seconds(*time)) : -1;
}

}  // namespace

Result<std::vector<SacctJob>> read_sacct(const std::string& path) {
  constexpr std::int64_t kYear = 365 * 86'400;
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(lines.error());
  std::vector<SacctJob> jobs;
  std::map<std::string, std::size_t, std::less<>> columns;
  for (;;) {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) return jobs;
    const std::vector<std::string_view> cells = cells_of(*line);
    if (columns.empty()) {
      for (std::size_t at = 0; at < cells.size(); ++at) columns.emplace(cells[at], at);
      continue;
    }
    const auto cell = [&](std::string_view name) {
      const auto found = columns.find(name);
      return found == columns.end() || found->second >= cells.size() ? std::string_view{}
                                                                     : cells[found->second];
    };
    const auto number = [&](std::string_view name) {
      return text::parse_whole(cell(name)).value_or(0);
    };
    SacctJob job{.id = static_cast<std::uint32_t>(number("JobIDRaw")),
                 .user = std::string(cell("User")),
                 .account = std::string(cell("Account")),
                 .partition = std::string(cell("Partition")),
                 .qos = std::string(cell("QOS")),
                 .state = std::string(cell("State")),
                 .flags = std::string(cell("Flags")),
                 .node_list = std::string(cell("NodeList")),
                 .submit_line = std::string(cell("SubmitLine")),
                 .priority = number("Priority"),
                 .submit = time_of(cell("Submit")),
                 .eligible = time_of(cell("Eligible")),
                 .start = time_of(cell("Start")),
                 .end = time_of(cell("End")),
                 .cpus = static_cast<int>(number("AllocCPUS"))};
    const std::string_view name = cell("JobID");
    job.array = static_cast<std::uint32_t>(
        text::parse_whole(name.substr(0, name.find('_'))).value_or(job.id));
    if (const std::size_t at = name.find('_'); at != std::string_view::npos) {
      job.task = static_cast<int>(text::parse_whole(name.substr(at + 1)).value_or(-1));
    }
    const auto minutes = text::parse_whole(cell("TimelimitRaw"));
    job.time_limit = minutes ? *minutes * 60 : kYear;
    jobs.push_back(std::move(job));
  }
}

}  // namespace almanac::reproduce
