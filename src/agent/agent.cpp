// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/wall_clock.h"

namespace almanac::agent {
namespace {

/// The pause between two attempts to reach the daemon, and how long one takes at most.
constexpr Duration kRedial = 5s;
constexpr Duration kDial = 5s;

}  // namespace

Agent::Agent(Config config, Limits limits, Say say)
    : config_(std::move(config)),
      say_(std::move(say)),
      limits_(std::move(limits)),
      look_(config_.places, config_.node) {}

Result<std::unique_ptr<Agent>> Agent::open(Config config, Say say) {
  if (auto checked = check_address(config.daemon); !checked) {
    return tl::unexpected(checked.error());
  }
  auto limits = Limits::open(config.memory);
  if (!limits) return tl::unexpected(limits.error());
  return std::unique_ptr<Agent>(new Agent(std::move(config), std::move(*limits), std::move(say)));
}

void Agent::wake() { bell_.ring(); }

void Agent::run(const std::atomic<bool>& stop, const std::function<void()>& alive) {
  while (!stop) {
    if (!line_ && steady() >= next_dial_) dial_daemon();
    wait();
    if (line_) hear();
    forget_orders();
    if (steady() >= next_report_) report();
    alive();
  }
  limits_.lift_all();
}

void Agent::dial_daemon() {
  next_dial_ = steady() + kRedial;
  auto socket = dial(config_.daemon, kDial);
  if (!socket) return hang_up(to_string(socket.error()));
  line_.emplace(std::move(*socket), kLongestLine);
}

void Agent::hang_up(const std::string& why) {
  line_.reset();
  towards_daemon_.reset();
  towards_agent_.reset();
  is_known_ = false;
  next_dial_ = steady() + kRedial;
  if (why != said_) say_(why);
  said_ = why;
}

void Agent::wait() {
  const Time next = line_ ? next_report_ : std::min(next_report_, next_dial_);
  const Duration left = std::clamp<Duration>(next - steady(), Duration{0}, 1s);
  std::array<pollfd, 2> sources{{{bell_.get(), POLLIN, 0}, {line_ ? line_->get() : -1, POLLIN, 0}}};
  ::poll(sources.data(), sources.size(), static_cast<int>(left.count()));
}

void Agent::hear() {
  if (!line_->take()) {
    return hang_up(is_known_ || !towards_daemon_
                       ? "the daemon closed the connection"
                       : "the daemon closed the connection when it received our name: check that "
                         "this node uses its own key");
  }
  while (line_) {
    const auto line = line_->next();
    if (!line) return;
    if (line->too_long) return hang_up("the daemon sent a line that is too long");
    if (!take(line->text)) return;
  }
}

bool Agent::take(std::string_view line) {
  if (!towards_daemon_) {
    const auto nonce = read_greeting(line);
    if (!nonce) {
      hang_up(to_string(nonce.error()));
      return false;
    }
    const Hello hello{config_.node, new_nonce()};
    towards_daemon_.emplace(config_.secret, Seal::Towards::daemon, hello.node, *nonce, hello.nonce);
    towards_agent_.emplace(config_.secret, Seal::Towards::agent, hello.node, *nonce, hello.nonce);
    return line_->send(towards_daemon_->close(to_text(hello)));
  }
  const auto text = towards_agent_->open(line);
  if (!text) {
    hang_up("the server there does not have our secret");
    return false;
  }
  auto orders = read_orders(*text);
  if (!orders) {
    hang_up(to_string(orders.error()));
    return false;
  }
  if (!std::exchange(is_known_, true)) {
    say_(fmt::format("reports as {} to {}", config_.node, config_.daemon));
    said_.clear();
    next_report_ = steady();
  }
  // What is measured from now on is of other cores.
  if (orders->limits != orders_.limits) next_report_ = steady();
  orders_ = std::move(*orders);
  heard_ = steady();
  hold();
  return true;
}

void Agent::hold() {
  const auto there = find_jobs(config_.mounts, config_.node);
  troubles_ = limits_.hold(orders_.limits, there);
}

void Agent::forget_orders() {
  if (orders_.patience == Duration{0} || steady() < heard_ + orders_.patience) return;
  if (!limits_.none()) say_("the daemon does not respond: all jobs get Slurm's own limits back");
  limits_.lift_all();
  orders_ = {};
  troubles_.clear();
}

void Agent::report() {
  next_report_ = steady() + config_.every;
  const auto there = find_jobs(config_.mounts, config_.node);
  // Slurm may have written its own again, or begun a step.
  troubles_ = limits_.hold(orders_.limits, there);
  Report report = look_.look(steady(), there, limits_);
  for (JobReport& job : report.jobs) {
    if (const auto found = troubles_.find(job.job); found != troubles_.end()) {
      job.trouble = found->second;
    }
  }
  if (!line_ || !is_known_) return;
  if (!line_->send(towards_daemon_->close(to_text(report)))) hang_up("the daemon is gone");
}

}  // namespace almanac::agent
