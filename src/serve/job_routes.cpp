// SPDX-License-Identifier: Apache-2.0

/// \file
/// The routes that show, submit and cancel jobs.
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <pwd.h>

#include "serve/answers.h"
#include "serve/api.h"
#include "serve/fields.h"
#include "serve/query.h"
#include "serve/submission_json.h"
#include "serve/view_json.h"
#include "service/inquest.h"
#include "submission/cluster_names.h"

namespace almanac::serve {
namespace {

/// What the system calls a user, and the group; the number where it knows none.
std::pair<std::string, std::uint32_t> account_of(std::uint32_t uid) {
  std::array<char, 16'384> space;
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(uid, &entry, space.data(), space.size(), &found);
  if (found == nullptr) return {std::to_string(uid), uid};
  return {found->pw_name, found->pw_gid};
}

}  // namespace

void Api::add_jobs() {
  on("GET", "/v1/jobs", [this](const Ask& ask, const std::string&) { return list_jobs(ask); });
  on("POST", "/v1/jobs", [this](const Ask& ask, const std::string&) { return submit(ask); });
  on("GET", "/v1/jobs/{number}", [this](const Ask&, const std::string& part) {
    const auto found = find_job(service_, part);
    return found ? json(to_json(*found, *service_.cluster())) : problem(found.error());
  });
  on("GET", "/v1/jobs/{number}/explain", [this](const Ask& ask, const std::string& part) {
    const auto found = find_job(service_, part);
    if (!found) return problem(found.error());
    const auto lines = service_.explain(found->job.number, eyes_of(ask, found->job));
    if (!lines) return problem(lines.error());
    return json(dumped({{"job_id", job_id(found->job)}, {"lines", *lines}}));
  });
  on("GET", "/v1/jobs/{number}/starts-if", [this](const Ask&, const std::string& part) {
    const auto found = find_job(service_, part);
    if (!found) return problem(found.error());
    const auto changes = service_.starts_if(found->job.number);
    if (!changes) return problem(changes.error());
    return *changes ? json(to_json(**changes)) : none_yet();
  });
  on("GET", "/v1/jobs/{number}/forecast", [this](const Ask&, const std::string& part) {
    const auto found = find_job(service_, part);
    if (!found) return problem(found.error());
    // A worker does not wait for forecasts; a client that wants to wait asks again.
    const auto expected = service_.expect(found->job.number, 0ms);
    return expected ? json(to_json(*expected)) : none_yet();
  });
  on("POST", "/v1/forecast", [this](const Ask& ask, const std::string&) {
    auto asked = read_submission(ask.body);
    if (!asked) return problem(asked.error());
    asked->user = account_of(guard_.caller(ask).uid).first;
    const auto expected = service_.foresee(*asked);
    if (!expected) return problem(expected.error());
    return *expected ? json(to_json(**expected)) : none_yet();
  });
  on("POST", "/v1/forecast/if", [this](const Ask& ask, const std::string&) {
    const auto changes = read_changes(ask.body);
    if (!changes) return problem(changes.error());
    const auto changed = service_.foresee(*changes);
    if (!changed) return problem(changed.error());
    return *changed ? json(to_json(**changed)) : none_yet();
  });
  on("GET", "/v1/jobs/{number}/events", [this](const Ask& ask, const std::string& part) {
    const auto found = find_job(service_, part);
    if (!found) return problem(found.error());
    auto notes = service_.store().notes(found->job.number);
    if (!notes) return problem(notes.error());
    const service::Eyes eyes = eyes_of(ask, found->job);
    for (store::Note& note : *notes) note.detail = service::detail_for(note, eyes);
    const auto told = service_.store().told(found->job.number);
    return told ? json(to_json(*notes, *told)) : problem(told.error());
  });

  using Change = Result<void> (service::Service::*)(const std::vector<store::JobNumber>&,
                                                    const service::Caller&);
  const auto on_change = [this](const char* path, Change act) {
    on("POST", path, [this, act](const Ask& ask, const std::string& part) {
      return change(ask, part, [&](const auto& numbers, const service::Caller& caller) {
        return (service_.*act)(numbers, caller);
      });
    });
  };
  on("POST", "/v1/jobs/{number}/cancel", [this](const Ask& ask, const std::string& part) {
    const auto known = knows(ask, {"now"});
    if (!known) return problem(known.error());
    const auto now = whole(ask, "now", 0);
    if (!now) return problem(now.error());
    return change(ask, part, [&](const auto& numbers, const service::Caller& caller) {
      return service_.cancel(numbers, caller, *now != 0);
    });
  });
  on("POST", "/v1/jobs/{number}/update", [this](const Ask& ask, const std::string& part) {
    const auto wanted = read_amended(ask.body);
    if (!wanted) return problem(wanted.error());
    return change(ask, part, [&](const auto& numbers, const service::Caller& caller) {
      return service_.update(numbers, *wanted, caller);
    });
  });
  const auto on_many = [this](const char* path, Change act, bool ended_too = false,
                              LeavesAlone leaves_alone = {}) {
    on("POST", path, [this, act, ended_too, leaves_alone](const Ask& ask, const std::string&) {
      return change_many(ask, ended_too, leaves_alone,
                         [&](const Chosen& chosen, const Which&, const service::Caller& caller) {
                           return (service_.*act)(chosen.numbers, caller);
                         });
    });
  };
  on("POST", "/v1/jobs/cancel", [this](const Ask& ask, const std::string&) {
    return change_many(
        ask, false, {},
        [&](const Chosen& chosen, const Which& which, const service::Caller& caller) {
          return service_.cancel(chosen.numbers, caller, which.now);
        });
  });
  on_many("/v1/jobs/hold", &service::Service::hold, false,
          [](const store::Job& job) -> std::optional<Error> {
            if (job.state != trace::JobState::running) return std::nullopt;
            return Error{Code::conflict,
                         fmt::format("job {} is already running", job_id(job)),
                         {},
                         "requeue it first"};
          });
  on_many("/v1/jobs/release", &service::Service::release);
  on_many("/v1/jobs/requeue", &service::Service::requeue, true);
  on_change("/v1/jobs/{number}/hold", &service::Service::hold);
  on_change("/v1/jobs/{number}/release", &service::Service::release);
  on_change("/v1/jobs/{number}/requeue", &service::Service::requeue);
}

service::Eyes Api::eyes_of(const Ask& ask, const store::Job& job) const {
  return guard_.refuses_log(ask, job.asked->uid) ? service::Eyes::others : service::Eyes::owner;
}

Answer Api::list_jobs(const Ask& ask) const {
  constexpr std::int64_t kMost = 10'000;
  const auto known =
      knows(ask, {"state", "user", "name", "since", "limit", "after", "place", "revision"});
  const auto since = time(ask, "since");
  const auto limit = whole(ask, "limit", kMost);
  const auto after = whole(ask, "after", 0);
  const auto place = whole(ask, "place", 0);
  if (!known) return problem(known.error());
  if (!since) return problem(since.error());
  if (!limit) return problem(limit.error());
  if (!after) return problem(after.error());
  if (!place) return problem(place.error());
  const std::string user = word(ask, "user");
  const std::string name = word(ask, "name");
  std::optional<trace::JobState> state;
  if (const std::string said = word(ask, "state"); !said.empty()) {
    state = trace::parse_state(said);
    if (!state) {
      return problem(400, fmt::format("no state is named {}", said),
                     "states are those of Slurm, such as PD, R, CD, F, CA, TO and NF");
    }
  }
  return json_at(ask, service_.revision(), [&]() -> Result<std::string> {
    const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(*limit, 1, kMost));
    // A workload of Kubernetes has its namespace and name as a comment. Elsewhere a slash is an
    // ordinary character of a job's name.
    bool is_workload = false;
    if (name.find('/') != std::string::npos) {
      const auto manager = service_.manager();
      is_workload = manager && manager->name == "kubernetes";
    }
    const auto wanted = [&](const store::Job& job) {
      return (user.empty() || job.asked->user == user) &&
             (name.empty() || (is_workload ? job.asked->comment : job.asked->name) == name) &&
             (!state || job.state == *state);
    };
    auto found = service_.jobs(
        // Ended jobs have no place in the queue.
        {.ended_since =
             *place > 0 || *since == kNoTime ? std::nullopt : std::optional<Time>(*since),
         .above = store::JobNumber{*after},
         .wanted = wanted,
         .most = *place > 0 ? std::numeric_limits<std::size_t>::max() : most + 1});
    if (!found) return tl::unexpected(found.error());
    std::vector<service::JobView>& jobs = *found;
    if (*place > 0) {
      std::erase_if(jobs, [&](const service::JobView& each) {
        return each.place < 1 || each.place > *place;
      });
    }
    std::sort(jobs.begin(), jobs.end(), [](const service::JobView& a, const service::JobView& b) {
      return a.job.number < b.job.number;
    });
    const bool has_more = jobs.size() > most;
    if (has_more) jobs.resize(most);
    return to_json(jobs, *service_.cluster(), service_.revision(), has_more);
  });
}

