// SPDX-License-Identifier: Apache-2.0

#include "serving/splitwise.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>

#include "serving/python_heap.h"
#include "serving/splitwise_instance.h"

namespace almanac::serving {

using namespace inference;
namespace {

constexpr double kServerMemory = 687'194'767'360;          // bytes
constexpr double kBandwidth = 200.0 * 1024 * 1024 * 1024;  // bytes a second
constexpr double kRetry_s = 1;
constexpr double kQueuedTokens = 8192;  // beyond which mixed_pool opens another server

using Scheduler = SplitwiseScheduler;
using Pool = SplitwisePool;

enum class What : std::uint8_t { arrival, end, transfer, retry };

class Play {
 public:
  Play(std::span<const SplitwiseRequest> requests, const SplitwiseSetup& setup)
      : requests_(requests),
        setup_(setup),
        kv_bytes_(2 * setup.model.hidden * setup.model.layers * 2),
        capacity_(kServerMemory - setup.model.weights),
        times_(requests.size()),
        tasks_(requests.size()) {
    for (const SplitwiseServer& each : setup.servers) {
      members(each.pool).push_back(servers_.size());
      servers_.push_back(
          {.instance = {*each.times, capacity_, setup.orca}, .home = each.pool, .now = each.pool});
    }
    for (RequestId id = 0; id < requests.size(); ++id) {
      const SplitwiseRequest& request = requests[id];
      tasks_[id].prompt = {.request = id,
                           .is_prompt = true,
                           .memory = (request.prompt + 1) * kv_bytes_,
                           .size = request.prompt,
                           .left = request.prompt,
                           .arrival = request.arrival};
      tasks_[id].token = {.request = id,
                          .memory = (request.output - 1) * kv_bytes_,
                          .left = request.output - 1,
                          .arrival = request.arrival};
    }
  }

  std::vector<SplitwiseTimes> run() {
    for (RequestId id = 0; id < requests_.size(); ++id) {
      plan(requests_[id].arrival, What::arrival, id);
    }
    while (!events_.empty()) {
      const Event event = events_.pop();
      now_ = event.at;
      switch (event.what) {
        case What::arrival:
          arrive(event.subject);
          break;
        case What::end:
          if (servers_[event.subject].end == event.number) end(event.subject);
          break;
        case What::transfer:
          transferred(event.subject);
          break;
        case What::retry:
          transfer(event.subject);
      }
    }
    return std::move(times_);
  }

 private:
  struct Server {
    SplitwiseInstance instance;
    Pool home;
    Pool now;
    double pending_tokens = 0;
    double memory = 0;  // that the scheduler has promised
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  };
  struct Event {
    double at;
    What what;
    std::uint32_t subject;  // a request or a server
    std::uint64_t number;
    bool operator<(const Event& other) const { return at < other.at; }
  };
  struct Tasks {
    SplitwiseTask prompt{}, token{};
    std::size_t source = 0, destination = 0;
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// Returns the number of the event.
  std::uint64_t plan(double at, What what, std::size_t subject) {
    events_.push({at, what, static_cast<std::uint32_t>(subject), planned_});
    return planned_++;
  }

  std::vector<std::size_t>& members(Pool pool) { return pools_[static_cast<std::size_t>(pool)]; }
  const std::vector<std::size_t>& members(Pool pool) const {
    return pools_[static_cast<std::size_t>(pool)];
  }
  /// Moves a server; it is the last of the pool that it comes to.
  void move(std::size_t number, Pool pool) {
    std::erase(members(servers_[number].now), number);
    members(pool).push_back(number);
    servers_[number].now = pool;
  }

  /// The first server of the least value among those of `pools`, pool by pool; kNone where these
  /// are empty.
  template <typename Value>
  std::size_t least(std::initializer_list<Pool> pools, const Value& value) const {
    std::size_t best = kNone;
    for (const Pool pool : pools) {
      for (const std::size_t each : members(pool)) {
        if (best == kNone || value(servers_[each]) < value(servers_[best])) best = each;
      }
    }
    return best;
  }

  static double tokens(const Server& server) { return server.pending_tokens; }
  static double promised(const Server& server) { return server.memory; }
  static std::size_t present(const Server& server) { return server.instance.requests(); }

  std::size_t in_turn(Pool pool) {
    const auto& all = members(pool);
    return all[turn_[static_cast<std::size_t>(pool)]++ % all.size()];
  }

  void choose(RequestId id) {
    Tasks& tasks = tasks_[id];
    const double prompt = requests_[id].prompt;
    switch (setup_.scheduler) {
      case Scheduler::round_robin:
        tasks.source = tasks.destination = in_turn(Pool::both);
        break;
      case Scheduler::jsq:
        tasks.source = tasks.destination = least({Pool::both}, present);
        break;
      case Scheduler::token_jsq:
        tasks.source = tasks.destination = least({Pool::both}, tokens);
        servers_[tasks.source].pending_tokens += prompt + 1;
        break;
      case Scheduler::kv_round_robin:
        tasks.source = in_turn(Pool::prompts);
        tasks.destination = in_turn(Pool::tokens);
        break;
      case Scheduler::kv_jsq:
        tasks.source = least({Pool::prompts}, present);
        tasks.destination = least({Pool::tokens}, present);
        break;
      case Scheduler::kv_token_jsq:
        tasks.source = least({Pool::prompts}, tokens);
        tasks.destination = least({Pool::tokens}, tokens);
        break;
      case Scheduler::mixed_pool:
        choose_mixed(tasks, prompt);
    }
  }

