// SPDX-License-Identifier: Apache-2.0
#include "profiling/watch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <poll.h>

#include "process/pipe.h"
#include "profiling/lines.h"
#include "profiling/meter.h"

namespace almanac::profiling {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSampleEvery_s = 0.5;
/// For checkpoints that a program writes when it is asked to end.
constexpr Duration kGrace{2000};
constexpr std::size_t kLastLines = 12;

/// A command under way and what it has said.
class Watched {
 public:
  static Result<Watched> start(process::Command& command, const Watch& watch) {
    auto pipe = process::Pipe::create();
    if (!pipe) return tl::unexpected(pipe.error());
    command.out = pipe->write.get();
    command.err = pipe->write.get();
    auto job = process::Job::start(command);
    if (!job) return tl::unexpected(job.error());
    pipe->write.close();
    return Watched(std::move(*job), std::move(pipe->read), watch);
  }

  /// Reads what there is; true if it made progress.
  bool read(double now_s) {
    std::string bytes;
    open_ = process::read_available(output_, bytes) && open_;
    const std::size_t before = meter_.lines();
    const auto use = [&](std::string_view line) {
      last_.add(line);
      if (const auto progress = watch_->reader->read(line)) meter_.add(*progress, now_s);
    };
    cutter_.feed(bytes, use);
    if (!open_) cutter_.feed("\n", use);  // the line that it did not end
    return meter_.lines() > before;
  }
  void forget_progress() { meter_ = Meter(watch_->batch); }

  process::Job& job() { return job_; }
  const Meter& meter() const { return meter_; }
  const LastLines& last() const { return last_; }
  /// What to wait for; an output that is closed would wake at once, forever.
  std::array<pollfd, 2> news() const {
    return {{{open_ ? output_.get() : -1, POLLIN, 0}, {job_.news(), POLLIN, 0}}};
  }

 private:
  Watched(process::Job job, process::Descriptor output, const Watch& watch)
      : watch_(&watch), job_(std::move(job)), output_(std::move(output)), meter_(watch.batch) {}

  const Watch* watch_;
  process::Job job_;
  process::Descriptor output_;
  bool open_ = true;
  LineCutter cutter_;
  LastLines last_{kLastLines};
  Meter meter_;
};

/// Means and maxima over the time since it began to look.
class UseMeter {
 public:
  explicit UseMeter(const Watch& watch) : watch_(&watch) {}

  void sample(const process::Usage& usage, double now_s) {
    if (!first_) {
      first_ = usage;
      first_s_ = now_s;
    }
    last_ = usage;
    last_s_ = now_s;
    memory_gb_ = std::max(memory_gb_, usage.memory_gb);
    for (const int gpu : watch_->gpus) {
      if (watch_->driver == nullptr) break;
      const gpu::Sample sample = watch_->driver->sample(gpu);
      if (sample.use) {
        gpu_sum_ += *sample.use;
        ++gpu_count_;
      }
      if (sample.memory_gb)
        gpu_memory_gb_ = std::max(gpu_memory_gb_.value_or(0), *sample.memory_gb);
    }
  }

  RunUse use() const {
    RunUse made{.memory_gb = memory_gb_, .read_gb = last_.read_gb, .gpu_memory_gb = gpu_memory_gb_};
    if (gpu_count_ > 0) made.gpu_use = gpu_sum_ / gpu_count_;
    const double seconds = last_s_ - first_s_;
    if (!first_ || !(seconds > 0)) return made;
    made.cpus = (last_.cpu_s - first_->cpu_s) / seconds;
    made.read_mb_s = 1024 * (last_.read_gb - first_->read_gb) / seconds;
    made.written_mb_s = 1024 * (last_.written_gb - first_->written_gb) / seconds;
    return made;
  }