Answer Api::submit(const Ask& ask) const {
  const std::string* const type = ask.header("content-type");
  if (type == nullptr || type->compare(0, 16, "application/json") != 0) {
    return problem(415, "a submission must be JSON", "send Content-Type: application/json");
  }
  const auto known = knows(ask, {"dry_run"});
  const auto dry_run = whole(ask, "dry_run", 0);
  if (!known) return problem(known.error());
  if (!dry_run) return problem(dry_run.error());
  auto asked = read_submission(ask.body);
  if (!asked) return problem(asked.error());
  const service::Caller caller = guard_.caller(ask);
  if (auto refused = Guard::refuses_job(ask, caller)) return *std::move(refused);
  asked->uid = caller.uid;
  std::tie(asked->user, asked->gid) = account_of(caller.uid);
  if (ask.peer.is_local) asked->gid = ask.peer.gid;
  const std::vector<std::string> notes = submission::notes_on_labels(*asked, *service_.cluster());
  const auto accepted = [&](const std::vector<store::JobNumber>& numbers) {
    Writer writer;
    writer.field("numbers", numbers);
    if (!notes.empty()) writer.field("notes", notes);
    return json(dumped(writer.take()));
  };
  if (*dry_run != 0) {
    const auto judged = service_.judge(*std::move(asked));
    return judged ? accepted({}) : problem(judged.error());
  }
  const auto numbers = service_.submit(*std::move(asked));
  if (!numbers) return problem(numbers.error());
  Answer made = accepted(*numbers);
  made.status = 201;
  made.headers.emplace_back("Location", fmt::format("/v1/jobs/{}", numbers->front()));
  return made;
}

