// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/wall_clock.h"
#include "machine/core.h"
#include "process/cgroup.h"
#include "service/log.h"
#include "service/policies.h"
#include "shepherd/record.h"
#include "text/duration.h"

namespace almanac::machine {

using policy::Phase;
using store::JobNumber;
using trace::JobState;
using Found = shepherd::Run::Found;

namespace {

namespace fs = std::filesystem;

/// "17.2": a folder of a run.
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

/// A user whose folder it is could put another store there, or other runs.
Result<void> is_own(const std::string& folder) {
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0) {
    return fail(Code::unavailable, std::strerror(errno), {.file = folder});
  }
  if (about.st_uid == ::geteuid() || about.st_uid == 0) return {};
  return fail(Code::invalid,
              fmt::format("the state folder belongs to user {}, the service is user {}",
                          about.st_uid, ::geteuid()),
              {.file = folder}, "give it one of its own with --state");
}

/// Until when they were counted by an earlier service.
Time last_counted(const std::vector<store::Job>& unfinished) {
  Time last = Time::min();
  for (const store::Job& job : unfinished)
    last = std::max({last, job.since, job.energy.counted_to});
  return last;
}

}  // namespace

Core::Core(Opened opened)
    : config_(std::move(opened.config)),
      store_(std::move(opened.store)),
      clock_(service::machine_clock(), last_counted(opened.unfinished)),
      now_(clock_.now()),
      started_(now_),
      trace_(std::make_unique<trace::Trace>()),
      book_([this](JobNumber number) { return ended_well(number); }),
      gate_(config_.limits),
      measured_(book_, numbers_, config_.measuring, config_.machine.cluster.nodes.size()),
      idle_(config_.idle),
      composition_(std::move(opened.composition)) {
  admission_.emplace(config_.machine.cluster, trace_->names);
  if (!config_.hooks.empty()) hooks_ = std::make_unique<Hooks>(config_.hooks);
}

Result<Core::Opened> Core::open(Config config) {
  std::error_code error;
  fs::create_directories(fs::path(config.state) / "runs", error);
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot make the folder: {}", error.message()),
                {.file = config.state});
  }
  if (auto own = is_own(config.state); !own) return tl::unexpected(own.error());
  // Users' scripts lie below, and are run by their users; nobody may look around.
  const auto may_pass = fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(config.state, may_pass, error);
  fs::permissions(fs::path(config.state) / "runs", may_pass, error);
  auto store = store::Store::open((fs::path(config.state) / "almanac.db").string());
  if (!store) return tl::unexpected(store.error());
  service::tell_of_copy(*store);
  if (auto kept =
          service::take_kept_policies(*store, config.policy_is_told, config.policy, config.shadow);
      !kept)
    return tl::unexpected(kept.error());
  auto composition = service::compose(config.policy);
  if (!composition) return tl::unexpected(composition.error());
  auto unfinished = store->unfinished();
  if (!unfinished) return tl::unexpected(unfinished.error());
  return Opened{std::move(config), std::move(*store), std::move(*composition),
                std::move(*unfinished)};
}

std::vector<cluster::Grant> Core::whole_machine() const {
  std::vector<cluster::Grant> made;
  for (std::uint32_t at = 0; at < config_.machine.cluster.nodes.size(); ++at) {
    made.push_back({.node = NodeId{at}, .gpus = ~cluster::GpuMask{0}});
  }
  return made;
}

Result<void> Core::take(const store::Job& job, cluster::Ledger& room) {
  const auto refuse = [&](const std::string& why) {
    return fail(Code::conflict, fmt::format("job {} runs, and {}", job.number, why),
                {.file = config_.state},
                "begin with the cluster as it was, and change it when the job has ended");
  };
  for (const cluster::Grant& grant : job.held_gpus) {
    const bool has_node = index(grant.node) < config_.machine.cluster.nodes.size();
    if (!has_node || !room.can_take(grant)) return refuse("what it holds the cluster has no more");
  }
  if (const auto why = never(job)) return refuse(fmt::format("could not start today: {}", *why));
  for (const cluster::Grant& grant : job.held_gpus) room.take(grant);
  return {};
}

/// Jobs that the store never gave a number to have run here: it is not the store of this folder.
/// What runs would else be ended, and numbers given twice.
Result<void> Core::check_store_is_of_runs() const {
  std::error_code none;  // then nothing ran
  for (const auto& each : fs::directory_iterator(fs::path(config_.state) / "runs", none)) {
    const auto name = parse_run_name(each.path().filename().string());
    if (!name || static_cast<std::int64_t>(name->job) <= last_number_) continue;
    return fail(
        Code::conflict,
        fmt::format("job {} has run here, and the store, whose last job is {}, knows nothing "
                    "of it",
                    name->job, last_number_),
        {.file = config_.state + "/almanac.db"},
        "put the store back that was here, or move the folder runs away: then what still "
        "runs is nobody's");
  }
  return {};
}

