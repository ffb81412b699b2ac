// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the store costs: submissions a second in batches, beside the floor of one fsync a batch; an
/// end and its note; what a restart reads with ten thousand waiting; a look at one job.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"
#include "store/store.h"

namespace almanac::store {
namespace {

/// As a shell has it: 60 variables, some 3 kB.
const std::vector<std::string>& environment() {
  static const std::vector<std::string> made = [] {
    std::vector<std::string> lines;
    for (int i = 0; i < 60; ++i) {
      lines.push_back("VARIABLE_" + std::to_string(i) + "=/opt/site/conda/envs/torch/lib/some/dir");
    }
    return lines;
  }();
  return made;
}

Job waiting(std::int64_t number) {
  Job job;
  job.number = JobNumber{number};
  job.submit = Time(number * 1s);
  job.asked.change().name = "train-resnet50";
  job.asked.change().user = "user" + std::to_string(number % 40);
  job.asked.change().gpus = 2;
  job.asked.change().cpus = 8;
  job.asked.change().memory_gb = 32;
  job.asked.change().time_limit = 2h;
  job.asked.change().directory = "/home/user/project";
  job.asked.change().environment = environment();
  job.asked.change().script =
      "#!/bin/bash\n#ALMANAC --gpus 2\nmodule load cuda\nsrun python train.py\n";
  job.asked.change().argv = {"--seed", std::to_string(number)};
  return job;
}

void commit(Store& store, const Store::Batch& batch) {
  const auto done = store.commit(batch);
  ALMANAC_CHECK(done, "{}", to_string(done.error()));
}

/// A store of `jobs` waiting jobs in a folder that goes with it.
struct Kept {
  explicit Kept(std::int64_t jobs) {
    std::string name = "/tmp/almanac-bench-XXXXXX";
    folder = ::mkdtemp(name.data());
    open();
    Store::Batch batch;
    for (number = 1; number <= jobs; ++number) batch.put(waiting(number));
    commit(*store, batch);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    store.reset();
    std::filesystem::remove_all(folder);
  }
  void open() {
    store.reset();
    store = std::make_unique<Store>(Store::open(folder + "/almanac.db").value());
  }

  std::string folder;
  std::unique_ptr<Store> store;
  std::int64_t number = 0;
};

void floor_of_a_batch(benchmark::State& state) {
  const std::string path = "/tmp/almanac-bench-floor";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::string page(4096, 'x');
  for (auto _ : state) {
    if (::write(file, page.data(), page.size()) < 0 || ::fdatasync(file) != 0) {
      state.SkipWithError("the disk refuses");
      break;
    }
  }
  ::close(file);
  std::filesystem::remove(path);
}
BENCHMARK(floor_of_a_batch)->UseRealTime()->Unit(benchmark::kMillisecond);

void submit(benchmark::State& state) {
  Kept kept(10'000);
  for (auto _ : state) {
    Store::Batch batch;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      const Job job = waiting(++kept.number);
      batch.put(job);
      batch.note({job.submit, job.number, "submitted", ""});
    }
    commit(*kept.store, batch);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(submit)->Arg(1)->Arg(10)->Arg(100)->UseRealTime()->Unit(benchmark::kMillisecond);

void end(benchmark::State& state) {
  Kept kept(10'000);
  std::vector<Job> jobs = kept.store->unfinished().value();
  std::size_t at = 0;
  for (auto _ : state) {
    Job& job = jobs[at++ % jobs.size()];
    job.state = trace::JobState::completed;
    job.end = job.submit + 1h;
    Store::Batch batch;
    batch.put(job);
    batch.note({job.end, job.number, "ended", "exit status 0"});
    commit(*kept.store, batch);
  }
}
BENCHMARK(end)->UseRealTime()->Unit(benchmark::kMillisecond);

void read_unfinished(benchmark::State& state) {
  const Kept kept(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(kept.store->unfinished().value());
}
BENCHMARK(read_unfinished)->Arg(10'000)->Unit(benchmark::kMillisecond);

void open(benchmark::State& state) {
  Kept kept(state.range(0));
  for (auto _ : state) kept.open();
  state.counters["file_MB"] =
      static_cast<double>(std::filesystem::file_size(kept.folder + "/almanac.db")) / 1e6;
}
BENCHMARK(open)->Arg(10'000)->Arg(200'000)->UseRealTime()->Unit(benchmark::kMillisecond);

void read_one(benchmark::State& state) {
  const Kept kept(10'000);
  std::int64_t number = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(kept.store->job(JobNumber{1 + number++ % 10'000}).value());
  }
}
BENCHMARK(read_one)->Unit(benchmark::kMicrosecond);

void list_a_page_of_a_user(benchmark::State& state) {
  const Kept kept(100'000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(kept.store->jobs({.user = "user7", .limit = 50}).value());
  }
}
BENCHMARK(list_a_page_of_a_user)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace almanac::store

BENCHMARK_MAIN();
