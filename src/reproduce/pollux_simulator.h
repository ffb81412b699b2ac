// SPDX-License-Identifier: Apache-2.0

/// \file
/// The simulator that came with Pollux: ticks of 60 s, and jobs that progress epoch by epoch as was
/// measured of six applications. Private to this room: it exists to be repeated, faults included.
///
/// Source   Qiao et al., OSDI'21, artifact: simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reproduce/bench.h"

namespace almanac::reproduce::pollux {

inline constexpr int kNodes = 16;
inline constexpr int kGpusANode = 4;
inline constexpr double kTick = 60;     ///< s
inline constexpr double kRestart = 30;  ///< s without progress whenever a job's GPUs change.

/// Of a step of one batch: all of it, and what of it is spent in synchronising.
struct StepTime {
  double step_s = 0;
  double sync_s = 0;
};

/// How noisy gradients are at a batch and an epoch.
struct Noise {
  double sqr = 0;
  double var = 0;
};

/// What was measured of an application.
class Application {
 public:
  int init_batch = 0, max_batch = 0;   ///< Over all GPUs.
  int min_local = 0, max_local = 0;    ///< On a GPU.
  bool one_gpu = false;                ///< It never runs on more.
  std::size_t completion_epoch = 0;    ///< It ends when its epoch goes beyond.
  std::vector<double> progress_after;  ///< In steps at the initial batch, after so many epochs.

  /// Throws Malformed where nothing was measured.
  StepTime step_time(std::span<const int> placement, int local_batch) const;
  Noise noise(int batch, std::size_t epoch) const;
  /// Steps of `batch` until the end of `epoch`.
  double iterations(int batch, std::size_t epoch) const;

 private:
  friend std::shared_ptr<const Application> read_application(const File&, const std::string&);
  struct Point {
    double batch;
    StepTime time;
  };
  struct Segment {
    int from, until;
    StepTime time, slope;
  };
  struct Epoch {
    double iterations;
    Noise noise;
  };
  /// The validated batches below and above `batch`, and how far from the one to the other it is.
  std::pair<std::pair<const std::vector<Epoch>*, const std::vector<Epoch>*>, double> around(
      int batch, std::size_t epoch) const;

  std::map<std::string, std::vector<Point>> placements_;
  std::map<std::pair<int, int>, std::vector<Segment>> segments_;  // by nodes and GPUs
  std::map<int, std::vector<Epoch>> validated_;                   // by batch
};

/// `file` is applications.json of data/elastic/pollux; what was measured of `name` lies beside it
/// (interpolation/) and in data/profiles/adaptdl. Throws Malformed.
std::shared_ptr<const Application> read_application(const File& file, const std::string& name);

struct Job {
  std::string name;
  std::shared_ptr<const Application> application;
  double submit_s = 0;
  int gpus = 1;   ///< As asked.
  int batch = 1;  ///< Over all GPUs; it stays.

  std::vector<int> nodes{};  ///< Of each GPU that it holds.
  std::size_t epoch = 0;
  double completed_s = -1;  ///< Below 0: not yet.

  bool done() const { return completed_s >= 0; }
  /// Steps until the end, at its batch.
  double iterations_left() const;
};

/// A batch on so many GPUs: the samples of one pass on a GPU, and the passes before the last.
struct Split {
  int atomic = 0;
  int accumulated = 0;
};
Split split_batch(const Application& application, int batch, int gpus);
/// On one GPU in two passes or more, as Optimus counts.
Split split_in_two(const Application& application, int batch);

/// Gives `count` GPUs: time and again as many as it can of the node with the most free ones, the
/// lowest of equals. `free` holds the free GPUs of each node.
std::vector<int> take(std::vector<int>& free, int count);

/// Runs until all are done. At each tick `decide` is told the time and the jobs that are there, in
/// their order, and sets their `nodes`.
void simulate(std::vector<Job>& jobs,
              const std::function<void(double now, std::span<Job* const>)>& decide);

}  // namespace almanac::reproduce::pollux