Result<void> Core::take_over_runs() {
  struct Last {
    int attempt = 0;
    std::string folder{};
  };
  // A run is begun when the one before is known to have been stopped: so the last that was begun
  // says how its job stands, whether or not another was to follow.
  std::map<JobNumber, Last> last;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(fs::path(config_.state) / "runs", error)) {
    const auto name = parse_run_name(each.path().filename().string());
    if (!name) continue;
    const std::string folder = each.path().string();
    const Entry* const entry = book_.find(name->job);
    const Found found = shepherd::Run::look(folder);
    const bool counts = entry != nullptr && name->attempt > entry->job.annulled;
    const bool is_known_to_be_over = found != Found::lives && found != Found::unreadable;
    if (found == Found::never_started || (!counts && is_known_to_be_over)) {
      outbox_.discard(folder);
    } else if (!counts && found == Found::unreadable) {
      service::log_warning(fmt::format("{}: cannot be read now, and is kept as it is", folder));
    } else if (entry == nullptr) {
      service::log_warning(
          fmt::format("{}: a run of a job that is not known; it is ended", folder));
      auto run = shepherd::Run::adopt(folder);
      if (!run) return tl::unexpected(run.error());
      run->end();
    } else if (Last& known = last[name->job]; name->attempt > known.attempt) {
      if (known.attempt > 0) outbox_.discard(known.folder);
      known = {name->attempt, folder};
    } else {
      outbox_.discard(folder);
    }
  }
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot read runs: {}", error.message()),
                {.file = config_.state});
  }
  for (const auto& [number, each] : last) {
    auto run = shepherd::Run::adopt(each.folder);
    if (!run) return tl::unexpected(run.error());
    Entry& entry = *book_.find(number);
    store::Energy& energy = entry.job.energy;
    const bool latest = each.attempt == entry.job.attempts;
    if (latest && entry.job.state == JobState::running) {
      energy.counted_to = std::max(energy.counted_to, entry.job.since);
    } else {
      if (energy.counted_to == kNoTime) energy.counted_to = now_;
      entry.makes_room = true;
      // What it holds was overwritten when another run was to follow.
      entry.of_runs.change().leaves = latest ? entry.job.held_gpus : whole_machine();
    }
    has_process(entry, std::move(*run));
  }
  return {};
}

bool Core::settle_gone(Entry& entry, const Error& why) {
  using Kind = shepherd::Outcome::Kind;
  constexpr int kLooks = 20;
  constexpr std::chrono::milliseconds kPause{100};
  shepherd::Outcome how = entry.run->exited();
  for (int looks = 0; looks < kLooks && how.kind == Kind::lives && entry.run->has_news(); ++looks) {
    std::this_thread::sleep_for(kPause);  // what is killed takes a moment to go
    how = entry.run->exited();
  }
  if (how.kind == Kind::lives || how.kind == Kind::unreadable) return false;
  service::log_warning(fmt::format("{}; nothing of it runs any more", why.message));
  process_gone(entry, how);
  return true;
}

Result<void> Core::recover(std::vector<store::Job> unfinished) {
  const auto last = store_.last_number();
  if (!last) return tl::unexpected(last.error());
  last_number_ = static_cast<std::int64_t>(*last);
  if (config_.machine.makes_instances) {
    auto driver = gpu::Nvml::open();
    if (!driver) return tl::unexpected(driver.error());
    cutter_.emplace(*std::move(driver));
  }
  const Time begin = last_counted(unfinished);
  if (const Time wall = wall_clock(); begin > wall + 1h) {
    config_.machine.notes.push_back(fmt::format(
        "jobs that wait or run came {} ahead of the clock; the service's clock goes on from there, "
        "and is right again when it begins anew without them",
        text::format_duration(begin - wall)));
    service::log_warning(config_.machine.notes.back());
  }
  if (auto forgotten = forgetting_.begin(now_, shepherd::since_boot()); !forgotten)
    return forgotten;
  forget_what_runs(unfinished);
  for (store::Job& job : unfinished) {
    gate_.count(job, +1);
    book_.add(std::move(job));
  }
  unfinished = {};
  if (auto read = read_journal(); !read) return read;

  if (auto read = read_maintenance(); !read) return read;
  if (auto known = check_store_is_of_runs(); !known) return known;
  if (auto taken = take_over_runs(); !taken) return taken;
  process::Cgroup::sweep(process::cgroup_tree(), "almanac-");

  cluster::Ledger room(config_.machine.cluster);
  for (auto& [number, entry] : book_.all()) {
    const store::Job& job = entry.job;
    happen(entry, life::TakenOver{});
    if (job.state != JobState::running) continue;
    if (auto fits = take(job, room); !fits) {
      if (!settle_gone(entry, fits.error())) return fits;
      continue;
    }
    find_out_what_it_uses(entry);
    entry.id = JobId{0};              // its place is the policy's to give
    deeds_.resize.push_back(number);  // what was on the disk its process may not have heard
    book_.count_task(job, +1);
    note(job, "adopted");
  }
  for (auto& [number, entry] : book_.all()) {
    if (entry.job.state != JobState::pending) continue;
    if (awaits_its_end(entry.job)) continue;  // it waits for its process alone
    look_at(entry);
  }
  if (auto read = read_service(); !read) return read;
  // What it learns from takes long. Until then what runs is kept, and nothing starts; unless the
  // service before was ended first: one that is killed again and again would start nothing ever.
  const auto learned_never = store_.get(service::kLearnsKey);
  if (!learned_never) return tl::unexpected(learned_never.error());
  learns_ = true;
  holds_back_ = *learned_never != "1";
  store::Store::Batch mark;
  mark.set(service::kLearnsKey, "1");
  if (const auto kept = store_.commit(mark); !kept) service::log_warning(to_string(kept.error()));
  begin_policy(untaught(composition_));
  if (auto applied = apply_journal(); !applied) return applied;
  prepare_aside();
  outbox_.set(service::kPolicyKey, config_.policy);
  return {};
}

Result<void> Core::set_shadow(const std::string& policy, const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  if (!policy.empty()) {
    if (auto made = service::compose(policy); !made) return tl::unexpected(made.error());
  }
  return change([this, policy]() -> Result<Change> {
    Change change;
    change.kept.set(service::kShadowKey, policy);
    change.act = [this, policy] { config_.shadow = policy; };
    return change;
  });
}

}  // namespace almanac::machine
