// SPDX-License-Identifier: Apache-2.0
#include "kueue/scheduler.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace almanac::kueue {
namespace {

/// What becomes of a head.
enum class Fate : std::uint8_t { no_fit, no_candidates, skipped, preempting, admitted };

struct Entry {
  Workload* workload = nullptr;
  Nomination nomination{};
  Fate fate = Fate::no_fit;
};

/// Among heads: borrowing less, higher rank, earlier.
bool is_tried_before(const Entry& a, const Entry& b) {
  if (a.nomination.assignment.level != b.nomination.assignment.level) {
    return a.nomination.assignment.level < b.nomination.assignment.level;
  }
  if (a.workload->rank != b.workload->rank) return a.workload->rank > b.workload->rank;
  return a.workload->asked.created < b.workload->asked.created;
}

/// What a head without candidates keeps from those behind it.
Wants reserved_by(const QuotaTree& tree, QueueAt queue, const Assignment& assignment) {
  Wants made;
  for (const Want& want : assignment.usage) {
    const Amount nominal_left = tree.nominal(queue, want.slot) - tree.used(queue, want.slot);
    Amount kept = want.amount;
    if (assignment.level == 0) {
      kept = std::max<Amount>(0, std::min(want.amount, nominal_left));
    } else if (const Amount limit = tree.borrowing_limit(queue, want.slot);
               limit != QuotaTree::kNoLimit) {
      kept = std::min(want.amount, nominal_left + limit);
    }
    made.push_back({want.slot, kept});
  }
  return made;
}

/// The order of heads under fair sharing: a tournament in each tree, again after each winner.
class FairOrder {
 public:
  FairOrder(QuotaTree& tree, std::vector<Entry>& entries)
      : tree_(tree), of_queue_(tree.num_nodes()), paths_(tree.num_nodes()) {
    left_.reserve(entries.size());
    standings_.reserve(entries.size());
    for (Entry& entry : entries) {
      const QueueAt queue = entry.workload->queue;
      of_queue_[queue] = &entry;
      left_.push_back(&entry);
      paths_[queue] = {standings_.size(), depth(queue)};
      standings_.resize(standings_.size() + paths_[queue].depth);
      measure(entry);
    }
  }

  /// Null = all have had their turn.
  Entry* next() {
    if (left_.empty()) return nullptr;
    Entry* best = left_.front();
    const NodeAt root = tree_.root(best->workload->queue);
    if (!tree_.is_queue(root)) best = winner_below(root);
    of_queue_[best->workload->queue] = nullptr;
    left_.erase(std::find(left_.begin(), left_.end(), best));
    return best;
  }

  /// Call when a winner has taken what it requests. The standing of another head depends on the
  /// cohorts below the root that both are in, and on no other queue.
  void note_taken(QueueAt by) {
    const NodeAt branch = branch_of(by);
    for (const QueueAt queue : tree_.queues_below(branch)) {
      if (of_queue_[queue] != nullptr) measure(*of_queue_[queue]);
    }
  }

 private:
  /// Of the head of a queue in a cohort.
  struct Standing {
    bool borrows = false;  ///< Whether the head's request borrows.
    std::pair<int, double> share{};
  };

  struct Path {
    std::size_t begin = 0;  ///< In standings_, the parent first.
    std::size_t depth = 0;  ///< Number of cohorts above the queue.
  };

  std::size_t depth(NodeAt node) const {
    std::size_t made = 0;
    while ((node = tree_.parent(node)) != kNoNode) ++made;
    return made;
  }
  /// The node just below the root, or the root.
  NodeAt branch_of(NodeAt node) const {
    NodeAt above = tree_.parent(node);
    if (above == kNoNode) return node;
    for (; tree_.parent(above) != kNoNode; above = tree_.parent(above)) node = above;
    return node;
  }

  /// Computes the shares of the nodes above a head, including its request. Each node has the share
  /// of its child on the path to the head.
  void measure(const Entry& entry) {
    const QueueAt queue = entry.workload->queue;
    const Wants& usage = entry.nomination.assignment.usage;
    tree_.take(queue, usage);
    NodeAt child = queue;
    std::size_t at = paths_[queue].begin;
    for (NodeAt node = tree_.parent(queue); node != kNoNode; node = tree_.parent(node)) {
      standings_[at++] = {tree_.borrows_any_of(child, usage), tree_.share(child).key()};
      child = node;
    }
    tree_.give_back(queue, usage);
  }

