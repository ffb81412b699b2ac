// SPDX-License-Identifier: Apache-2.0
#include "cli/change_jobs.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

struct ChangeOptions {
  ServiceOptions service;
  serve::Which which;
};

/// "17,18" and "12_[0-2,4],20" are several: commas part them, outside of brackets.
std::vector<std::string> parted(const std::vector<std::string>& words) {
  std::vector<std::string> made;
  for (const std::string& word : words) {
    bool is_inside = false;
    std::string each;
    for (const char c : word) {
      if (c == '[') is_inside = true;
      if (c == ']') is_inside = false;
      if (c == ',' && !is_inside) {
        made.push_back(std::exchange(each, {}));
      } else {
        each += c;
      }
    }
    made.push_back(std::move(each));
  }
  return made;
}

bool has_filter(const serve::Which& which) {
  return which.all || !which.user.empty() || !which.state.empty() || !which.name.empty();
}

void say_changed(const serve::Client::Changed& changed, const serve::Which& which,
                 const std::string& verb, const std::string& done) {
  constexpr std::size_t kMostLines = 20;
  const auto say = [&](const std::string& job) {
    fmt::print("{}", which.dry_run ? fmt::format("would {} job {}\n", verb, job)
                                   : fmt::format("job {} {}\n", job, done));
  };
  if (!has_filter(which)) {  // as they were named
    std::set<std::string> refused;
    for (const serve::RefusedJob& each : changed.refused) refused.insert(each.job);
    for (const std::string& each : which.jobs) {
      if (!refused.contains(each)) say(each);
    }
    return;
  }
  if (changed.numbers.empty()) note("no pending or running job matches");
  if (changed.numbers.size() > kMostLines && !which.dry_run) {
    fmt::print("{} {}\n", text::counted(changed.numbers.size(), "job"), done);
    return;
  }
  for (const store::JobNumber each : changed.numbers) say(fmt::format("{}", each));
}

Result<int> change(ChangeOptions options, const std::string& verb, const std::string& done) {
  serve::Which& which = options.which;
  if (which.jobs.empty() && !has_filter(which)) {
    return fail(Code::usage, fmt::format("{} needs a selection of jobs", verb), {},
                "give job ids, --user, --state or --name; or --all");
  }
  which.jobs = parted(which.jobs);
  return change_jobs(options.service, which, verb, done);
}

}  // namespace

std::string refusal_of(const std::string& job, const std::string& message) {
  const std::string name = "job " + job;
  return message.starts_with(name + " ") ? message : name + ": " + message;
}

Result<int> change_jobs(const ServiceOptions& service, const serve::Which& which,
                        const std::string& verb, const std::string& done) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  const auto changed = client->change(verb, which);
  if (!changed) return tl::unexpected(changed.error());
  say_changed(*changed, which, verb, done);
  int status = kDone;
  for (const serve::RefusedJob& each : changed->refused) {
    print_message("almanac: " + refusal_of(each.job, each.why.message));
    status = exit_status(each.why.code);
  }
  return status;
}

void add_change(Program& program, const std::string& verb, const std::string& description,
                const std::string& done, const std::string& now) {
  CLI::App& command = program.command(Purpose::jobs, verb, description);
  const auto options = std::make_shared<ChangeOptions>();
  serve::Which& which = options->which;
  CLI::Option* const jobs = command.add_option(
      "JOB", which.jobs,
      "Job ids: 17; 12 for all tasks of array 12, 12_3 for one, 12_[0-4,7] for some");
  command.add_option("-u,--user", which.user, "Only jobs of this user")->type_name("NAME");
  command
      .add_option("-t,--state", which.state, "Only jobs in this state: PD (pending) or R (running)")
      ->type_name("STATE");
  command.add_option("-n,--name", which.name, "Only jobs with this name")->type_name("NAME");
  command.add_flag("--all", which.all, "All your pending and running jobs (for root: everybody's)")
      ->excludes(jobs);
  command.add_flag("--dry-run", which.dry_run, "Print what would happen; change nothing");
  if (!now.empty()) command.add_flag("--now", which.now, now);
  options->service.add_to(command);
  add_example(command, "almanac " + verb + " 17");
  add_example(command, "almanac " + verb + " --name train --state PD");
  program.on(command, [options, verb, done] { return change(*options, verb, done); });
}

}  // namespace almanac::cli
