// SPDX-License-Identifier: Apache-2.0
#include "steer/slurm_service.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "live/log.h"
#include "live/notify.h"
#include "live/policies.h"
#include "slurm/quotas.h"
#include "steer/order_lever.h"
#include "steer/placement_lever.h"
#include "steer/power_lever.h"
#include "steer/preemption_lever.h"
#include "steer/record.h"
#include "steer/sharing_lever.h"
#include "steer/slimming_lever.h"
#include "steer/undo.h"
#include "steer/watching.h"
#include "text/nearest.h"

namespace almanac::steer {

namespace {

namespace fs = std::filesystem;

/// A decision is made anew so often, whatever happens: orders change as time goes by.
constexpr Duration kStale = 10s;
constexpr Duration kLongestPause = 30s;
constexpr Duration kMoment = 1min;
constexpr Duration kStatus = 2s;
/// Pauses between two weeks of accounting, and between two looks whether there is more.
constexpr Duration kNextWeek = 5s;
constexpr Duration kFollow = 5min;
/// Its database may need so long for a week, while nothing else is asked of Slurm.
constexpr Duration kSlowAccounting = 15min;

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

Result<std::unique_ptr<Decider>> decider_for(Chosen policy, const store::Store& store,
                                             const Config& config) {
  auto lessons = store.log(wall_clock() - live::kLesson, live::kLessons);
  if (!lessons) return tl::unexpected(lessons.error());
  return std::make_unique<Decider>(std::move(policy), std::move(*lessons), config.seed,
                                   config.speeds);
}

}  // namespace

SlurmService::SlurmService(Config config, store::Store store, std::unique_ptr<slurm::Link> link,
                           slurm::Site site, std::vector<Lock> locks, Driver driver,
                           std::unique_ptr<Decider> decider, std::unique_ptr<Agents> agents,
                           std::unique_ptr<Slimmer> slimmer)
    : config_(std::move(config)),
      store_(std::move(store)),
      link_(std::move(link)),
      site_(std::move(site)),
      locks_(std::move(locks)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      started_(wall_clock()),
      world_(std::make_shared<const World>()),
      decider_(std::move(decider)),
      agents_(std::move(agents)),
      slimmer_(std::move(slimmer)),
      driver_(std::move(driver)),
      canary_(config_.settings.canary, store_, config_.seed) {
  const auto kept = site_.parameters.find("AccountingStorageType");
  if (kept != site_.parameters.end() && kept->second == "accounting_storage/slurmdbd") {
    const Grouping by = config_.settings.virtual_clusters;
    const auto vc = by == Grouping::accounts ? learning::VcFrom::account
                    : by == Grouping::qos    ? learning::VcFrom::qos
                                             : learning::VcFrom::partition;
    import_.emplace(store_, *link_, started_ - config_.retention, vc);
  }
}

SlurmService::~SlurmService() = default;

Result<std::unique_ptr<SlurmService>> SlurmService::open(Config config,
                                                         std::unique_ptr<slurm::Link> link) {
  std::error_code error;
  fs::create_directories(config.state, error);
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot make the folder: {}", error.message()),
                {.file = config.state});
  }
  std::vector<Lock> locks;
  auto folder = Lock::take(lock_of_folder(config.state), "this folder");
  if (!folder) return tl::unexpected(folder.error());
  locks.push_back(std::move(*folder));
  auto site = link->site();
  if (!site) return tl::unexpected(site.error());
  if (site->federated) {
    return fail(Code::unsupported, fmt::format("cluster {} is one of a federation", site->cluster),
                {}, "jobs of a federation are moved by Slurm itself; steer clusters by themselves");
  }
  auto cluster = Lock::of_cluster(site->cluster, site->controller);
  if (!cluster) return tl::unexpected(cluster.error());
  locks.push_back(std::move(*cluster));

  auto store = store::Store::open(config.state + "/almanac.db");
  if (!store) return tl::unexpected(store.error());
  if (!config.policy_is_told) {
    const auto kept = store->get(live::kPolicyKey);
    if (!kept) return tl::unexpected(kept.error());
    if (*kept) config.policy = **kept;
  }
  if (const auto kept = store->get(live::kShadowKey); config.shadow.empty() && kept && *kept) {
    config.shadow = **kept;
  }
  if (const auto gone = store->forget(wall_clock() - config.retention); !gone) {
    return tl::unexpected(gone.error());
  }
  auto chosen = compose(config.policy);
  if (!chosen) return tl::unexpected(chosen.error());
  auto decider = decider_for(std::move(*chosen), *store, config);
  if (!decider) return tl::unexpected(decider.error());
  auto journal = open_journal(config.state);
  if (!journal) return tl::unexpected(journal.error());
  auto switches = read_switches(config.state);
  if (!switches) return tl::unexpected(switches.error());

