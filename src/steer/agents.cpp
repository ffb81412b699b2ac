// SPDX-License-Identifier: Apache-2.0
#include "steer/agents.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/log.h"

namespace almanac::steer {
namespace {

/// An agent has so long to say which node it is on.
constexpr Duration kIntroduction = 5s;
/// Agents report every five.
constexpr Duration kSilent = 30s;
/// How often orders are said again at least.
constexpr Duration kSign = 10s;
constexpr Duration kRemembered = 1h;
/// The log says at most so often that a peer was turned away.
constexpr Duration kWarning = 1min;
/// Most peers that have not named their node; others are then turned away.
constexpr std::ptrdiff_t kMostStrangers = 256;
/// Most unread reports; of more, the oldest are dropped.
constexpr std::size_t kMostReports = 4096;

std::string address_of(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST] = "";
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, nullptr, 0,
                NI_NUMERICHOST);
  return host;
}

}  // namespace

Result<std::unique_ptr<Agents>> Agents::listen(const std::string& address, agent::Keys keys,
                                               Duration patience, const service::Clock& clock) {
  auto socket = agent::listen_at(address);
  if (!socket) return tl::unexpected(socket.error());
  return std::unique_ptr<Agents>(new Agents(std::move(*socket), std::move(keys), patience, clock));
}

Agents::Agents(Descriptor socket, agent::Keys keys, Duration patience, const service::Clock& clock)
    : keys_(std::move(keys)),
      patience_(patience),
      clock_(clock),
      socket_(std::move(socket)),
      port_(agent::port_of(socket_)),
      ordered_(clock_.monotonic()),
      thread_([this] { work(); }) {}

Agents::~Agents() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  bell_.ring();
  thread_.join();
}

std::vector<Agents::Told> Agents::take_reports() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reports_, {});
}

std::set<std::string> Agents::present() const {
  const std::lock_guard lock(mutex_);
  return present_;
}

void Agents::order(const Orders& orders) {
  {
    const std::lock_guard lock(mutex_);
    ordered_ = clock_.monotonic();
    if (orders == orders_) return;
    orders_ = orders;
  }
  bell_.ring();
}

std::string Agents::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_.empty() || clock_.monotonic() - refused_ > kRemembered ? "" : refusal_;
}

void Agents::work() {
  while (true) {
    std::vector<pollfd> sources{{bell_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
    for (const auto& guest : guests_) sources.push_back({guest->line.get(), POLLIN, 0});
    ::poll(sources.data(), sources.size(), 1000);
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
    }
    bell_.hush();
    for (std::size_t at = 0; at + 2 < sources.size(); ++at) {
      if (sources[at + 2].revents != 0 && !listen_to(*guests_[at])) guests_[at].reset();
    }
    std::erase(guests_, nullptr);
    if (sources[1].revents != 0) welcome();
    forget_silent();
    for (auto& guest : guests_) {
      if (!guest->node.empty() && !tell(*guest)) guest.reset();
    }
    std::erase(guests_, nullptr);
    const std::lock_guard lock(mutex_);
    present_.clear();
    for (const auto& guest : guests_) {
      if (!guest->node.empty()) present_.insert(guest->node);
    }
  }
}

void Agents::welcome() {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Descriptor socket(
      ::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC));
  if (!socket) {
    // The descriptors have run out, most likely: a connection that waits would wake us at once
    // again.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return;
  }
  const auto strangers = std::count_if(guests_.begin(), guests_.end(),
                                       [](const auto& guest) { return guest->node.empty(); });
  if (strangers >= kMostStrangers) return;
  auto guest = std::make_unique<Guest>(
      Guest{.line = agent::LineSocket(std::move(socket), agent::kLongestHello),
            .nonce = agent::new_nonce(),
            .from = address_of(address, size),
            .heard = clock_.monotonic()});
  if (guest->line.send(agent::greeting(guest->nonce))) guests_.push_back(std::move(guest));
}

