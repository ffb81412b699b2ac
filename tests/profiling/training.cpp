// SPDX-License-Identifier: Apache-2.0

/// \file
/// A training that is none, whose speed is known: it sleeps through its steps. A step takes
///
///   max(loader x batch / cores, (fixed + sample x batch of a GPU + sync if GPUs > 1) x neighbours)
///
/// Steps are due at times that are fixed beforehand, so that a busy machine makes them late, but
/// not slower. Others of the same --gpu FILE.N are its neighbours: N trainings on one GPU take N
/// times as long. It can also crash, hang, be silent, lose a child and leave daemons behind.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace {

using Options = std::map<std::string, std::string>;

double number(const Options& options, const std::string& name, double otherwise) {
  const auto at = options.find(name);
  return at == options.end() ? otherwise : std::strtod(at->second.c_str(), nullptr);
}

/// The seats of a GPU: files that are locked as long as a process trains there.
class Gpu {
 public:
  explicit Gpu(std::string file) : file_(std::move(file)) {
    for (own_ = 0; own_ < kSeats && !file_.empty(); ++own_) {
      if (take(own_) >= 0) return;
    }
  }
  /// How many train on it.
  int trainings() const {
    int count = 1;
    for (int seat = 0; seat < kSeats && !file_.empty(); ++seat) {
      if (seat == own_) continue;
      const int lock = take(seat);
      lock >= 0 ? static_cast<void>(::close(lock)) : static_cast<void>(++count);
    }
    return count;
  }

 private:
  static constexpr int kSeats = 3;
  int take(int seat) const {
    const std::string name = file_ + "." + std::to_string(seat);
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    ::close(file);
    return -1;
  }
  std::string file_;
  int own_ = 0;
};

/// A line of the kind that a tool prints; bars are as wide as is needed here.
void print(const std::string& kind, long step, double step_s) {
  if (kind == "huggingface") {
    std::printf("\r  1%%|#         | %ld/5000 [00:01<10:00, %.2fit/s]", step, 1 / step_s);
  } else if (kind == "keras") {
    std::printf("\r%4ld/5000 [=>............................] - ETA: 10:00 - loss: 0.5", step);
  } else if (kind == "lightning") {
    std::printf("\rEpoch 0:   1%%|#         | %ld/5000 [00:01<10:00, %.2fit/s, v_num=0]", step,
                1 / step_s);
  } else if (kind == "deepspeed") {
    std::printf(
        "[INFO] [timer.py:260:stop] epoch=0/micro_step=%ld/global_step=%ld, "
        "RunningAvgSamplesPerSec=1.0, CurrSamplesPerSec=1.0\n",
        step, step);
  } else if (kind == "rate") {
    std::printf("running at %.6f it/s\n", 1 / step_s);
  } else if (kind == "own") {
    std::printf("<<%ld>>\n", step);
  } else if (kind != "none") {
    std::printf("step %ld loss 0.5\n", step);
  }
  std::fflush(stdout);
}

void misbehave(const Options& options, long step) {
  const auto due = [&](const char* name) {
    return number(options, name, -1) == static_cast<double>(step);
  };
  if (due("crash")) {
    std::fprintf(stderr, "RuntimeError: the loss is a banana\n");
    std::exit(7);
  }
  if (due("hang")) std::this_thread::sleep_for(std::chrono::hours(1));
  if (due("killed")) ::raise(SIGKILL);
  if (due("end")) std::exit(0);
}

/// Children that live on: one as it is, one that does not heed SIGTERM, one in a session of its
/// own.
void leave_children(const std::string& ids) {
  if (ids.empty()) return;
  std::FILE* const file = std::fopen(ids.c_str(), "a");
  for (int kind = 0; kind < 3; ++kind) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (kind == 1) std::signal(SIGTERM, SIG_IGN);
      if (kind == 2) ::setsid();
      for (;;) ::pause();
    }
    std::fprintf(file, "%d\n", child);
  }
  std::fprintf(file, "%d\n", ::getpid());
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int at = 1; at + 1 < argc; at += 2) options[argv[at] + 2] = argv[at + 1];
  const double batch = number(options, "batch", 1);
  const double cpus = number(options, "cpus", 1);
  const double gpus = number(options, "gpus", 1);
  if (batch / gpus > number(options, "most-batch", 1e9)) {
    std::fprintf(stderr, "RuntimeError: CUDA out of memory\n");
    return 1;
  }
  const Gpu gpu(options["gpu"]);
  leave_children(options["children"]);
  const double computed_s = number(options, "fixed", 0.02) +
                            number(options, "sample", 0) * batch / gpus +
                            (gpus > 1 ? number(options, "sync", 0) : 0);
  auto due = std::chrono::steady_clock::now();
  for (long step = 1;; ++step) {
    const double step_s =
        std::max(number(options, "loader", 0) * batch / cpus, computed_s * gpu.trainings());
    // The first steps of anything take longer.
    due += std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(step <= 2 ? 4 * step_s : step_s));
    std::this_thread::sleep_until(due);
    print(options["log"], step, step_s);
    misbehave(options, step);
  }
}
