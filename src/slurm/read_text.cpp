// SPDX-License-Identifier: Apache-2.0
#include "slurm/read_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "slurm/switches.h"
#include "text/duration.h"
#include "text/host_list.h"
#include "text/number.h"
#include "text/utf8.h"
#include "trace/sacct_states.h"
#include "trace/tres.h"

namespace almanac::slurm {
namespace {

std::string_view next(std::string_view& rest, std::string_view delimiter) {
  const std::string_view part = rest.substr(0, rest.find(delimiter));
  rest.remove_prefix(std::min(part.size() + delimiter.size(), rest.size()));
  return part;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool is_nothing(std::string_view value) {
  return value == "(null)" || value == "N/A" || value == "None" || value == "NONE";
}

/// What `read` makes of the fields of each line that has `key`.
template <typename Record, typename Read>
Result<std::vector<Record>> each_line(std::string_view text, const char* key, Read&& read) {
  std::vector<Record> made;
  while (!text.empty()) {
    const Fields fields = read_fields(next(text, "\n"));
    if (fields.count(key) == 0) continue;
    auto record = read(fields);
    if (!record) return tl::unexpected(record.error());
    made.push_back(std::move(*record));
  }
  return made;
}

std::string value_of(const Fields& fields, const char* key) {
  const auto found = fields.find(key);
  return found == fields.end() || is_nothing(found->second) ? "" : found->second;
}

int count_of(const Fields& fields, const char* key) {
  const auto value = text::parse_whole(value_of(fields, key)).value_or(0);
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, std::numeric_limits<int>::max()));
}

Time time_in(std::string_view text) {
  const auto value = text::parse_whole(text);
  // 1e12 seconds: later than any clock of a cluster, and sums fit.
  if (!value || *value <= 0 || *value > 1'000'000'000'000) return kNoTime;
  return Time(std::chrono::seconds(*value));
}

Result<Partition> partition_of(const Fields& fields) {
  auto nodes = text::expand_hosts(value_of(fields, "Nodes"));
  if (!nodes) return tl::unexpected(nodes.error());
  const std::string state = value_of(fields, "State");
  Partition made{.name = value_of(fields, "PartitionName"),
                 .nodes = std::move(*nodes),
                 .up = state == "UP" || state == "DRAIN",  // which only takes no new jobs
                 .is_default = value_of(fields, "Default") == "YES",
                 .priority_tier = count_of(fields, "PriorityTier"),
                 .oversubscribe = value_of(fields, "OverSubscribe")};
  const std::string limit = value_of(fields, "MaxTime");
  if (const auto parsed = text::parse_duration(limit); parsed && *parsed != text::kUnlimited) {
    made.max_time = *parsed;
  }
  return made;
}

Result<Reservation> reservation_of(const Fields& fields) {
  auto nodes = text::expand_hosts(value_of(fields, "Nodes"));
  if (!nodes) return tl::unexpected(nodes.error());
  return Reservation{.name = value_of(fields, "ReservationName"),
                     .nodes = std::move(*nodes),
                     .start = time_in(value_of(fields, "StartTime")),
                     .end = time_in(value_of(fields, "EndTime")),
                     .users = value_of(fields, "Users"),
                     .accounts = value_of(fields, "Accounts")};
}

Result<Licence> licence_of(const Fields& fields) {
  return Licence{.name = value_of(fields, "LicenseName"),
                 .total = count_of(fields, "Total"),
                 .used = count_of(fields, "Used")};
}

/// Or more: the name may have the delimiter.
bool has_all_columns(std::string_view row, std::string_view delimiter) {
  std::ptrdiff_t found = 0;
  for (auto at = row.find(delimiter); at != std::string_view::npos;
       at = row.find(delimiter, at + delimiter.size())) {
    ++found;
  }
  return found >= std::count(kAccountingColumns.begin(), kAccountingColumns.end(), ',');
}

/// "3_7" is task 7 of array 3, "10+1" a part of the heterogeneous job 10.
void read_number(std::string_view spelled, Job& job) {
  const auto cut = spelled.find_first_of("_+");
  if (cut == std::string_view::npos) return;
  const auto of = text::parse_whole(spelled.substr(0, cut));
  const auto which = text::parse_whole(spelled.substr(cut + 1));
  if (!of || *of <= 0 || *of > std::numeric_limits<std::uint32_t>::max()) return;
  const JobNumber number{static_cast<std::uint32_t>(*of)};
  if (spelled[cut] == '+') {
    job.het = number;
    return;
  }
  job.array = number;
  if (which && *which >= 0 && *which <= std::numeric_limits<std::int32_t>::max()) {
    job.task = static_cast<std::int32_t>(*which);
  }
}

}  // namespace

