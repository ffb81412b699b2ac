// SPDX-License-Identifier: Apache-2.0
#include "cli/command/mcp/file_tools.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "process/capture.h"
#include "process/own_program.h"
#include "text/human.h"

namespace almanac::cli::mcp {
namespace {

constexpr auto kCommandPatience = std::chrono::minutes(10);

Json path_schema(const std::string& about) { return {{"type", "string"}, {"description", about}}; }

std::string path_argument(const Arguments& arguments, const char* name) {
  return arguments.value(name, std::string());
}

/// The error of a command that failed, from its standard error.
Error error_of(const process::Captured& captured) {
  constexpr std::string_view kName = "almanac: ";
  std::string_view rest = captured.err;
  std::string message;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!line.starts_with(kName) || line.starts_with("almanac: note: ")) continue;
    message = line.substr(kName.size());
  }
  if (message.empty()) message = "the command ended with " + to_string(captured.ending);
  return {Code::invalid, message};
}

/// What a command printed.
struct Printed {
  Json data{};
  std::vector<std::string> notes{};  ///< What it assumed and left out.
};

std::vector<std::string> notes_in(std::string_view err) {
  constexpr std::string_view kNote = "almanac: note: ";
  std::vector<std::string> notes;
  while (!err.empty()) {
    const std::string_view line = err.substr(0, err.find('\n'));
    err.remove_prefix(std::min(line.size() + 1, err.size()));
    if (line.starts_with(kNote)) notes.emplace_back(line.substr(kNote.size()));
  }
  return notes;
}

/// What `almanac WORD... -o json -- OPERAND...` prints. No operand is read as an option.
Result<Printed> run_command(const std::string& configuration, const std::vector<std::string>& words,
                            const std::vector<std::string>& operands, const process::Bell& stop) {
  std::vector<std::string> argv{process::own_program()};
  if (!configuration.empty()) argv.push_back("--config=" + configuration);
  argv.insert(argv.end(), words.begin(), words.end());
  argv.insert(argv.end(), {"-o", "json", "--"});
  argv.insert(argv.end(), operands.begin(), operands.end());
  const auto captured = process::capture({.argv = std::move(argv)}, kCommandPatience, &stop);
  if (!captured) return tl::unexpected(captured.error());
  if (!captured->ending.good()) return tl::unexpected(error_of(*captured));
  Json json = Json::parse(captured->out, nullptr, false);
  if (json.is_discarded()) return fail(Code::corrupt, "the command's output is not JSON");
  return Printed{std::move(json), notes_in(captured->err)};
}