  /// `above` = number of cohorts above `node`.
  Entry* winner_below(NodeAt node, std::size_t above = 0) {
    Entry* best = nullptr;
    const auto meet = [&](Entry* other) {
      if (other != nullptr && (best == nullptr || beats(*other, *best, above))) best = other;
    };
    for (const NodeAt cohort : tree_.cohorts(node)) meet(winner_below(cohort, above + 1));
    for (const NodeAt queue : tree_.queues(node)) meet(of_queue_[queue]);
    return best;
  }

  const Standing& standing(const Entry& of, std::size_t above) const {
    const Path& path = paths_[of.workload->queue];
    return standings_[path.begin + path.depth - 1 - above];
  }
  bool beats(const Entry& a, const Entry& b, std::size_t above) const {
    const Standing& one = standing(a, above);
    const Standing& other = standing(b, above);
    if (one.borrows != other.borrows) return other.borrows;
    if (one.share != other.share) return one.share < other.share;
    if (a.workload->rank != b.workload->rank) return a.workload->rank > b.workload->rank;
    return a.workload->asked.created < b.workload->asked.created;
  }

  QuotaTree& tree_;
  std::vector<Entry*> of_queue_;
  std::vector<Path> paths_;  ///< By queue.
  std::vector<Standing> standings_{};
  std::vector<Entry*> left_{};
};

}  // namespace

struct Scheduler::State {
  explicit State(Setup declared) : setup(std::move(declared)), world(setup) {
    for (const ClusterQueue& queue : setup.queues) {
      queue_at.emplace(queue.name, static_cast<QueueAt>(lines.size()));
      lines.emplace_back(queue.is_strict, setup.sets_shapes_aside);
    }
  }

  Result<Workload*> add(Submission submission);
  void start(Workload& workload, Admission admission);
  void stop(Workload& workload);
  void retry(QueueAt queue);
  void change_rank(Workload& workload, std::int64_t rank, bool has_changed);

  void remember(const Entry& entry);
  void process(Entry& entry);
  bool has_victim_of_others(const Entry& entry) const;
  bool has_room(const Entry& entry);
  void take_for_now(QueueAt queue, Wants usage);
  void requeue(Entry& entry);
  Admitted admit(Entry& entry, std::int64_t now);

  Setup setup;
  World world;
  std::map<std::string, QueueAt> queue_at{};
  std::vector<Line> lines{};
  std::unordered_map<std::string, Workload> workloads{};
  std::uint64_t cycles = 0;

  // State of the current cycle:
  std::vector<Victim> victims{};
  std::vector<std::pair<QueueAt, Wants>> taken{};
};

Result<Workload*> Scheduler::State::add(Submission submission) {
  std::string name = submission.name;
  if (workloads.contains(name)) {
    return fail(Code::conflict, fmt::format("a workload is called '{}' already", name));
  }
  auto made = world.resolve(std::move(submission));
  if (!made) return tl::unexpected(made.error());
  return &workloads.emplace(std::move(name), std::move(*made)).first->second;
}

void Scheduler::State::start(Workload& workload, Admission admission) {
  for (std::size_t at = 0; at < admission.flavors.size(); ++at) {
    const auto wants = World::wants_of(workload.pod_sets[at], admission.counts[at]);
    for (const auto& [resource, flavor] : admission.flavors[at]) {
      const auto want =
          std::find_if(wants.begin(), wants.end(),
                       [&, wanted = resource](const auto& each) { return each.first == wanted; });
      kueue::add(admission.usage, world.tree.slot(flavor, resource), want->second);
    }
  }
  workload.last.reset();
  world.tree.take(workload.queue, admission.usage);
  workload.admission = std::move(admission);
  world.queues[workload.queue].running.insert(&workload);
}