Fields read_fields(std::string_view line) {
  Fields fields;
  std::string* last = nullptr;
  while (!line.empty()) {
    const std::string_view word = next(line, " ");
    const auto equals = word.find('=');
    const bool is_key =
        equals != std::string_view::npos && equals > 0 &&
        std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                    [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '/'; }) &&
        std::isupper(static_cast<unsigned char>(word.front())) != 0;
    if (is_key) {
      last = &fields[std::string(word.substr(0, equals))];
      *last = word.substr(equals + 1);
    } else if (last != nullptr && !word.empty()) {
      last->append(" ").append(word);
    }
  }
  return fields;
}

Result<std::vector<Partition>> partitions_in(std::string_view text) {
  return each_line<Partition>(text, "PartitionName", partition_of);
}

Result<std::vector<Reservation>> reservations_in(std::string_view text) {
  return each_line<Reservation>(text, "ReservationName", reservation_of);
}

Result<std::vector<Licence>> licences_in(std::string_view text) {
  return each_line<Licence>(text, "LicenseName", licence_of);
}

Result<std::map<std::string, std::string>> switches_in(std::string_view text) {
  const auto told = each_line<Switch>(text, "SwitchName", [](const Fields& fields) {
    const bool is_leaf = value_of(fields, "Level") == "0";
    auto nodes = text::expand_hosts(is_leaf ? value_of(fields, "Nodes") : "");
    if (!nodes) return Result<Switch>(tl::unexpected(nodes.error()));
    auto switches = text::expand_hosts(value_of(fields, "Switches"));
    if (!switches) return Result<Switch>(tl::unexpected(switches.error()));
    return Result<Switch>(Switch{.name = value_of(fields, "SwitchName"),
                                 .is_leaf = is_leaf,
                                 .nodes = std::move(*nodes),
                                 .switches = std::move(*switches)});
  });
  if (!told) return tl::unexpected(told.error());
  return paths_of_nodes(*told);
}

Fields config_in(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::string_view line = next(text, "\n");
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = trimmed(line.substr(equals + 1));
    fields[std::string(trimmed(line.substr(0, equals)))] = is_nothing(value) ? "" : value;
  }
  return fields;
}

Result<std::vector<Association>> associations_in(std::string_view text) {
  std::vector<Association> made;
  std::vector<std::string> above;  // the accounts of the rows so far, by how far in they stand
  while (!text.empty()) {
    std::string_view row = next(text, "\n");
    if (trimmed(row).empty()) continue;
    const std::string line(row);
    const std::size_t depth = std::min(row.find_first_not_of(' '), row.size());
    Association one{.account = std::string(trimmed(next(row, "|")))};
    one.user = trimmed(next(row, "|"));
    one.partition = trimmed(next(row, "|"));
    const std::string_view shares = trimmed(next(row, "|"));
    const auto told_shares = text::parse_whole(shares);
    const auto billed = text::parse_decimal(trimmed(next(row, "|")));
    const std::string_view tres = trimmed(row);
    if (one.account.empty() || depth > above.size() || !billed) {
      return fail(Code::invalid, fmt::format("sshare printed no association: \"{}\"", line), {},
                  "check that this sshare is Slurm's");
    }
    one.shares = shares == "parent" ? Association::kParent : told_shares.value_or(0);
    one.use = *billed;
    constexpr std::string_view kGpus = ",gres/gpu=";
    if (const auto at = tres.find(kGpus); at != std::string_view::npos) {
      std::string_view rest = tres.substr(at + kGpus.size());
      one.use = 60 * static_cast<double>(text::parse_whole(next(rest, ",")).value_or(0));
    }
    if (one.user.empty()) {
      if (depth > 0) one.parent = above[depth - 1];
      above.resize(depth);
      above.push_back(one.account);
    }
    made.push_back(std::move(one));
  }
  return made;
}