bool Agents::listen_to(Guest& guest) {
  if (!guest.line.take()) return false;
  while (const auto line = guest.line.next()) {
    if (line->too_long) return refuse(guest, "it sent a line that is too long");
    const bool was_known = !guest.node.empty();
    if (!take(guest, line->text)) return false;
    if (!was_known) return true;  // it was short lines until now, and nothing is left of them
  }
  return true;
}

bool Agents::take(Guest& guest, std::string_view line) {
  if (guest.node.empty()) return take_hello(guest, line);
  const auto text = guest.towards_daemon->open(line);
  if (!text) return refuse(guest, "it sent a line with a wrong seal");
  auto report = agent::read_report(*text);
  if (!report) return refuse(guest, to_string(report.error()));
  guest.heard = clock_.monotonic();
  const std::lock_guard lock(mutex_);
  if (reports_.size() == kMostReports) reports_.erase(reports_.begin());
  reports_.push_back({guest.node, std::move(*report)});
  return true;
}

bool Agents::take_hello(Guest& guest, std::string_view line) {
  const auto hello = agent::read_hello(line);
  if (!hello) return refuse(guest, to_string(hello.error()));
  using Towards = agent::Seal::Towards;
  keys_.look();
  const agent::Secret key = keys_.of(hello->node);
  agent::Seal seal(key, Towards::daemon, hello->node, guest.nonce, hello->nonce);
  if (!seal.open(line))
    return refuse(guest, "its key is not the key of that node (almanac slurm agents --key NODE)");
  // An agent that connects again has noticed before us that its line was lost.
  for (auto& each : guests_) {
    if (each && each->node == hello->node) each->is_replaced = true;
  }
  guest.node = hello->node;
  guest.towards_daemon.emplace(std::move(seal));
  guest.key = keys_.number(hello->node);
  guest.towards_agent.emplace(key, Towards::agent, hello->node, guest.nonce, hello->nonce);
  guest.heard = clock_.monotonic();
  guest.line.allow(agent::kLongestLine);
  service::log_info(fmt::format("the agent of {} connected from {}", guest.node, guest.from));
  return true;
}

bool Agents::tell(Guest& guest) {
  std::vector<agent::Limit> limits;
  {
    const std::lock_guard lock(mutex_);
    if (clock_.monotonic() - ordered_ > patience_) return true;
    if (const auto found = orders_.find(guest.node); found != orders_.end()) limits = found->second;
  }
  const bool is_new = guest.told == Instant{} || limits != guest.orders;
  if (!is_new && clock_.monotonic() - guest.told < kSign) return true;
  guest.told = clock_.monotonic();
  guest.orders = limits;
  const agent::Orders orders{.patience = patience_, .limits = std::move(limits)};
  return guest.line.send(guest.towards_agent->close(to_text(orders)));
}

bool Agents::refuse(const Guest& guest, const std::string& why) {
  const std::string line = fmt::format("rejected an agent connection from {}{}: {}", guest.from,
                                       guest.node.empty() ? "" : " as " + guest.node, why);
  if (clock_.monotonic() >= next_warning_) {
    service::log_warning(line);
    next_warning_ = clock_.monotonic() + kWarning;
  }
  const std::lock_guard lock(mutex_);
  refusal_ = line;
  refused_ = clock_.monotonic();
  return false;
}

void Agents::forget_silent() {
  keys_.look();
  for (auto& guest : guests_) {
    const bool is_revoked = !guest->node.empty() && guest->key != keys_.number(guest->node);
    if (is_revoked) refuse(*guest, "its key was revoked");
    guest->is_replaced = guest->is_replaced || is_revoked;
  }
  std::erase_if(guests_, [&](const std::unique_ptr<Guest>& guest) {
    if (guest->is_replaced) return true;
    if (clock_.monotonic() - guest->heard <= (guest->node.empty() ? kIntroduction : kSilent))
      return false;
    if (!guest->node.empty()) {
      service::log_warning(fmt::format("the agent of {} does not report any more", guest->node));
    }
    return true;
  });
}

}  // namespace almanac::steer