  std::unique_ptr<Agents> agents;
  if (!config.agents.empty()) {
    auto secret = agent::Secret::read(config.agent_secret);
    if (!secret) return tl::unexpected(secret.error());
    auto listens = Agents::listen(config.agents, std::move(*secret));
    if (!listens) return tl::unexpected(listens.error());
    agents = std::move(*listens);
  }
  auto slimmer = std::make_unique<Slimmer>((*decider)->policy().slimming);

  Driver driver(config.settings, std::move(journal->first), std::move(journal->second));
  driver.add(make_order_lever());
  driver.add(make_placement_lever());
  driver.add(make_sharing_lever());
  Present present;
  if (agents) present = [&listening = *agents] { return listening.present(); };
  driver.add(make_slimming_lever(*slimmer, std::move(present)));
  driver.add(make_preemption_lever());
  driver.add(make_power_lever());
  for (const auto& [lever, how] : config.settings.levers) {
    if (driver.knows(lever)) continue;
    return fail(Code::usage, fmt::format("there is no lever {}", lever), {},
                text::meant_or_known(lever, driver.names()));
  }
  std::unique_ptr<SlurmService> made(new SlurmService(
      std::move(config), std::move(*store), std::move(link), std::move(*site), std::move(locks),
      std::move(driver), std::move(*decider), std::move(agents), std::move(slimmer)));
  made->values_.emplace_back(live::kPolicyKey, made->config_.policy);
  for (const LeverState& lever : made->driver_.states()) {
    made->driver_.set(lever.name, made->config_.settings.of(lever.name));
  }
  made->switches_ = std::move(*switches);
  for (const auto& [lever, how] : made->switches_) made->driver_.set(lever, how);
  auto news = made->ask_news();
  if (!news) return tl::unexpected(news.error());
  made->take_news(std::move(*news));
  made->decide();
  made->slim();
  made->look_on();
  made->say_status();
  if (auto listens = made->listen_to_newcomers(); !listens) {
    return tl::unexpected(listens.error());
  }
  return made;
}

void SlurmService::run(const std::atomic<bool>& stop) {
  live::Watchdog watchdog;
  while (!stop) {
    while (!stop && step()) watchdog.alive();
    watchdog.alive();
    read_accounting();
    watchdog.alive();
    sleep_until_news(stop);
  }
  say_status();
  const std::lock_guard inbox(inbox_mutex_);
  closed_ = true;
  for (Wish& wish : wishes_) {
    wish.answer.set_value(fail(Code::unavailable, "the service is ending"));
  }
  wishes_.clear();
}

void SlurmService::wake() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(bell_.get(), &one, sizeof one));
}

void SlurmService::reload() {
  reload_ = true;
  wake();
}

Duration SlurmService::pause() const {
  const std::lock_guard lock(mutex_);
  if (!trouble_.empty()) return std::min(kLongestPause, 5 * config_.settings.poll);
  // A controller that takes long to answer is asked less often.
  const auto took = Duration{std::llround(news_s_ * 1e3)};
  return std::clamp<Duration>(4 * took, config_.settings.poll, kLongestPause);
}

void SlurmService::sleep_until_news(const std::atomic<bool>& stop) {
  if (stop) return;
  pollfd source{bell_.get(), POLLIN, 0};
  ::poll(&source, 1, static_cast<int>(pause().count()));
  std::uint64_t rung = 0;
  if (source.revents != 0) static_cast<void>(::read(bell_.get(), &rung, sizeof rung));
}

bool SlurmService::step() {
  renew_ = reload_.exchange(false) || renew_;
  renew_decider();
  take_wishes();
  take_controls();
  auto news = ask_news();
  bool more = false;
  if (news) {
    if (take_news(std::move(*news))) look_on();
    const bool decided = decide();
    slim();
    heed_canary();
    more = turn_levers();
    if (decided || more) ++revision_;
  }
  save();
  if (wall_clock() >= next_status_) say_status();
  return more;
}

void SlurmService::take_wishes() {
  std::deque<Wish> taken;
  {
    const std::lock_guard inbox(inbox_mutex_);
    taken.swap(wishes_);
  }
  for (Wish& wish : taken) wish.answer.set_value(wish.act(*link_));
}

