// SPDX-License-Identifier: Apache-2.0
#include "machine/recovery.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/holding.h"
#include "process/cgroup.h"
#include "service/log.h"
#include "service/policies.h"
#include "service/store_owner.h"
#include "shepherd/record.h"
#include "text/duration.h"

namespace almanac::machine {

using store::JobNumber;
using trace::JobState;
using Found = shepherd::Run::Found;

namespace {

namespace fs = std::filesystem;

/// "17.2": the folder of a run.
struct RunName {
  JobNumber job{};
  int attempt = 0;
};

std::optional<RunName> parse_run_name(const std::string& name) {
  const auto dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  try {
    return RunName{JobNumber{std::stoll(name.substr(0, dot))}, std::stoi(name.substr(dot + 1))};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Fails if the folder is another user's, who could put another store there, or other runs.
Result<void> is_own(const std::string& folder) {
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0) {
    return fail(Code::unavailable, std::strerror(errno), {.file = folder});
  }
  if (about.st_uid == ::geteuid() || about.st_uid == 0) return {};
  return fail(Code::invalid,
              fmt::format("the state folder belongs to user {}, but the service is user {}",
                          about.st_uid, ::geteuid()),
              {.file = folder}, "give another folder with --state");
}

}  // namespace

Time last_counted(const std::vector<store::Job>& unfinished) {
  Time last = Time::min();
  for (const store::Job& job : unfinished) {
    last = std::max({last, job.since, job.energy.counted_to});
  }
  return last;
}

Result<Opened> open_folder(Config config) {
  std::error_code error;
  fs::create_directories(fs::path(config.state) / "runs", error);
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot create the folder: {}", error.message()),
                {.file = config.state});
  }
  if (auto own = is_own(config.state); !own) return tl::unexpected(own.error());
  // Users run their scripts, which lie below, but may not look around.
  const auto may_pass = fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(config.state, may_pass, error);
  fs::permissions(fs::path(config.state) / "runs", may_pass, error);
  auto store = store::Store::open((fs::path(config.state) / "almanac.db").string());
  if (!store) return tl::unexpected(store.error());
  service::tell_of_copy(*store);
  if (auto owned = service::own_store(*store, config.state, service::kMachine); !owned) {
    return tl::unexpected(owned.error());
  }
  if (auto kept =
          service::take_kept_policies(*store, config.policy_is_told, config.policy, config.shadow);
      !kept)
    return tl::unexpected(kept.error());
  auto composition = service::compose(config.policy);
  if (!composition) {
    return tl::unexpected(config.policy_is_told ? composition.error()
                                                : service::of_kept_policy(composition.error()));
  }
  auto unfinished = store->unfinished();
  if (!unfinished) return tl::unexpected(unfinished.error());
  return Opened{std::move(config), std::move(*store), std::move(*composition),
                std::move(*unfinished)};
}

Result<void> Recovery::recover(std::vector<store::Job> unfinished) {
  const auto last = state_.store.last_number();
  if (!last) return tl::unexpected(last.error());
  parts_.submissions.begin_after(*last);
  if (auto opened = parts_.launcher.open_driver(); !opened) return opened;
  check_clock(last_counted(unfinished));
  if (auto forgotten = parts_.forgetting.begin(state_.now, state_.clock.since_boot()); !forgotten) {
    return forgotten;
  }
  forget_what_runs(unfinished);
  for (store::Job& job : unfinished) {
    parts_.gate.count(job, +1);
    state_.book.add(std::move(job));
  }
  unfinished = {};
  if (auto read = parts_.submissions.read_journal(); !read) return read;
  if (auto read = parts_.maintenance.read(); !read) return read;
  if (auto known = check_store_is_of_runs(); !known) return known;
  if (auto adopted = adopt_runs(); !adopted) return adopted;
  process::Cgroup::sweep(process::cgroup_tree(), "almanac-");
  if (auto adopted = adopt_running_jobs(); !adopted) return adopted;
  for (auto& [number, entry] : state_.book.all()) {
    if (entry.job.state != JobState::pending) continue;
    if (awaits_its_end(entry.job)) continue;  // the job waits for its process alone
    state_.book.look_again(entry);
  }
  if (auto read = parts_.out_of_service.read(); !read) return read;
  if (auto begun = parts_.succession.begin(); !begun) return begun;
  if (auto applied = parts_.requests.apply_journal(); !applied) return applied;
  parts_.succession.prepare_next();
  state_.outbox.set(service::kPolicyKey, state_.config.policy);
  return {};
}

void Recovery::check_clock(Time counted_to) {
  const Time wall = state_.clock.wall();
  if (counted_to <= wall + 1h) return;
  state_.config.machine.notes.push_back(
      fmt::format("pending or running jobs are {} ahead of the clock; the service's clock "
                  "continues from there, and is correct again after a restart without these jobs",
                  text::format_duration(counted_to - wall)));
  service::log_warning(state_.config.machine.notes.back());
}

