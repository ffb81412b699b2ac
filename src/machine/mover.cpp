// SPDX-License-Identifier: Apache-2.0
#include "machine/mover.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "machine/environment.h"
#include "machine/holding.h"
#include "perf/own_word.h"
#include "shepherd/record.h"

namespace almanac::machine {

using cluster::Grant;
using store::JobNumber;

namespace {

/// Whether a job has reported which GPUs it uses, and so can learn of others.
bool can_move(const Entry& entry) {
  return entry.process() == Process::own && !awaits_its_end(entry.job) && entry.of_runs->progress &&
         !entry.of_runs->progress->gpus.empty() && entry.run->allocation();
}

}  // namespace

bool Mover::vacate(Entry& entry) {
  if (!can_move(entry)) return false;
  entry.job.attained = queue_.round().progress(entry.id).attained;
  std::vector<Grant>& leaves = entry.of_runs.change().leaves;
  leaves.insert(leaves.end(), entry.job.held_gpus.begin(), entry.job.held_gpus.end());
  entry.moves = true;
  return true;
}

void Mover::give_gpus(Entry& entry) {
  store::Job& job = entry.job;
  meter_.count_energy(entry, state_.now);
  const std::string before = visible_gpus(job.held_gpus, state_.config.machine);
  const auto held = queue_.round().grants(entry.id);
  job.held_gpus.assign(held.begin(), held.end());
  job.since = state_.now;
  entry.of_runs.change().draws = job.held_gpus;
  entry.batch = queue_.round().config(entry.id).batch;
  entry.of_runs.change().leaves = without(std::move(entry.of_runs.change().leaves), job.held_gpus);
  state_.note(
      job, kResized,
      fmt::format("GPUs {} to {}", before, visible_gpus(job.held_gpus, state_.config.machine)));
  entry.of_runs.change().gpu_use.change(state_.now);
  queue_.measured().change(state_.now);
  state_.deeds.pin.push_back(entry.id);
  state_.deeds.resize.push_back(job.number);
  state_.deeds.tell.insert(job.number);
  state_.mark(entry);
}

void Mover::set_batch(Entry& entry) {
  const std::int32_t wanted = queue_.round().config(entry.id).batch;
  if (std::exchange(entry.batch, wanted) == wanted || !can_move(entry)) return;
  // An earlier service may have told the process already.
  if (entry.run->allocation() == allocation_of(entry.job, state_.config.machine, wanted)) return;
  entry.moves = true;
  state_.deeds.tell.insert(entry.job.number);
}

void Mover::tell_processes() {
  for (const JobNumber number : std::exchange(state_.deeds.tell, {})) {
    Entry* const entry = state_.book.find(number);
    if (entry == nullptr || entry->process() != Process::own) continue;
    const std::vector<Grant> taken = not_released(state_, *entry);
    store::Job now = entry->job;
    now.held_gpus = without(std::move(now.held_gpus), taken);
    if (!taken.empty()) state_.deeds.tell.insert(number);
    const std::string gpus = visible_gpus(now.held_gpus, state_.config.machine);
    if (gpus.empty()) {
      restart(*entry, "other processes have not released its GPUs yet");
      continue;
    }
    if (!taken.empty() && gpus == entry->of_runs->told_gpus) continue;
    if (auto told = entry->run->reallocate(allocation_of(now, state_.config.machine, entry->batch));
        !told) {
      restart(*entry, to_string(told.error()));
      continue;
    }
    entry->of_runs.change().told_gpus = gpus;
    entry->of_runs.change().said_before =
        entry->of_runs->progress ? entry->of_runs->progress->times_gpus : 0;
    if (!entry->of_runs->move && entry->of_runs->progress) {
      entry->of_runs.change().move = {.told = state_.now, .step = entry->of_runs->progress->step};
    }
    entry->of_runs.change().moved_by =
        state_.clock.since_boot() + std::min(entry->job.asked->grace, state_.config.max_grace);
  }
}

void Mover::measure_move(Entry& entry) {
  if (entry.moves || !entry.of_runs->move || !entry.of_runs->progress) return;
  if (entry.of_runs->progress->step <= entry.of_runs->move->step) return;
  OfRuns& own = entry.of_runs.change();
  const double took_s = seconds(state_.time.now() - own.move->told);
  own.moves_took_s += took_s;
  ++own.num_moves;
  state_.note(entry.job, kResized,
              fmt::format("made its next step {:.1f} s after the change of GPUs", took_s));
  own.move.reset();
  if (entry.id == kNoJob) return;
  queue_.record_of(entry).request.restart_s = static_cast<float>(own.moves_took_s / own.num_moves);
}

void Mover::release_left() {
  for (const JobNumber number : state_.processes) {
    Entry& entry = *state_.book.find(number);
    measure_move(entry);
    if (!entry.moves || !entry.of_runs->moved_by || !entry.of_runs->progress) continue;
    const perf::OwnProgress& said = *entry.of_runs->progress;
    if (said.times_gpus <= entry.of_runs->said_before || said.gpus != entry.of_runs->told_gpus)
      continue;
    entry.of_runs.change().leaves.clear();
    entry.of_runs.change().moved_by.reset();
    entry.moves = state_.deeds.tell.contains(number);
    state_.bell.ring();
  }
}

void Mover::restart(Entry& entry, const std::string& why) {
  state_.deeds.tell.erase(entry.job.number);
  lifecycle_.apply(entry, life::Renewed{why});
  state_.deeds.start.push_back(entry.job.number);
}

void Mover::compare_with_process(Entry& entry) {
  const auto told = entry.run->allocation();
  if (!told) return;
  entry.of_runs.change().progress = word_of(*entry.run, state_.now).progress();
  if (entry.of_runs->progress)
    add_pace(entry);  // otherwise its policy would believe that the job was never tried
  const std::string held = visible_gpus(entry.job.held_gpus, state_.config.machine);
  const std::string uses = entry.of_runs->progress && !entry.of_runs->progress->gpus.empty()
                               ? entry.of_runs->progress->gpus
                               : visible_gpus(*told);
  if (uses == held && visible_gpus(*told) == held) return;
  // The process may use any other GPU until it reports that it does not.
  entry.of_runs.change().leaves =
      without(whole_machine(state_.config.machine), entry.job.held_gpus);
  entry.moves = true;
  if (can_move(entry)) {
    state_.deeds.tell.insert(entry.job.number);
  } else {
    restart(entry, "it was not notified");
  }
}

}  // namespace almanac::machine