void SlurmService::take_controls() {
  const auto read = read_switches(config_.state);
  {
    const std::lock_guard lock(mutex_);
    switch_trouble_ = read ? "" : to_string(read.error());
  }
  if (read && *read != switches_) {
    const std::lock_guard lock(mutex_);
    for (const auto& [lever, how] : *read) {
      const auto known = switches_.find(lever);
      if (known != switches_.end() && known->second == how) continue;
      driver_.set(lever, how);
      retreat_.clear();
      is_all_taken_back_ = true;
      live::log_info(fmt::format("lever {} is {}", lever, to_string(how)));
    }
    switches_ = *read;
    next_status_ = Time{};
  }
  if (!undo_is_asked(config_.state)) return;
  if (const auto done = undo(); !done) {
    live::log_error(fmt::format("undo: {}", to_string(done.error())));
    return;
  }
  say_status();  // the command that asked for the undo reads there what is left
  undo_is_done(config_.state);
}

Result<void> SlurmService::undo() {
  auto news = ask_news();
  if (!news) return tl::unexpected(news.error());
  take_news(std::move(*news));
  return retreat(Switch::off, "as it was before Almanac");
}

Result<void> SlurmService::retreat(Switch to, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    for (const LeverState& lever : driver_.states()) {
      if (to == Switch::off || lever.how == Switch::on) driver_.set(lever.name, to);
    }
  }
  if (auto kept = keep_switches(); !kept) return kept;
  const auto done = take_back(driver_, mirror_, *link_, mutex_, why);
  tell_agents();
  if (!done) return tl::unexpected(done.error());
  live::log_info(
      fmt::format("{} changes taken back, all levers are {}", done->changes, to_string(to)));
  for (const std::string& each : done->left) live::log_warning(each);
  const std::lock_guard lock(mutex_);
  left_ = done->left;
  return {};
}

Result<void> SlurmService::keep_switches() {
  Switches turned;
  {
    const std::lock_guard lock(mutex_);
    for (const LeverState& lever : driver_.states()) {
      const auto known = switches_.find(lever.name);
      const Switch said =
          known != switches_.end() ? known->second : config_.settings.of(lever.name);
      if (lever.how != said) turned[lever.name] = lever.how;
    }
  }
  if (turned.empty()) return {};
  // What an operator has set meanwhile is in the file only; it is read at the next look.
  const auto kept = change_switches(config_.state, [&](Switches& all) {
    all.insert(switches_.begin(), switches_.end());
    for (const auto& [lever, how] : turned) all[lever] = how;
  });
  if (!kept) return kept;
  const std::lock_guard lock(mutex_);
  for (const auto& [lever, how] : turned) switches_[lever] = how;
  return {};
}

void SlurmService::heed_canary() {
  Canary::Verdict verdict;
  {
    const std::lock_guard lock(mutex_);
    verdict = canary_.look(mirror_, decider_->last(), decider_->policy().composition);
    driver_.rest(verdict.rests);
    const auto states = driver_.states();
    const bool is_on = std::any_of(states.begin(), states.end(),
                                   [](const LeverState& each) { return each.how == Switch::on; });
    if (is_on && !verdict.retreat.empty()) {
      retreat_ = fmt::format("retreat: {}", verdict.retreat);
      is_all_taken_back_ = false;
      live::log_warning(retreat_);
      ++revision_;
    }
  }
  if (is_all_taken_back_) return;
  const auto done = retreat(Switch::dry, retreat_);
  is_all_taken_back_ = done.has_value();
  if (!done) live::log_error(fmt::format("retreat: {}", to_string(done.error())));
  next_status_ = Time{};
}

Result<slurm::News> SlurmService::ask_news() {
  const auto begun = std::chrono::steady_clock::now();
  auto news = link_->news();
  const std::lock_guard lock(mutex_);
  news_s_ = seconds_since(begun);
  if (news) {
    if (!trouble_.empty()) live::log_info("the controller answers again");
    trouble_.clear();
    return news;
  }
  if (trouble_.empty()) {
    live::log_warning(fmt::format("the controller does not answer, all levers rest: {}",
                                  to_string(news.error())));
    ++revision_;
  }
  trouble_ = to_string(news.error());
  return news;
}

bool SlurmService::take_news(slurm::News news) {
  const std::lock_guard lock(mutex_);
  if (news.limits && !slurm::enforces_limits(site_)) news.limits->quotas.clear();
  Difference made = mirror_.take(std::move(news));
  look_again_ = look_again_ || made.anything;
  counters_.submitted += made.came;
  counters_.started += made.started;
  counters_.preempted += made.requeued;
  counters_.ended += made.ended.size();
  const bool is_other = hardware_ != mirror_.hardware();
  if (is_other) {
    hardware_ = mirror_.hardware();
    world_ = make_world(mirror_, config_.settings.virtual_clusters);
    look_again_ = true;
  }
  for (const slurm::JobNumber each : announced_.look(mirror_, made.ended)) decider_->forget(each);
  canary_.note_ended(made.ended, *world_);
  for (const slurm::Job& job : made.ended) {
    decider_->learn(job, *world_);
    if (job.outcome == trace::JobState::unknown) continue;
    ended_.push_back(to_stored(job, *world_));
    if (const JobUse* const use = slimmer_->use(job.number)) ended_.back().used = use->used();
    taught_.push_back(ended_.back());
  }
  return is_other;
}