void Scheduler::State::stop(Workload& workload) {
  Queue& queue = world.queues[workload.queue];
  world.tree.give_back(workload.queue, workload.admission->usage);
  queue.running.erase(&workload);
  ++queue.generation;
  workload.admission.reset();
}

void Scheduler::State::retry(QueueAt queue) {
  for (const QueueAt each : world.tree.queues_below(world.tree.root(queue))) lines[each].retry();
}

void Scheduler::State::change_rank(Workload& workload, std::int64_t rank, bool has_changed) {
  if (workload.admission) {
    Queue& queue = world.queues[workload.queue];
    queue.running.erase(&workload);
    workload.rank = rank;
    queue.running.insert(&workload);
    ++queue.generation;
    return;
  }
  Line& line = lines[workload.queue];
  const bool was_aside = line.is_aside(workload);
  const bool holds_place = line.holds_place(workload);
  line.remove(workload);
  if (workload.rank != rank) workload.last.reset();
  workload.rank = rank;
  if (was_aside && !has_changed) {
    line.set_aside(workload, false);
  } else if (was_aside) {
    line.push(workload);
  } else {
    line.put_back(workload);
  }
  if (holds_place) line.hold_place(workload);
}

/// The next search of a workload begins with the flavors that this one has not tried.
void Scheduler::State::remember(const Entry& entry) {
  const Assignment& made = entry.nomination.assignment;
  entry.workload->last = made.has_untried() ? std::optional(made) : std::nullopt;
}

bool Scheduler::State::has_victim_of_others(const Entry& entry) const {
  return std::any_of(
      entry.nomination.victims.begin(), entry.nomination.victims.end(), [&](const Victim& wanted) {
        return std::any_of(victims.begin(), victims.end(),
                           [&](const Victim& gone) { return gone.workload == wanted.workload; });
      });
}

bool Scheduler::State::has_room(const Entry& entry) {
  const QueueAt queue = entry.workload->queue;
  std::vector<Workload*> gone;
  const auto add_all = [&](const std::vector<Victim>& from) {
    for (const Victim& victim : from) {
      if (std::find(gone.begin(), gone.end(), victim.workload) == gone.end()) {
        gone.push_back(victim.workload);
      }
    }
  };
  add_all(victims);
  add_all(entry.nomination.victims);
  for (Workload* const each : gone) world.remove(*each);
  const bool has = kueue::has_room(world.tree, queue, entry.nomination.assignment.usage, true);
  for (Workload* const each : gone) world.put_back(*each);
  return has;
}

void Scheduler::State::take_for_now(QueueAt queue, Wants usage) {
  world.tree.take(queue, usage);
  taken.emplace_back(queue, std::move(usage));
}

void Scheduler::State::process(Entry& entry) {
  Workload& workload = *entry.workload;
  const QueueAt queue = workload.queue;
  if (has_victim_of_others(entry)) {
    for (const Victim& victim : victims) world.remove(*victim.workload);
    workload.last.reset();
    const Assignment before = std::move(entry.nomination.assignment);
    entry.nomination = nominate(world, workload, cycles, &before);
    remember(entry);
    for (const Victim& victim : victims) world.put_back(*victim.workload);
    entry.nomination.assignment.waits_for_victims = entry.nomination.assignment.fit() == Fit::now;
  }
  const Assignment& made = entry.nomination.assignment;
  const bool has = has_room(entry);
  if (made.waits_for_victims) {
    entry.fate = Fate::preempting;
    workload.last.reset();
    take_for_now(queue, made.usage);
    return;
  }
  const Fit fit = made.fit();
  if (fit == Fit::none) return;
  if (fit == Fit::preempt && entry.nomination.victims.empty()) {
    entry.fate = Fate::no_candidates;
    if (world.queues[queue].declared->reclaim_within_cohort != Preempts::any) {
      take_for_now(queue, reserved_by(world.tree, queue, made));
    }
    return;
  }
  if (!has || has_victim_of_others(entry)) {
    entry.fate = Fate::skipped;
    return;
  }
  victims.insert(victims.end(), entry.nomination.victims.begin(), entry.nomination.victims.end());
  take_for_now(queue, made.usage);
  if (fit == Fit::preempt) {
    entry.fate = Fate::preempting;
    workload.last.reset();
  } else {
    entry.fate = Fate::admitted;
  }
}