// Runs of jobs that the store never gave a number to show that the store is not of this folder.
// Otherwise the service would end what runs, and give numbers twice.
Result<void> Recovery::check_store_is_of_runs() const {
  std::error_code none;  // if the folder cannot be read, nothing has run
  for (const auto& each : fs::directory_iterator(fs::path(state_.config.state) / "runs", none)) {
    const auto name = parse_run_name(each.path().filename().string());
    if (!name || static_cast<std::int64_t>(name->job) <= parts_.submissions.last_number()) continue;
    return fail(
        Code::conflict,
        fmt::format("job {} has run here, but the store, whose last job is {}, does not have it",
                    name->job, parts_.submissions.last_number()),
        {.file = state_.config.state + "/almanac.db"},
        "restore the previous store, or move the folder runs away; jobs still running are then no "
        "longer managed");
  }
  return {};
}

Result<void> Recovery::adopt_runs() {
  struct Last {
    int attempt = 0;
    std::string folder{};
  };
  // A run begins when the one before is known to have been stopped. So the last one that began says
  // how its job stands, whether or not another was due to follow.
  std::map<JobNumber, Last> last;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(fs::path(state_.config.state) / "runs", error)) {
    const auto name = parse_run_name(each.path().filename().string());
    if (!name) continue;
    const std::string folder = each.path().string();
    const Entry* const entry = state_.book.find(name->job);
    const Found found = shepherd::Run::look(folder);
    const bool counts = entry != nullptr && name->attempt > entry->job.annulled;
    const bool is_known_to_be_over = found != Found::lives && found != Found::unreadable;
    if (found == Found::never_started || (!counts && is_known_to_be_over)) {
      state_.outbox.discard(folder);
    } else if (!counts && found == Found::unreadable) {
      service::log_warning(fmt::format("{}: cannot be read now, and is kept unchanged", folder));
    } else if (entry == nullptr) {
      service::log_warning(fmt::format("{}: a run of an unknown job; ending it", folder));
      auto run = shepherd::Run::adopt(folder);
      if (!run) return tl::unexpected(run.error());
      run->end();
    } else if (Last& known = last[name->job]; name->attempt > known.attempt) {
      if (known.attempt > 0) state_.outbox.discard(known.folder);
      known = {name->attempt, folder};
    } else {
      state_.outbox.discard(folder);
    }
  }
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot read runs: {}", error.message()),
                {.file = state_.config.state});
  }
  for (const auto& [number, each] : last) {
    auto run = shepherd::Run::adopt(each.folder);
    if (!run) return tl::unexpected(run.error());
    Entry& entry = *state_.book.find(number);
    store::Energy& energy = entry.job.energy;
    const bool latest = each.attempt == entry.job.attempts;
    if (latest && entry.job.state == JobState::running) {
      energy.counted_to = std::max(energy.counted_to, entry.job.since);
    } else {
      if (energy.counted_to == kNoTime) energy.counted_to = state_.now;
      entry.makes_room = true;
      // What it held was overwritten when another run was due to follow.
      entry.of_runs.change().leaves =
          latest ? entry.job.held_gpus : whole_machine(state_.config.machine);
    }
    parts_.processes.adopt(entry, std::move(*run));
  }
  return {};
}

Result<void> Recovery::adopt_running_jobs() {
  cluster::Ledger room(state_.config.machine.cluster);
  for (auto& [number, entry] : state_.book.all()) {
    const store::Job& job = entry.job;
    parts_.lifecycle.apply(entry, life::TakenOver{});
    if (job.state != JobState::running) continue;
    if (auto fits = take(job, room); !fits) {
      if (!finish_gone(entry, fits.error())) return fits;
      continue;
    }
    parts_.mover.compare_with_process(entry);
    entry.id = JobId{0};  // the policy gives it its place
    // Its process may not have heard of what was on the disk.
    state_.deeds.resize.push_back(number);
    state_.book.count_task(job, +1);
    state_.note(job, "adopted");
  }
  return {};
}

Result<void> Recovery::take(const store::Job& job, cluster::Ledger& room) {
  const char* const hint =
      state_.config.silent_boxes
          ? "restore boxes.json in this folder from a backup: it says on which boxes jobs run"
          : "start with the previous cluster, and change it after the job has ended";
  const auto refuse = [&](const std::string& why) {
    return fail(Code::conflict, fmt::format("job {} runs, and {}", job.number, why),
                {.file = state_.config.state}, hint);
  };
  for (const cluster::Grant& grant : job.held_gpus) {
    const bool has_node = index(grant.node) < state_.config.machine.cluster.nodes.size();
    if (!has_node || !room.can_take(grant)) return refuse("what it holds the cluster has no more");
  }
  if (const auto why = parts_.queue.why_never(job))
    return refuse(fmt::format("could not start today: {}", *why));
  for (const cluster::Grant& grant : job.held_gpus) room.take(grant);
  return {};
}

bool Recovery::finish_gone(Entry& entry, const Error& why) {
  using Kind = shepherd::Outcome::Kind;
  constexpr int kLooks = 20;
  constexpr std::chrono::milliseconds kPause{100};
  shepherd::Outcome how = entry.run->exited();
  for (int looks = 0; looks < kLooks && how.kind == Kind::lives && entry.run->has_news(); ++looks) {
    std::this_thread::sleep_for(kPause);  // a killed process takes a moment to go
    how = entry.run->exited();
  }
  if (how.kind == Kind::lives || how.kind == Kind::unreadable) return false;
  service::log_warning(fmt::format("{}; none of its processes is running", why.message));
  parts_.processes.finish(entry, how);
  return true;
}

}  // namespace almanac::machine
