// SPDX-License-Identifier: Apache-2.0
#include "shepherd/remote.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "process/descriptor.h"
#include "shepherd/folder.h"
#include "shepherd/record.h"

namespace almanac::shepherd {

using Kind = Outcome::Kind;

NLOHMANN_JSON_SERIALIZE_ENUM(Kind, {{Kind::lives, "lives"},
                                    {Kind::ended, "ended"},
                                    {Kind::lost, "lost"},
                                    {Kind::corrupt, "corrupt"},
                                    {Kind::never_started, "never_started"},
                                    {Kind::unreadable, "unreadable"}})
using TaskState = RemoteTask::State;
NLOHMANN_JSON_SERIALIZE_ENUM(TaskState, {{TaskState::made, "made"},
                                         {TaskState::sent, "sent"},
                                         {TaskState::ready, "ready"},
                                         {TaskState::ended, "ended"}})

namespace {

using nlohmann::json;

json of(const Outcome& outcome) {
  json made{{"kind", outcome.kind}, {"is_account", outcome.is_account}, {"why", outcome.why}};
  if (outcome.exit) made["exit"] = to_json(*outcome.exit);
  return made;
}

Outcome read_outcome(const json& from) {
  Outcome made{.kind = from.at("kind").get<Kind>(),
               .is_account = from.at("is_account").get<bool>(),
               .why = from.at("why").get<std::string>()};
  if (from.contains("exit")) {
    auto exit = parse_record<Exit>(from.at("exit").get<std::string>());
    if (!exit) throw json::other_error::create(501, exit.error().message, &from);
    made.exit = *std::move(exit);
  }
  if ((made.kind == Kind::ended) != made.exit.has_value()) {
    throw json::other_error::create(501, "an end without its record", &from);
  }
  return made;
}

std::string text_of(const json& made) {
  return made.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool ended_well(const Outcome& outcome) {
  return outcome.kind == Kind::ended && outcome.exit->ending.status == 0 &&
         outcome.exit->ending.signal == 0 && outcome.exit->cause == Cause::by_itself;
}

}  // namespace

std::string spec_file(std::size_t task) { return fmt::format("/spec.{}.json", task); }

bool RemoteRun::has_ended() const {
  return std::all_of(tasks.begin(), tasks.end(),
                     [](const RemoteTask& each) { return each.state == TaskState::ended; });
}

Result<RemoteRun> read_remote(const std::string& folder) try {
  const auto text = read_file(folder + kTasksFile);
  if (!text) return tl::unexpected(text.error());
  const json read = json::parse(*text);
  RemoteRun made{.nonce = read.at("nonce").get<std::string>(),
                 .may_start = read.at("may_start").get<bool>()};
  for (const json& each : read.at("tasks")) {
    RemoteTask& task = made.tasks.emplace_back();
    task.box = each.at("box").get<std::string>();
    task.state = each.at("state").get<TaskState>();
    if (task.state == TaskState::ended) task.outcome = read_outcome(each.at("outcome"));
  }
  return made;
} catch (const json::exception& error) {
  return fail(Code::corrupt, error.what(), {.file = folder + kTasksFile});
}

Result<void> write_remote(const std::string& folder, const RemoteRun& run) {
  json tasks = json::array();
  for (const RemoteTask& each : run.tasks) {
    json task{{"box", each.box}, {"state", each.state}};
    if (each.state == TaskState::ended) task["outcome"] = of(each.outcome);
    tasks.push_back(std::move(task));
  }
  const std::string text =
      text_of({{"nonce", run.nonce}, {"may_start", run.may_start}, {"tasks", std::move(tasks)}});
  auto file = NewFile::create(folder + kTasksFile);
  if (!file) return tl::unexpected(file.error());
  if (auto written = file->commit(text); !written) return written;
  // Who has the other end open finds it readable from now on.
  if (run.has_ended()) {
    const process::Descriptor poke(
        ::open((folder + kNewsFile).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }
  return {};
}

Outcome outcome_of(const RemoteRun& run) {
  const auto whole = [&](Outcome outcome, const RemoteTask& task) {
    if (!outcome.why.empty()) outcome.why = task.box + ": " + outcome.why;
    if (!outcome.exit || run.tasks.size() == 1) return outcome;
    process::Usage& usage = outcome.exit->usage;
    usage = {};
    outcome.exit->log_dropped = 0;
    for (const RemoteTask& each : run.tasks) {
      if (!each.outcome.exit) continue;
      const Exit& exit = *each.outcome.exit;
      usage.cpu_s += exit.usage.cpu_s;
      usage.read_gb += exit.usage.read_gb;
      usage.written_gb += exit.usage.written_gb;
      usage.memory_gb += exit.usage.memory_gb;
      outcome.exit->log_dropped += exit.log_dropped;
      outcome.exit->start = std::min(outcome.exit->start, exit.start);
      outcome.exit->end = std::max(outcome.exit->end, exit.end);
      outcome.exit->ran = std::max(outcome.exit->ran, exit.ran);
    }
    return outcome;
  };
  const auto first = [&](auto&& is_it) {
    return std::find_if(run.tasks.begin(), run.tasks.end(), is_it);
  };
  const bool none_started =
      std::all_of(run.tasks.begin(), run.tasks.end(),
                  [](const RemoteTask& each) { return each.outcome.kind == Kind::never_started; });
  if (none_started) return whole(run.tasks.front().outcome, run.tasks.front());
  for (const Kind kind : {Kind::corrupt, Kind::lost}) {
    const auto found = first([&](const RemoteTask& each) { return each.outcome.kind == kind; });
    if (found != run.tasks.end()) return whole(found->outcome, *found);
  }
  // Tasks that were ended because another failed say less than that one.
  const auto own = first([](const RemoteTask& each) {
    return each.outcome.kind == Kind::ended && !ended_well(each.outcome) &&
           each.outcome.exit->cause != Cause::told;
  });
  if (own != run.tasks.end()) return whole(own->outcome, *own);
  const auto bad = first([](const RemoteTask& each) {
    return each.outcome.kind == Kind::ended && !ended_well(each.outcome);
  });
  if (bad != run.tasks.end()) return whole(bad->outcome, *bad);
  const auto never =
      first([](const RemoteTask& each) { return each.outcome.kind == Kind::never_started; });
  if (never != run.tasks.end()) {
    Outcome lost = never->outcome;
    lost.kind = Kind::lost;  // the others have run
    return whole(std::move(lost), *never);
  }
  return whole(run.tasks.front().outcome, run.tasks.front());
}

std::string order_word(int signal) {
  if (signal == SIGTERM) return "end";
  if (signal == SIGUSR2) return "memory";
  if (signal == SIGQUIT) return "end_now";
  if (signal == SIGKILL) return "kill";
  ALMANAC_CHECK(signal == kMakeRoom, "signal {} is no order to a box", signal);
  return "room";
}

Result<void> order_remote(const std::string& folder, const std::string& word) {
  static std::mutex mutex;  // between the look and the change
  constexpr std::array<std::string_view, 5> kWeakestFirst{"room", "end", "memory", "end_now",
                                                          "kill"};
  const auto strength = [&](const std::string& of) {
    const auto* const found = std::find(kWeakestFirst.begin(), kWeakestFirst.end(), of);
    return found == kWeakestFirst.end() ? 0 : found - kWeakestFirst.begin() + 1;
  };
  const std::lock_guard lock(mutex);
  const auto standing = read_file(folder + kOrderFile);
  if (!standing && standing.error().code != Code::not_found) {
    return tl::unexpected(standing.error());
  }
  if (standing && strength(*standing) >= strength(word)) return {};
  return write_file(folder + kOrderFile, word);
}

std::string to_json(const Outcome& outcome) { return text_of(of(outcome)); }

Result<Outcome> parse_outcome(std::string_view text) try {
  return read_outcome(json::parse(text));
} catch (const json::exception& error) {
  return fail(Code::corrupt, fmt::format("not the outcome of a run: {}", error.what()));
}

}  // namespace almanac::shepherd