 private:
  const Watch* watch_;
  std::optional<process::Usage> first_;
  double first_s_ = 0;
  process::Usage last_;
  double last_s_ = 0;
  double memory_gb_ = 0;
  double gpu_sum_ = 0;
  int gpu_count_ = 0;
  std::optional<double> gpu_memory_gb_;
};

class Run {
 public:
  Run(Watched& own, Watched* neighbour, const Watch& watch)
      : own_(&own), neighbour_(neighbour), watch_(&watch), use_(watch), stopper_(watch.rule) {}

  /// Watches until something ends it.
  RunEnd until_end() {
    both_at_work_ = neighbour_ == nullptr;
    for (;;) {
      wait();
      const double now = now_s();
      if (own_->read(now)) progress_s_ = now;
      if (neighbour_ != nullptr) attend(now);
      // Looking at the processes costs more than a line: not at each.
      if (own_->meter().lines() > 0 && now >= sample_s_) {
        use_.sample(own_->job().usage(), now);
        sample_s_ = now + kSampleEvery_s;
      }
      if (const auto end = verdict(now)) return *end;
    }
  }

  RunUse use() const { return use_.use(); }
  double now_s() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  void wait() {
    std::vector<pollfd> waits;
    for (Watched* const watched : {own_, neighbour_}) {
      if (watched == nullptr) continue;
      for (const pollfd& each : watched->news()) waits.push_back(each);
    }
    ::poll(waits.data(), waits.size(), 100);
  }
  /// Time counts once both make progress; a neighbor whose lines are not known is taken at its
  /// word after as long as we are patient.
  void attend(double now) {
    neighbour_->read(now);
    if (both_at_work_) return;
    both_at_work_ = neighbour_->meter().lines() >= 2 || now > watch_->patience_s;
    if (both_at_work_) own_->forget_progress();
  }
  std::optional<RunEnd> verdict(double now) {
    if (watch_->interrupted != nullptr && watch_->interrupted->load()) return RunEnd::interrupted;
    if (const auto& ending = own_->job().ended()) {
      own_->read(now);
      return ending->good() ? RunEnd::ended : RunEnd::crashed;
    }
    if (neighbour_ != nullptr && neighbour_->job().ended()) return RunEnd::alone;
    if (both_at_work_ && stopper_.enough(own_->meter().intervals())) return RunEnd::known;
    if (now > watch_->most_s) return RunEnd::time_up;
    if (now - progress_s_ > watch_->patience_s) return RunEnd::hung;
    return std::nullopt;
  }

  Watched* own_;
  Watched* neighbour_;
  const Watch* watch_;
  UseMeter use_;
  Stopper stopper_;
  Clock::time_point begin_ = Clock::now();
  double progress_s_ = 0;
  double sample_s_ = 0;
  bool both_at_work_ = false;
};

}  // namespace

Result<RunResult> watch(process::Command command, std::optional<process::Command> neighbour,
                        const Watch& watch) {
  std::optional<Watched> other;
  if (neighbour) {
    auto started = Watched::start(*neighbour, watch);
    if (!started) return tl::unexpected(started.error());
    other.emplace(std::move(*started));
  }
  auto own = Watched::start(command, watch);
  if (!own) return tl::unexpected(own.error());
  Run run(*own, other ? &*other : nullptr, watch);
  RunResult result;
  result.end = run.until_end();
  result.wall_s = run.now_s();
  result.use = run.use();
  result.ending = own->job().ended().value_or(process::Ending{});
  result.left = own->job().end(kGrace);
  if (other) result.left += other->job().end(kGrace);
  const Meter& meter = own->meter();
  result.rate = step_rate(meter.intervals());
  result.progress_lines = meter.lines();
  if (meter.lines() > 0) result.read_as = watch.reader->name(meter.pattern());
  const LastLines& said = result.end == RunEnd::alone ? other->last() : own->last();
  result.last_lines.assign(said.lines().begin(), said.lines().end());
  return result;
}

}  // namespace almanac::profiling