void Scheduler::State::requeue(Entry& entry) {
  Workload& workload = *entry.workload;
  Line& line = lines[workload.queue];
  if (entry.fate == Fate::preempting) line.hold_place(workload);
  const bool stays = line.is_strict() || entry.fate == Fate::skipped ||
                     entry.fate == Fate::preempting || workload.last.has_value();
  if (!stays) line.set_aside(workload, /*takes_its_shape=*/true);
}

Admitted Scheduler::State::admit(Entry& entry, std::int64_t now) {
  Workload& workload = *entry.workload;
  const Assignment& made = entry.nomination.assignment;
  Admitted told{.workload = workload.asked.name};
  Admission admission{.counts = made.counts, .reserved = now};
  for (std::size_t at = 0; at < made.pod_sets.size(); ++at) {
    AdmittedPods pods{.name = workload.asked.pod_sets[at].name, .count = made.counts[at]};
    auto& flavors = admission.flavors.emplace_back();
    for (const Choice& choice : made.pod_sets[at].choices) {
      flavors.emplace_back(choice.resource, choice.flavor);
      pods.flavors.emplace_back(world.tree.resources()[choice.resource],
                                setup.flavors[choice.flavor].name);
    }
    told.pod_sets.push_back(std::move(pods));
  }
  lines[workload.queue].remove(workload);
  start(workload, std::move(admission));
  ++world.queues[workload.queue].generation;
  return told;
}

Scheduler::Scheduler(std::unique_ptr<State> state) : state_(std::move(state)) {}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;
Scheduler::~Scheduler() = default;

Result<Scheduler> Scheduler::make(Setup setup) {
  if (auto checked = check_setup(setup); !checked) return tl::unexpected(checked.error());
  return Scheduler(std::make_unique<State>(std::move(setup)));
}

Result<void> Scheduler::submit(Submission submission) {
  auto added = state_->add(std::move(submission));
  if (!added) return tl::unexpected(added.error());
  state_->lines[(*added)->queue].push(**added);
  return {};
}

Result<void> Scheduler::submit_admitted(Submission submission,
                                        const std::map<std::string, std::string>& flavors,
                                        std::int64_t reserved) {
  const std::vector<Flavor>& known = state_->setup.flavors;
  std::map<ResourceAt, FlavorAt> of;
  for (const auto& [resource, flavor] : flavors) {
    const auto found =
        std::find_if(known.begin(), known.end(),
                     [&, wanted = flavor](const Flavor& each) { return each.name == wanted; });
    if (found == known.end()) {
      return fail(Code::not_found,
                  fmt::format("workload {}: no flavor is called '{}'", submission.name, flavor));
    }
    of.emplace(state_->world.tree.resource(resource), static_cast<FlavorAt>(found - known.begin()));
  }
  auto added = state_->add(std::move(submission));
  if (!added) return tl::unexpected(added.error());
  Admission admission{.reserved = reserved};
  for (const Pods& pods : (*added)->pod_sets) {
    admission.counts.push_back(pods.count);
    auto& chosen = admission.flavors.emplace_back();
    for (const auto& [resource, amount] : pods.each) {
      if (const auto flavor = of.find(resource); flavor != of.end()) chosen.push_back(*flavor);
    }
  }
  state_->start(**added, std::move(admission));
  return {};
}

void Scheduler::remove(const std::string& workload) {
  const auto found = state_->workloads.find(workload);
  if (found == state_->workloads.end()) return;
  if (found->second.admission) state_->stop(found->second);
  state_->lines[found->second.queue].remove(found->second);
  state_->retry(found->second.queue);
  state_->workloads.erase(found);
}

void Scheduler::set_priority(const std::string& workload, std::int64_t priority) {
  const auto found = state_->workloads.find(workload);
  if (found == state_->workloads.end()) return;
  Workload& of = found->second;
  const std::int64_t boost = of.rank - of.asked.priority;
  of.asked.priority = priority;
  // Kueue hears of each write, also if the value stays.
  state_->change_rank(of, priority + boost, true);
}