std::vector<std::string_view> accounting_rows(std::string_view text, std::string_view delimiter) {
  std::vector<std::string_view> rows;
  while (!text.empty()) {
    const std::string_view line = next(text, "\n");
    if (rows.empty() || has_all_columns(line, delimiter)) {
      rows.push_back(line);
    } else {
      const char* const begin = rows.back().data();
      rows.back() = {begin, static_cast<std::size_t>(line.data() - begin) + line.size()};
    }
  }
  return rows;
}

Result<Job> accounting_in(std::string_view row, std::string_view delimiter) {
  std::string_view line = row;
  const auto refuse = [&](const char* what) {
    return fail(Code::invalid, fmt::format("sacct: {}: \"{}\"", what, row.substr(0, 120)));
  };
  if (!has_all_columns(row, delimiter))
    return refuse("a line must have all the columns that were requested");
  const auto column = [&] { return next(line, delimiter); };
  Job job;
  const auto number = text::parse_whole(column());
  if (!number || *number <= 0 || *number > std::numeric_limits<std::uint32_t>::max()) {
    return refuse("JobIDRaw must be a number");
  }
  job.number = JobNumber{static_cast<std::uint32_t>(*number)};
  read_number(column(), job);
  const auto word = trace::sacct_state(column());
  job.state = State::ended;
  // After REQUEUED it waits again, or runs: that is a row of its own. Of a state that is not known
  // nothing is.
  if (word == "REQUEUED") {
    job.outcome = trace::JobState::preempted;
  } else if (word) {
    job.outcome = trace::parse_state(*word).value_or(trace::JobState::unknown);
  }
  job.submit = time_in(column());
  if (job.submit == kNoTime) return refuse("Submit must be seconds since 1970");
  job.eligible = time_in(column());
  job.start = time_in(column());
  job.end = time_in(column());
  const auto elapsed = text::parse_whole(column());
  job.ran = std::chrono::seconds(std::clamp<std::int64_t>(elapsed.value_or(0), 0, 10'000'000'000));
  const auto limit = text::parse_whole(column());
  if (limit && *limit > 0 && *limit < 1'000'000'000) job.limit = std::chrono::minutes(*limit);
  const auto nodes = text::parse_whole(column());
  if (nodes && *nodes > 0 && *nodes < 1'000'000) job.nodes = static_cast<int>(*nodes);
  std::string_view tres = column();
  const std::string_view asked = column();
  if (tres.empty()) tres = asked;
  const auto has = trace::parse_tres(tres);
  if (!has) return refuse("AllocTRES must be a list like cpu=8,node=1");
  job.gpus = has->gpus;
  // The log has the requested GPU type; the type that the job got follows from its nodes.
  if (const auto wish = trace::parse_tres(asked)) job.gpu_type = wish->gpu_type;
  if (std::isfinite(has->cpus)) job.cpus = has->cpus;
  if (std::isfinite(has->memory_gb)) job.memory_gb = has->memory_gb;
  const auto priority = text::parse_whole(column());
  if (priority && *priority >= 0 && *priority < 0xffffffff) {
    job.priority = static_cast<std::uint32_t>(*priority);
  }
  const auto uid = text::parse_whole(column());
  if (uid && *uid >= 0 && *uid < 0xffffffff) job.uid = static_cast<std::uint32_t>(*uid);
  job.user = column();
  job.account = column();
  job.partition = column();
  job.qos = column();
  job.name = text::mend_utf8(line);
  return job;
}

}  // namespace almanac::slurm