  void choose_mixed(Tasks& tasks, double prompt) {
    tasks.source = tasks.destination = kNone;
    for (const Pool pool : {Pool::prompts, Pool::both}) {
      const std::size_t found = least({pool}, tokens);
      if (found == kNone || (servers_[found].instance.has_pending() &&
                             servers_[found].pending_tokens + prompt > kQueuedTokens)) {
        continue;
      }
      tasks.source = found;
      break;
    }
    const double need = tasks.prompt.memory + tasks.token.memory;
    for (const Pool pool : {Pool::tokens, Pool::both}) {
      const std::size_t found = least({pool}, promised);
      if (found == kNone || servers_[found].memory + need >= capacity_) continue;
      tasks.destination = found;
      break;
    }
    if (tasks.source == kNone) {
      tasks.source = least({Pool::tokens}, tokens);
      if (tasks.source != kNone) move(tasks.source, Pool::both);
    }
    if (tasks.destination == kNone) {
      tasks.destination = least({Pool::prompts}, promised);
      if (tasks.destination != kNone) move(tasks.destination, Pool::both);
    }
    if (tasks.source == kNone || tasks.destination == kNone) {
      tasks.source = tasks.destination = least({Pool::prompts, Pool::both, Pool::tokens}, tokens);
    }
    servers_[tasks.source].pending_tokens += prompt;
    servers_[tasks.destination].pending_tokens += 1;
    if (tasks.source == tasks.destination) {
      servers_[tasks.source].memory += need;
    } else {
      servers_[tasks.source].memory += tasks.prompt.memory;
      servers_[tasks.destination].memory += need;
    }
  }

  void arrive(RequestId id) {
    choose(id);
    Tasks& tasks = tasks_[id];
    times_[id].prompt_server = static_cast<std::int32_t>(tasks.source);
    times_[id].token_server = static_cast<std::int32_t>(tasks.destination);
    hand_over(tasks.source, tasks.prompt);
    if (tasks.source == tasks.destination && tasks.token.left > 0) {
      hand_over(tasks.source, tasks.token);
    }
  }

  void hand_over(std::size_t number, SplitwiseTask& task) {
    SplitwiseInstance& instance = servers_[number].instance;
    instance.arrive(task);
    if (instance.idle()) {
      if (task.memory <= instance.memory_left()) start(number);
    } else if (instance.asks_for_pause(&task)) {
      pause(number);
    }
  }

  void start(std::size_t number) {
    Server& server = servers_[number];
    const double at = server.instance.start(now_);
    for (const SplitwiseTask* task : server.instance.batch()) {
      double& began =
          task->is_prompt ? times_[task->request].prompt_start : times_[task->request].token_start;
      if (began == kNever) began = now_;
    }
    if (at != kNever) {
      server.end = plan(at, What::end, number);
    }
  }

  void pause(std::size_t number) {
    Server& server = servers_[number];
    if (const double at = server.instance.pause(now_); at != kNever) {
      server.end = plan(at, What::end, number);
    }
  }

  void end(std::size_t number) {
    Server& server = servers_[number];
    for (SplitwiseTask* task : server.instance.end()) {
      const RequestId id = task->request;
      Tasks& tasks = tasks_[id];
      if (task->is_prompt) {
        times_[id].first_token = now_;
        server.pending_tokens -= requests_[id].prompt;
        if (tasks.token.left == 0) {
          finish(id, number);
        } else if (tasks.source != tasks.destination) {
          transfer(id);
        }
      } else {
        server.pending_tokens -= 1;
        finish(id, number);
      }
    }
    start(number);
    go_home(number);
  }

  void finish(RequestId id, std::size_t number) {
    times_[id].finish = now_;
    const Tasks& tasks = tasks_[id];
    servers_[number].instance.free_memory(tasks.prompt.memory + tasks.token.memory);
    servers_[number].memory -= tasks.prompt.memory + tasks.token.memory;
  }

  /// A server that has helped out returns when it is empty.
  void go_home(std::size_t number) {
    Server& server = servers_[number];
    if (server.instance.requests() == 0 && server.now != server.home) move(number, server.home);
  }

  void transfer(RequestId id) {
    const Tasks& tasks = tasks_[id];
    SplitwiseInstance& destination = servers_[tasks.destination].instance;
    if (destination.memory_left() < tasks.prompt.memory) {
      plan(now_ + kRetry_s, What::retry, id);
      return;
    }
    destination.take_memory(tasks.prompt.memory);
    const double bytes = requests_[id].prompt * kv_bytes_;
    plan(now_ + bytes / (kBandwidth * setup_.bandwidth_factor), What::transfer, id);
  }

  void transferred(RequestId id) {
    Tasks& tasks = tasks_[id];
    Server& source = servers_[tasks.source];
    source.instance.free_memory(tasks.prompt.memory);
    source.memory -= tasks.prompt.memory;
    hand_over(tasks.destination, tasks.token);
    if (!source.instance.has_pending()) return;
    if (source.instance.idle()) {
      if (source.instance.next_fits()) start(tasks.source);
    } else if (source.instance.asks_for_pause(nullptr)) {
      pause(tasks.source);
    }
  }

  std::span<const SplitwiseRequest> requests_;
  const SplitwiseSetup& setup_;
  double kv_bytes_;
  double capacity_;
  std::vector<SplitwiseTimes> times_;
  std::vector<Tasks> tasks_;
  std::vector<Server> servers_;
  std::array<std::vector<std::size_t>, 3> pools_;  // in the order in which servers came to them
  PythonHeap<Event> events_;
  std::uint64_t planned_ = 0;
  std::size_t turn_[3] = {0, 0, 0};
  double now_ = 0;
};

}  // namespace

std::vector<SplitwiseTimes> play_splitwise(std::span<const SplitwiseRequest> requests,
                                           const SplitwiseSetup& setup) {
  return Play(requests, setup).run();
}

}  // namespace almanac::serving
