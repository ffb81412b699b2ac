// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that go on on other GPUs: a job that has said which GPUs it uses (`gpus 0,2` in the file
/// that ALMANAC_PROGRESS names) is told of others by a file and SIGUSR2, and says so again when it
/// uses them. It has its grace for that: a checkpoint, and processes begun anew below the same
/// command. One that does not say so in time, or never said anything, is ended and begun anew.
///
/// What a job leaves is nobody's until it has said so. Where others have not yet left what it is
/// to get, it is told first of what it keeps: so two jobs that change places wait for neither.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "machine/core.h"
#include "machine/environment.h"
#include "machine/instances.h"
#include "perf/own_word.h"
#include "service/log.h"
#include "shepherd/record.h"

namespace almanac::machine {

using cluster::Grant;
using store::JobNumber;

namespace {

/// `held` without the GPUs of `others`; grants that have none left are gone.
std::vector<Grant> without(std::vector<Grant> held, const std::vector<Grant>& others) {
  for (Grant& grant : held) {
    for (const Grant& other : others) {
      if (other.node == grant.node) grant.gpus &= ~other.gpus;
    }
  }
  std::erase_if(held, [](const Grant& grant) { return grant.gpus == 0; });
  return held;
}

/// It has said which GPUs it uses, and so hears when they change.
bool hears(const Entry& entry) {
  return entry.process() == Process::own && !awaits_its_end(entry.job) && entry.of_runs->progress &&
         !entry.of_runs->progress->gpus.empty() && entry.run->allocation();
}

}  // namespace

void Core::vacate(JobId id) {
  Entry& entry = entry_of(id);
  if (!hears(entry)) return stop(id);
  entry.job.attained = round_->progress(id).attained;
  entry.of_runs.change().leaves.insert(entry.of_runs->leaves.end(), entry.job.held_gpus.begin(),
                                       entry.job.held_gpus.end());
  entry.moves = true;
}

void Core::go_on(Entry& entry) {
  store::Job& job = entry.job;
  count_energy(entry, now_);
  const std::string before = visible_gpus(job.held_gpus, config_.machine);
  const auto held = round_->grants(entry.id);
  job.held_gpus.assign(held.begin(), held.end());
  job.since = now_;
  entry.of_runs.change().draws = job.held_gpus;
  entry.batch = round_->config(entry.id).batch;
  entry.of_runs.change().leaves = without(std::move(entry.of_runs.change().leaves), job.held_gpus);
  note(job, kResized,
       fmt::format("GPUs {} to {}", before, visible_gpus(job.held_gpus, config_.machine)));
  entry.of_runs.change().gpu_use.change(now_);
  measured_.change(now_);
  deeds_.pin.push_back(entry.id);
  deeds_.resize.push_back(job.number);
  deeds_.tell.insert(job.number);
  touch(entry);
}

void Core::heed_batch(Entry& entry) {
  const std::int32_t wanted = round_->config(entry.id).batch;
  if (std::exchange(entry.batch, wanted) == wanted || !hears(entry)) return;
  // An earlier service may have told it so.
  if (entry.run->allocation() == allocation_of(entry.job, config_.machine, wanted)) return;
  entry.moves = true;
  deeds_.tell.insert(entry.job.number);
}

std::vector<Grant> Core::not_left(const Entry& entry) const {
  std::vector<Grant> made;
  for (const JobNumber number : processes_) {
    const Entry& other = *book_.find(number);
    if (&other == &entry || (!other.makes_room && !other.moves)) continue;
    for (const Grant& theirs : other.of_runs->leaves) {
      for (const Grant& ours : entry.job.held_gpus) {
        const bool whole =
            ours.gpu_milli == cluster::kWholeGpu || theirs.gpu_milli == cluster::kWholeGpu;
        const bool shares = ours.node == theirs.node && (ours.gpus & theirs.gpus) != 0;
        if (shares && (whole || overlap(ours, theirs, config_.machine))) made.push_back(theirs);
      }
    }
  }
  return made;
}

void Core::tell_moved() {
  for (const JobNumber number : std::exchange(deeds_.tell, {})) {
    Entry* const entry = book_.find(number);
    if (entry == nullptr || entry->process() != Process::own) continue;
    const std::vector<Grant> taken = not_left(*entry);
    store::Job now = entry->job;
    now.held_gpus = without(std::move(now.held_gpus), taken);
    if (!taken.empty()) deeds_.tell.insert(number);
    const std::string gpus = visible_gpus(now.held_gpus, config_.machine);
    if (gpus.empty()) {
      move_by_restart(*entry, "what it is to have others have still");
      continue;
    }
    if (!taken.empty() && gpus == entry->of_runs->told_gpus) continue;
    if (auto told = entry->run->reallocate(allocation_of(now, config_.machine, entry->batch));
        !told) {
      move_by_restart(*entry, to_string(told.error()));
      continue;
    }
    entry->of_runs.change().told_gpus = gpus;
    entry->of_runs.change().said_before =
        entry->of_runs->progress ? entry->of_runs->progress->times_gpus : 0;
    if (!entry->of_runs->move && entry->of_runs->progress) {
      entry->of_runs.change().move = {.told = now_, .step = entry->of_runs->progress->step};
    }
    entry->of_runs.change().moved_by =
        shepherd::since_boot() + std::min(entry->job.asked->grace, config_.max_grace);
  }
}

void Core::measure_move(Entry& entry) {
  if (entry.moves || !entry.of_runs->move || !entry.of_runs->progress) return;
  if (entry.of_runs->progress->step <= entry.of_runs->move->step) return;
  OfRuns& own = entry.of_runs.change();
  const double took_s = seconds(clock_.now() - own.move->told);
  own.moves_took_s += took_s;
  ++own.num_moves;
  note(entry.job, kResized,
       fmt::format("made its next step {:.1f} s after it was told of other GPUs", took_s));
  own.move.reset();
  if (entry.id == kNoJob) return;
  trace_->jobs[index(entry.id)].request.restart_s =
      static_cast<float>(own.moves_took_s / own.num_moves);
}

void Core::take_words() {
  for (const JobNumber number : processes_) {
    Entry& entry = *book_.find(number);
    measure_move(entry);
    if (!entry.moves || !entry.of_runs->moved_by || !entry.of_runs->progress) continue;
    const perf::OwnProgress& said = *entry.of_runs->progress;
    if (said.times_gpus <= entry.of_runs->said_before || said.gpus != entry.of_runs->told_gpus)
      continue;
    entry.of_runs.change().leaves.clear();
    entry.of_runs.change().moved_by.reset();
    entry.moves = deeds_.tell.contains(number);
    wake();
  }
}

void Core::lets_go(Entry& entry) {
  if (!std::exchange(entry.moves, false)) entry.of_runs.change().leaves.clear();
  entry.of_runs.change().moved_by.reset();
  entry.makes_room = true;
  entry.of_runs.change().leaves.insert(entry.of_runs->leaves.end(), entry.job.held_gpus.begin(),
                                       entry.job.held_gpus.end());
}

void Core::move_by_restart(Entry& entry, const std::string& why) {
  deeds_.tell.erase(entry.job.number);
  happen(entry, life::Renewed{why});
  deeds_.start.push_back(entry.job.number);
}

void Core::find_out_what_it_uses(Entry& entry) {
  const auto told = entry.run->allocation();
  if (!told) return;
  entry.of_runs.change().progress = word_of(*entry.run, now_).progress();
  if (entry.of_runs->progress)
    add_pace(entry);  // its policy would else think that it has yet to be tried
  const std::string held = visible_gpus(entry.job.held_gpus, config_.machine);
  const std::string uses = entry.of_runs->progress && !entry.of_runs->progress->gpus.empty()
                               ? entry.of_runs->progress->gpus
                               : visible_gpus(*told);
  if (uses == held && visible_gpus(*told) == held) return;
  // It may use any others until it says that it does not.
  entry.of_runs.change().leaves = without(whole_machine(), entry.job.held_gpus);
  entry.moves = true;
  if (hears(entry)) {
    deeds_.tell.insert(entry.job.number);
  } else {
    move_by_restart(entry, "it was not told of them");
  }
}

}  // namespace almanac::machine