/// "Of 3 policies, easy has the shortest mean wait: 2m 14s (fifo 5m 03s, ...)".
std::string shortest_wait(const Json& policies) {
  std::vector<std::pair<double, std::string>> waits;
  for (const Json& each : policies) {
    const Json wait = each.value("avg_wait_s", Json());
    // A bound knows the future, so no cluster can run it; what was recorded is no policy.
    const bool is_policy = !each.value("bound", false) && !each.value("recorded", false);
    if (!wait.is_number() || !is_policy) continue;
    waits.emplace_back(wait.get<double>(), each.value("policy", ""));
  }
  if (waits.empty()) return "No job waited or could be simulated.";
  std::stable_sort(waits.begin(), waits.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text =
      waits.size() == 1
          ? fmt::format("Under {} the mean wait is {}", waits.front().second,
                        text::human_time(waits.front().first))
          : fmt::format("Of {} policies, {} has the shortest mean wait: {}", waits.size(),
                        waits.front().second, text::human_time(waits.front().first));
  constexpr std::size_t kOthers = 4;
  std::vector<std::string> others;
  for (std::size_t at = 1; at < std::min(waits.size(), kOthers + 1); ++at)
    others.push_back(fmt::format("{} {}", waits[at].second, text::human_time(waits[at].first)));
  if (!others.empty()) text += fmt::format(" ({})", fmt::join(others, ", "));
  return text + ".";
}

Result<Answer> policies_of(Result<Printed> rows) {
  if (!rows) return tl::unexpected(rows.error());
  Answer made{.sentence = shortest_wait(rows->data)};
  if (!rows->notes.empty())
    made.sentence += fmt::format(" Notes: {}.", fmt::join(rows->notes, "; "));
  made.data["policies"] = std::move(rows->data);
  made.data["notes"] = std::move(rows->notes);
  return made;
}

/// How long a job waited in a run, and what for the longest time.
std::string waits_of(const Json& explanation) {
  double total_s = 0;
  double longest_s = 0;
  std::string reason;
  for (const Json& each : explanation.value("waits", Json::array())) {
    const double lasted_s = each.value("until_s", 0.0) - each.value("from_s", 0.0);
    total_s += lasted_s;
    if (lasted_s <= longest_s) continue;
    longest_s = lasted_s;
    reason = each.value("text", "");
  }
  const std::string policy = explanation.value("policy", "");
  return total_s <= 0 ? fmt::format("Under {} it never waited.", policy)
                      : fmt::format("Under {} it waited {}, for {} of that because: {}.", policy,
                                    text::human_time(total_s), text::human_time(longest_s), reason);
}

Result<Answer> explain_kept_job(const std::string& configuration, const Arguments& arguments,
                                const process::Bell& stop) {
  std::vector<std::string> words{"explain"};
  if (arguments.contains("policy"))
    words.push_back("--policy=" + arguments.at("policy").get<std::string>());
  auto json =
      run_command(configuration, words,
                  {path_argument(arguments, "run"), arguments.at("job").get<std::string>()}, stop);
  if (!json) return tl::unexpected(json.error());
  std::vector<std::string> sentences;
  for (const Json& each : json->data) sentences.push_back(waits_of(each));
  Answer made{.sentence = fmt::format("{}", fmt::join(sentences, " "))};
  made.data["explanations"] = std::move(json->data);
  return made;
}

Result<Answer> log_summary(const std::string& configuration, const Arguments& arguments,
                           const process::Bell& stop) {
  auto json =
      run_command(configuration, {"trace", "info"}, {path_argument(arguments, "log")}, stop);
  if (!json) return tl::unexpected(json.error());
  return Answer{
      .sentence = fmt::format(
          "The log has {} of {} in {}, with {} GPU-hours of run time.",
          text::counted(json->data.value("jobs", std::uint64_t{0}), "job"),
          text::counted(json->data.value("users", std::uint64_t{0}), "user"),
          text::human_time(json->data.value("span_s", 0.0)),
          text::grouped(static_cast<std::int64_t>(json->data.value("gpu_time_gpu_s", 0.0) / 3600))),
      .data = std::move(json->data)};
}

Result<Answer> simulate_log(const std::string& configuration, const Arguments& arguments,
                            const process::Bell& stop) {
  std::vector<std::string> words{"simulate"};
  if (arguments.contains("cluster"))
    words.push_back("--cluster=" + path_argument(arguments, "cluster"));
  const auto policies = arguments.value("policies", std::vector<std::string>());
  if (!policies.empty()) words.push_back(fmt::format("--policy={}", fmt::join(policies, ",")));
  return policies_of(run_command(configuration, words, {path_argument(arguments, "log")}, stop));
}

}  // namespace

std::vector<Tool> file_tools(const std::string& configuration) {
  std::vector<Tool> tools;
  tools.push_back({.name = "run_summary",
                   .title = "Results of a simulated run",
                   .about = "Waits, completion times, utilization and fairness of each policy in a "
                            "run directory of almanac simulate.",
                   .arguments = {{"run", path_schema("Run directory.")}},
                   .required = {"run"},
                   .call = [configuration](const Arguments& a, const process::Bell& stop) {
                     return policies_of(
                         run_command(configuration, {"compare"}, {path_argument(a, "run")}, stop));
                   }});
  tools.push_back({.name = "explain_run_job",
                   .title = "Why a job waited in a run",
                   .about = "Each reason why a job of a run directory waited, and for how long.",
                   .arguments = {{"run", path_schema("Run directory.")},
                                 {"job", path_schema("Job id of the run, as in its log.")},
                                 {"policy", path_schema("Only this policy.")}},
                   .required = {"run", "job"},
                   .call = [configuration](const Arguments& a, const process::Bell& stop) {
                     return explain_kept_job(configuration, a, stop);
                   }});
  tools.push_back({.name = "log_summary",
                   .title = "Summary of a job log",
                   .about = "Jobs, users, period, GPU time, run times and waits of a job log.",
                   .arguments = {{"log", path_schema("Job log of any format that Almanac reads.")}},
                   .required = {"log"},
                   .call = [configuration](const Arguments& a, const process::Bell& stop) {
                     return log_summary(configuration, a, stop);
                   }});
  tools.push_back(
      {.name = "simulate_log",
       .title = "What another policy would have done",
       .about =
           "Replays a job log under scheduling policies and compares them. Writes nothing. May "
           "take minutes; at most 10.",
       .arguments = {{"log", path_schema("Job log of any format that Almanac reads.")},
                     {"cluster",
                      path_schema("Cluster file, or NxG for N nodes of G GPUs (default: inferred "
                                  "from the log).")},
                     {"policies",
                      {{"type", "array"},
                       {"items", {{"type", "string"}}},
                       {"description",
                        "Policies such as easy, qssf or easy+gpu_time (default: a "
                        "few common ones)."}}}},
       .required = {"log"},
       .call = [configuration](const Arguments& a, const process::Bell& stop) {
         return simulate_log(configuration, a, stop);
       }});
  return tools;
}

}  // namespace almanac::cli::mcp