bool SlurmService::decide() {
  const std::lock_guard lock(mutex_);
  const Time now = mirror_.at();
  const Decision& last = decider_->last();
  const bool is_stale = last.at == kNoTime || now >= last.wake || now - last.at >= kStale;
  counters_.last_round = wall_clock();
  if (!look_again_ && !is_stale) return false;
  look_again_ = false;
  const auto begun = std::chrono::steady_clock::now();
  // No job is stopped for one that may have been refused.
  const std::vector<slurm::Job> nobody;
  decider_->decide(mirror_, world_, config_.settings.exempt,
                   moves("preemption") ? nobody : announced_.jobs(), driver_.in_vain());
  counters_.count_round(seconds_since(begun));
  return true;
}

void SlurmService::slim() {
  if (!agents_) return;
  const auto reports = agents_->take_reports();
  const std::lock_guard lock(mutex_);
  slimmer_->look(mirror_, world_, reports, config_.settings);
}

bool SlurmService::turn_levers() {
  Slice slice;
  {
    const std::lock_guard lock(mutex_);
    if (decider_->last().world == nullptr) return false;
    const Scene scene{.settings = config_.settings,
                      .site = site_,
                      .can = link_->can(),
                      .mirror = mirror_,
                      .decision = decider_->last(),
                      .policy = decider_->policy()};
    slice = driver_.plan(scene, steady());
  }
  driver_.carry_out(slice, *link_);
  const auto kept = keep_switches();
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    if (!kept) switch_trouble_ = to_string(kept.error());
    changed = driver_.settle(slice, mirror_);
  }
  tell_agents();
  return changed;
}

void SlurmService::tell_agents() {
  if (!agents_) return;
  const std::lock_guard lock(mutex_);
  agents_->order(orders_of(driver_.claims()));
}

void SlurmService::save() {
  store::Store::Batch batch;
  std::ptrdiff_t num_values = 0;  // others may come while these are written
  {
    const std::lock_guard lock(mutex_);
    for (const store::Job& job : ended_) batch.put(job);
    for (const auto& [key, value] : values_) batch.set(key, value);
    num_values = std::ssize(values_);
  }
  const Time now = wall_clock();
  if (now >= next_moment_) {
    next_moment_ = now + kMoment;
    const live::Overview seen = overview();
    batch.sample({.at = now,
                  .gpus = seen.gpus,
                  .gpus_busy = seen.gpus_busy,
                  .jobs_running = static_cast<std::int32_t>(seen.running),
                  .jobs_waiting = static_cast<std::int32_t>(seen.waiting),
                  .gpu_use = std::nan("")});
  }
  if (batch.empty()) return;
  const auto begun = std::chrono::steady_clock::now();
  const auto saved = store_.commit(batch);
  const std::lock_guard lock(mutex_);
  counters_.commit_s += seconds_since(begun);
  if (!saved) {
    ++counters_.failed_commits;
    if (store_trouble_.empty()) live::log_error(to_string(saved.error()));
    store_trouble_ = to_string(saved.error());
    return;
  }
  store_trouble_.clear();
  ended_.clear();
  values_.erase(values_.begin(), values_.begin() + num_values);
}

void SlurmService::read_accounting() {
  const Time now = wall_clock();
  if (!import_ || now < next_import_) return;
  driver_.fall_silent(kSlowAccounting, *link_);
  const auto done = import_->step(now);
  const bool all = done && done->done;
  next_import_ = now + (all || !done ? kFollow : kNextWeek);
  {
    const std::lock_guard lock(mutex_);
    import_trouble_ = done ? "" : fmt::format("accounting: {}", to_string(done.error()));
  }
  if (!all || is_taught_) return;
  is_taught_ = true;
  renew_ = true;
}

void SlurmService::say_status() {
  next_status_ = wall_clock() + kStatus;
  if (const auto written = write_status(config_.state, status()); !written) {
    const std::lock_guard lock(mutex_);
    store_trouble_ = to_string(written.error());
  }
}

Result<std::unique_ptr<Decider>> SlurmService::make_decider(Chosen policy) const {
  return decider_for(std::move(policy), store_, config_);
}

}  // namespace almanac::steer