void Scheduler::set_boost(const std::string& workload, std::int64_t boost) {
  const auto found = state_->workloads.find(workload);
  if (found == state_->workloads.end()) return;
  Workload& of = found->second;
  const bool has_changed = state_->setup.has_boosts && boost != of.asked.boost;
  of.asked.boost = boost;
  state_->change_rank(of, of.asked.priority + (state_->setup.has_boosts ? boost : 0), has_changed);
}

void Scheduler::retry(const std::string& queue) { state_->retry(state_->queue_at.at(queue)); }

Cycle Scheduler::cycle(std::int64_t now) {
  State& state = *state_;
  ++state.cycles;
  std::vector<Entry> entries;
  for (std::size_t queue = 0; queue < state.lines.size(); ++queue) {
    Workload* const first = state.lines[queue].first();
    if (first == nullptr || state.setup.queues[queue].is_stopped) continue;
    entries.push_back({.workload = first});
  }
  for (Entry& entry : entries) {
    entry.nomination = nominate(state.world, *entry.workload, state.cycles);
    state.remember(entry);
  }
  std::vector<Entry*> admitted;
  const auto process = [&](Entry& entry) {
    state.process(entry);
    if (entry.fate == Fate::admitted) admitted.push_back(&entry);
  };
  if (state.setup.is_fair) {
    FairOrder order(state.world.tree, entries);
    while (Entry* const next = order.next()) {
      const std::size_t before = state.taken.size();
      process(*next);
      if (state.taken.size() != before) order.note_taken(next->workload->queue);
    }
  } else {
    std::stable_sort(entries.begin(), entries.end(), is_tried_before);
    for (Entry& entry : entries) process(entry);
  }
  // What was taken so far kept the room from those behind; those admitted take it for good below.
  for (const auto& [queue, usage] : state.taken) state.world.tree.give_back(queue, usage);
  state.taken.clear();
  for (Entry& entry : entries) {
    if (entry.fate != Fate::admitted) state.requeue(entry);
  }
  Cycle told;
  for (Entry* const entry : admitted) told.admitted.push_back(state.admit(*entry, now));
  const std::vector<Victim> victims = std::exchange(state.victims, {});
  for (const Victim& victim : victims) {
    told.preempted.push_back({victim.workload->asked.name, victim.reason});
    state.stop(*victim.workload);
    state.lines[victim.workload->queue].push(*victim.workload);
  }
  for (const Victim& victim : victims) state.retry(victim.workload->queue);
  return told;
}

std::vector<std::string_view> Scheduler::heads() const {
  std::vector<std::string_view> made;
  for (std::size_t queue = 0; queue < state_->lines.size(); ++queue) {
    if (state_->setup.queues[queue].is_stopped) continue;
    const Workload* const first = state_->lines[queue].first();
    if (first != nullptr) made.push_back(first->name());
  }
  return made;
}

std::vector<std::string_view> Scheduler::holding() const {
  std::vector<std::string_view> made;
  for (const Queue& queue : state_->world.queues) {
    for (const Workload* const each : queue.running) made.push_back(each->name());
  }
  std::sort(made.begin(), made.end());
  return made;
}

std::vector<std::string_view> Scheduler::waiting(const std::string& queue) const {
  std::vector<std::string_view> made;
  for (const Workload* const each : state_->lines[state_->queue_at.at(queue)].all()) {
    made.push_back(each->name());
  }
  return made;
}

std::vector<std::string_view> Scheduler::aside(const std::string& queue) const {
  const Line& line = state_->lines[state_->queue_at.at(queue)];
  std::vector<std::string_view> made;
  for (const Workload* const each : line.all()) {
    if (line.is_aside(*each)) made.push_back(each->name());
  }
  std::sort(made.begin(), made.end());
  return made;
}

bool Scheduler::is_aside(const std::string& workload) const {
  const auto found = state_->workloads.find(workload);
  return found != state_->workloads.end() &&
         state_->lines[found->second.queue].is_aside(found->second);
}

std::string_view Scheduler::first(const std::string& queue) const {
  const Workload* const first = state_->lines[state_->queue_at.at(queue)].first();
  return first != nullptr ? first->name() : std::string_view();
}

}  // namespace almanac::kueue
