// SPDX-License-Identifier: Apache-2.0
#include "replicas/keeper.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>
#include <tuple>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

namespace almanac::replicas {
namespace {

constexpr int kMostDoublings = 6;

}  // namespace

int free_port(int wanted) {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return 0;
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.sin_port = htons(static_cast<std::uint16_t>(wanted));
  // Binds as the service itself does: lingering connections of an earlier router do not matter.
  const int yes = 1;
  ::setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  socklen_t size = sizeof place;
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  const bool bound = ::bind(probe, address, size) == 0 && ::getsockname(probe, address, &size) == 0;
  ::close(probe);
  return bound ? ntohs(place.sin_port) : 0;
}

bool is_healthy(int port, const std::string& path, Duration patience) {
  httplib::Client http("127.0.0.1", port);
  http.set_connection_timeout(patience);
  http.set_read_timeout(patience);
  const auto answer = http.Get(path);
  return answer && answer->status == 200;
}

Keeper::Keeper(Jobs& jobs, Pool& pool, std::unique_ptr<inference::Scaler> scaler, Settings settings)
    : jobs_(jobs), pool_(pool), scaler_(std::move(scaler)), settings_(std::move(settings)) {}

Result<void> Keeper::begin() {
  const auto left = jobs_.left();
  if (!left) return tl::unexpected(left.error());
  const std::lock_guard lock(mutex_);
  for (const Jobs::Job& each : *left) {
    replicas_.push_back({.id = ReplicaId{++last_id_},
                         .job = each.number,
                         .port = each.port,
                         .is_kept = each.is_kept});
  }
  wanted_ = present();
  return {};
}

void Keeper::say(std::string trouble) {
  const std::lock_guard lock(mutex_);
  trouble_ = std::move(trouble);
}

int Keeper::present() const {
  return static_cast<int>(std::count_if(
      replicas_.begin(), replicas_.end(),
      [](const Replica& each) { return each.state != State::drains && each.job != 0; }));
}

void Keeper::drop(Replica& replica) {
  pool_.close(replica.id);
  replica.job = 0;
}

void Keeper::look(Replica& replica, Instant now) {
  const auto enter = [&](State state) {
    const std::lock_guard lock(mutex_);
    replica.state = state;
    replica.since = now;
  };
  const auto job = jobs_.state(replica.job);
  if (!job) return say(job.error().message);  // it is asked again
  if (*job == Jobs::State::over) {
    if (replica.state != State::drains) {
      // A replica that ran well is replaced at once. Replicas that never become healthy are
      // replaced ever more slowly.
      failed_in_a_row_ = replica.was_open ? 0 : failed_in_a_row_ + 1;
      const int doublings = std::min(failed_in_a_row_, kMostDoublings);
      if (failed_in_a_row_ > 0) start_again_ = now + std::chrono::seconds(1 << doublings);
      say(fmt::format("the replica of job {} ended by itself", replica.job));
    }
    return drop(replica);
  }
  if (*job == Jobs::State::waits) {
    // The replica waits for GPUs, perhaps again: other jobs have them.
    pool_.close(replica.id);
    if (replica.state == State::drains) {
      if (const auto ended = jobs_.end(replica.job); !ended) return say(ended.error().message);
      return drop(replica);
    }
    return enter(State::waits);
  }
  if (replica.state == State::waits) enter(State::begins);
  if (replica.state == State::drains) {
    const bool late = now > replica.since + settings_.drain_patience;
    if (pool_.busy(replica.id) > 0 && !late) return;
    if (const auto ended = jobs_.end(replica.job); !ended) return say(ended.error().message);
    return drop(replica);
  }
  // Whom a request found dead is looked at at once.
  const bool failed = replica.state == State::open && !pool_.is_open(replica.id);
  if (failed) enter(State::sick);
  const bool is_due =
      replica.state != State::open || now >= replica.checked + settings_.check_every;
  if (!is_due) return;
  replica.checked = now;
  if (is_healthy(replica.port, settings_.health, std::chrono::seconds(2))) {
    if (replica.state == State::open) return;
    failed_in_a_row_ = 0;
    if (replica.state == State::begins && !replica.was_open) {
      const std::lock_guard lock(mutex_);
      replica.cold_start_s = std::chrono::duration<double>(now - replica.since).count();
    }
    replica.was_open = true;
    enter(State::open);
    say("");
    return pool_.open(replica.id, replica.port);
  }
  if (replica.state == State::open) {
    pool_.close(replica.id);
    return enter(State::sick);
  }
  if (now <= replica.since + settings_.begin_patience) return;
  say(fmt::format("the replica of job {} does not answer {}; restarting it", replica.job,
                  settings_.health));
  if (const auto ended = jobs_.end(replica.job); !ended) return;
  ++failed_in_a_row_;
  drop(replica);
}

void Keeper::start_one(Instant now) {
  const int port = free_port();
  const auto kept = std::count_if(replicas_.begin(), replicas_.end(), [](const Replica& each) {
    return each.is_kept && each.state != State::drains && each.job != 0;
  });
  const bool is_kept = kept < settings_.least;
  const auto job = port > 0 ? jobs_.start(port, is_kept)
                            : fail(Code::unavailable, "no port of 127.0.0.1 is free");
  if (!job) {
    if (job.error().code == Code::usage && last_id_ == 0) refused_ = job.error();
    ++failed_in_a_row_;
    start_again_ = now + std::chrono::seconds(1 << std::min(failed_in_a_row_, kMostDoublings));
    return say(job.error().message);
  }
  const std::lock_guard lock(mutex_);
  replicas_.push_back(
      {.id = ReplicaId{++last_id_}, .job = *job, .port = port, .since = now, .is_kept = is_kept});
}

void Keeper::let_one_go(Instant now) {
  // What is not kept, then what does least yet, then what has fewest requests, then what came last.
  Replica* chosen = nullptr;
  const auto weight = [&](const Replica& each) {
    const bool is_open = each.state == State::open;
    return std::tuple(each.is_kept, is_open, is_open ? pool_.busy(each.id) : 0);
  };
  for (Replica& each : replicas_) {
    if (each.state == State::drains || each.job == 0) continue;
    if (chosen == nullptr || weight(each) <= weight(*chosen)) chosen = &each;
  }
  pool_.close(chosen->id);
  const std::lock_guard lock(mutex_);
  chosen->state = State::drains;
  chosen->since = now;
}

void Keeper::scale(Instant now) {
  inference::Load load = pool_.load();
  load.starting = present() - load.ready;
  // A request that comes while there is no replica does not wait for the scaler's next look.
  const bool is_urgent = load.waiting > 0 && present() == 0;
  if (now >= next_scaling_ || is_urgent) {
    const double since = std::chrono::duration<double, std::micro>(now - began_).count();
    wanted_ = std::clamp(scaler_->want(since, load), settings_.least, settings_.most);
    // What is in hand must be answered, whatever the scaler makes of it.
    if (load.waiting + load.running > 0) wanted_ = std::max(wanted_, 1);
    next_scaling_ = now + std::chrono::microseconds(std::llround(scaler_->period()));
  }
  while (present() > wanted_) let_one_go(now);
  for (int missing = wanted_ - present(); missing > 0 && now >= start_again_; --missing) {
    start_one(now);
  }
}

void Keeper::step(Instant now) {
  if (began_ == Instant{}) began_ = next_scaling_ = now;
  for (Replica& each : replicas_) look(each, now);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(replicas_, [](const Replica& each) { return each.job == 0; });
  }
  scale(now);
}

Result<void> Keeper::run(const std::atomic<bool>& stop) {
  while (!stop.load()) {
    step(std::chrono::steady_clock::now());
    if (refused_) return tl::unexpected(*refused_);
    std::this_thread::sleep_for(settings_.step_every);
  }
  return {};
}

void Keeper::end() {
  for (Replica& each : replicas_) {
    pool_.close(each.id);
    if (const auto ended = jobs_.end(each.job); !ended) say(ended.error().message);
  }
}

std::vector<Keeper::Seen> Keeper::seen() const {
  static constexpr std::array kWords = {"waits", "begins", "open", "sick", "drains"};
  const std::lock_guard lock(mutex_);
  std::vector<Seen> made;
  for (const Replica& each : replicas_) {
    made.push_back({.job = each.job,
                    .port = each.port,
                    .state = kWords[static_cast<std::size_t>(each.state)],
                    .in_hand = pool_.busy(each.id),
                    .cold_start_s = each.cold_start_s});
  }
  return made;
}

std::string Keeper::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace almanac::replicas