Answer Api::change_many(const Ask& ask, bool ended_too, const LeavesAlone& leaves_alone,
                        const std::function<Result<void>(const Chosen&, const Which&,
                                                         const service::Caller&)>& act) const {
  const auto which = read_which(ask.body);
  if (!which) return problem(which.error());
  const service::Caller caller = guard_.caller(ask);
  const auto chosen =
      choose(service_, *which, caller, account_of(caller.uid).first, ended_too, leaves_alone);
  if (!chosen) return problem(chosen.error());
  if (chosen->numbers.empty() && which->jobs.size() == 1 && !chosen->refused.empty()) {
    const RefusedJob& only = chosen->refused.front();
    return only.is_anothers ? problem(403, only.why.message) : problem(only.why);
  }
  if (!chosen->numbers.empty() && !which->dry_run) {
    if (const auto done = act(*chosen, *which, caller); !done) return problem(done.error());
  }
  Json refused = Json::array();
  for (const RefusedJob& each : chosen->refused) {
    refused.push_back({{"job", each.job},
                       {"code", each.is_anothers ? "forbidden" : code_word(each.why.code)},
                       {"message", each.why.message}});
  }
  Writer numbers;
  numbers.field("numbers", chosen->numbers);
  Json made = numbers.take();
  made["refused"] = std::move(refused);
  return json(dumped(made));
}

Answer Api::change(const Ask& ask, const std::string& part, const Act& act) const {
  const auto numbers = find_jobs(service_, part);
  if (!numbers) return problem(numbers.error());
  const service::Caller caller = guard_.caller(ask);
  // Tasks of an array are one user's.
  const auto job = service_.job(numbers->front());
  if (job && !caller.may_all && job->job.asked->uid != caller.uid) {
    return problem(403, fmt::format("job {} belongs to {}", part, job->job.asked->user));
  }
  const auto done = act(*numbers, caller);
  return done ? json(written_as("numbers", *numbers)) : problem(done.error());
}

}  // namespace almanac::serve
