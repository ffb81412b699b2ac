// SPDX-License-Identifier: Apache-2.0
#include "reproduce/pollux_simulator.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "reproduce/read.h"

namespace almanac::reproduce::pollux {
namespace {

namespace fs = std::filesystem;

/// The file, packed or not.
std::string packed_or_not(const fs::path& path) {
  for (const char* ending : {"", ".gz", ".zst"}) {
    if (fs::exists(path.string() + ending)) return path.string() + ending;
  }
  require(false, fmt::format("{} is not there", path.string()));
  return {};
}

double between(double low, double high, double part) { return low + (high - low) * part; }

/// The digits of the GPUs on each node, of all rotations the least.
std::string key_of(std::span<const int> placement) {
  std::vector<int> gpus;
  for (const int each : placement) {
    if (each > 0) gpus.push_back(each);
  }
  std::vector<int> least = gpus;
  for (std::size_t turn = 0; turn < gpus.size(); ++turn) {
    std::rotate(gpus.begin(), gpus.begin() + 1, gpus.end());
    least = std::min(least, gpus);
  }
  std::string key;
  for (const int each : least) key += std::to_string(each);
  return key;
}

int ceiling(double value) { return static_cast<int>(std::ceil(value - 1e-8)); }

}  // namespace

StepTime Application::step_time(std::span<const int> placement, int local_batch) const {
  const double batch = local_batch;
  if (const auto found = placements_.find(key_of(placement)); found != placements_.end()) {
    const std::vector<Point>& points = found->second;
    const auto above = std::find_if(points.begin(), points.end(),
                                    [&](const Point& each) { return each.batch >= batch; });
    require(above != points.end() && points.front().batch <= batch,
            fmt::format("nothing is measured of {} samples on a GPU", local_batch));
    if (above->batch == batch) return above->time;
    const Point& low = *(above - 1);
    const auto line = [&](double y0, double y1) {
      return y0 + (y1 - y0) / (above->batch - low.batch) * (batch - low.batch);
    };
    return {line(low.time.step_s, above->time.step_s), line(low.time.sync_s, above->time.sync_s)};
  }
  int nodes = 0;
  int gpus = 0;
  for (const int each : placement) {
    nodes += each > 0 ? 1 : 0;
    gpus += each;
  }
  const auto found = segments_.find({nodes, gpus});
  require(found != segments_.end(),
          fmt::format("nothing is known of {} nodes, {} GPUs", nodes, gpus));
  for (const Segment& each : found->second) {
    if (local_batch < each.from || local_batch > each.until) continue;
    const double more = batch - each.from;
    return {each.time.step_s + each.slope.step_s * more,
            each.time.sync_s + each.slope.sync_s * more};
  }
  require(false, fmt::format("nothing is known of {} nodes, {} GPUs, {} samples on each", nodes,
                             gpus, local_batch));
  return {};
}

std::pair<std::pair<const std::vector<Application::Epoch>*, const std::vector<Application::Epoch>*>,
          double>
Application::around(int batch, std::size_t epoch) const {
  const auto above = validated_.lower_bound(batch);
  require(above != validated_.end() && validated_.begin()->first <= batch,
          fmt::format("nothing is validated of a batch of {}", batch));
  const auto below = above->first == batch ? above : std::prev(above);
  require(epoch < above->second.size() && epoch < below->second.size(),
          fmt::format("epoch {} is not validated", epoch));
  const double part = above == below ? 0
                                     : static_cast<double>(batch - below->first) /
                                           static_cast<double>(above->first - below->first);
  return {{&below->second, &above->second}, part};
}

Noise Application::noise(int batch, std::size_t epoch) const {
  const auto [rows, part] = around(batch, epoch);
  const Noise& low = (*rows.first)[epoch].noise;
  const Noise& high = (*rows.second)[epoch].noise;
  return {between(low.sqr, high.sqr, part), between(low.var, high.var, part)};
}

double Application::iterations(int batch, std::size_t epoch) const {
  const auto [rows, part] = around(batch, epoch);
  return between((*rows.first)[epoch].iterations, (*rows.second)[epoch].iterations, part);
}

std::shared_ptr<const Application> read_application(const File& file, const std::string& name) {
  const Json all = read_json(file);
  require(all.contains(name), fmt::format("there is no application {}", name));
  const Json& told = all[name];
  auto made = std::make_shared<Application>();
  made->init_batch = told.at("init_batch_size");
  made->max_batch = told.at("max_batch_size");
  made->min_local = told.at("min_local_bsz");
  made->max_local = told.at("max_local_bsz");
  made->completion_epoch = told.at("completion_epoch");
  made->one_gpu = name == "ncf";
  made->progress_after = told.at("progress_after_epoch").get<std::vector<double>>();
  require(made->init_batch > 0 && made->min_local > 0 && made->max_local >= made->min_local &&
              made->progress_after.size() > made->completion_epoch + 1,
          fmt::format("{} has no batches or too few epochs", name));

  const fs::path folder = fs::path(file.path).parent_path();
  const fs::path measured = folder.parent_path().parent_path() / "profiles" / "adaptdl" / name;
  Rows placements(packed_or_not(measured / "placements.csv"),
                  {"placement", "local_bsz", "step_time", "sync_time"});
  while (placements.next()) {
    made->placements_[std::string(placements.text("placement"))].push_back(
        {placements.number("local_bsz"),
         {placements.number("step_time"), placements.number("sync_time")}});
  }
  for (auto& [key, points] : made->placements_) {
    std::stable_sort(points.begin(), points.end(),
                     [](const auto& a, const auto& b) { return a.batch < b.batch; });
  }
  Rows segments(packed_or_not(folder / "interpolation" / (name + "_segments.csv")),
                {"num_nodes", "num_replicas", "b_from", "b_to", "step_time_at_from_s", "step_slope",
                 "sync_time_at_from_s", "sync_slope"});
  while (segments.next()) {
    const auto whole = [&](const char* column) { return static_cast<int>(segments.whole(column)); };
    made->segments_[{whole("num_nodes"), whole("num_replicas")}].push_back(
        {whole("b_from"),
         whole("b_to"),
         {segments.number("step_time_at_from_s"), segments.number("sync_time_at_from_s")},
         {segments.number("step_slope"), segments.number("sync_slope")}});
  }
  for (const Json& batch : told.at("validated_batch_sizes")) {
    Rows rows(packed_or_not(measured / fmt::format("validation-{}.csv", batch.get<int>())),
              {"iteration", "grad_sqr", "grad_var"});
    std::vector<Application::Epoch>& epochs = made->validated_[batch.get<int>()];
    while (rows.next()) {
      epochs.push_back(
          {rows.number("iteration"), {rows.number("grad_sqr"), rows.number("grad_var")}});
    }
  }
  return made;
}

namespace {

Split split(const Application& application, int batch, int gpus, int least_accumulated) {
  const int local = ceiling(static_cast<double>(batch) / gpus);
  const int accumulated =
      std::max(least_accumulated, ceiling(static_cast<double>(local) / application.max_local) - 1);
  const int atomic = ceiling(static_cast<double>(local) / (accumulated + 1));
  return {std::min(atomic, application.max_batch / (gpus * (accumulated + 1))), accumulated};
}

}  // namespace

Split split_batch(const Application& application, int batch, int gpus) {
  return split(application, batch, gpus, gpus == 1 && batch > application.init_batch ? 1 : 0);
}

Split split_in_two(const Application& application, int batch) {
  return split(application, batch, 1, 1);
}

std::vector<int> take(std::vector<int>& free, int count) {
  std::vector<int> nodes;
  while (count > 0) {
    const auto most = std::max_element(free.begin(), free.end());
    const int given = std::min(*most, count);
    require(given > 0, "the policy gives more GPUs than there are");
    nodes.insert(nodes.end(), static_cast<std::size_t>(given),
                 static_cast<int>(most - free.begin()));
    *most -= given;
    count -= given;
  }
  return nodes;
}

double Job::iterations_left() const {
  const Application& of = *application;
  if (epoch >= of.completion_epoch) return 1;
  return of.iterations(batch, of.completion_epoch) - of.iterations(batch, epoch);
}

namespace {

/// A job under way.
class Course {
 public:
  explicit Course(Job& job) : job_(job) {}

  /// One tick.
  void advance();
  /// Takes over the nodes that the policy has set.
  void rescale();

 private:
  void split() {
    const Split made = split_batch(*job_.application, job_.batch, static_cast<int>(held_.size()));
    atomic_ = made.atomic;
    accumulated_ = made.accumulated;
  }

  Job& job_;
  std::vector<int> held_;       // node of each GPU
  std::vector<int> placement_;  // GPUs of each node
  int atomic_ = 0;
  int accumulated_ = 0;
  double rescale_left_ = 0;
  double clock_ = 0;
  double progress_ = 0;
};

void Course::rescale() {
  if (job_.nodes == held_) return;
  held_ = job_.nodes;
  placement_.clear();
  for (std::size_t at = 0; at < held_.size(); ++at) {
    if (at == 0 || held_[at] != held_[at - 1]) placement_.push_back(0);
    ++placement_.back();
  }
  if (held_.empty()) return;
  rescale_left_ = kRestart;
  split();
}

void Course::advance() {
  if (held_.empty()) {
    clock_ += kTick;
    return;
  }
  const double delay = std::min(rescale_left_, kTick);
  rescale_left_ -= delay;
  clock_ += delay;
  double left = kTick - delay;
  const Application& of = *job_.application;
  while (left > 0 && !job_.done()) {
    const int total = static_cast<int>(held_.size()) * atomic_ * (accumulated_ + 1);
    const StepTime time = of.step_time(placement_, atomic_);
    const Noise noise = of.noise(total, job_.epoch);
    const double scale = static_cast<double>(total) / of.init_batch;
    const double gain = (noise.var + noise.sqr) / (noise.var / scale + noise.sqr);
    const double goodput = gain / (time.step_s + (time.step_s - time.sync_s) * accumulated_);
    const double next = of.progress_after[job_.epoch + 1];
    if (progress_ + goodput * left < next) {
      progress_ += goodput * left;
      clock_ += left;
      left = 0;
    } else {
      ++job_.epoch;
      const double taken = std::nearbyint((next - progress_) / goodput);
      progress_ = next;
      clock_ += taken;
      left -= taken;
      if (job_.epoch > of.completion_epoch) job_.completed_s = clock_;
    }
    split();
  }
}

}  // namespace

void simulate(std::vector<Job>& jobs,
              const std::function<void(double, std::span<Job* const>)>& decide) {
  constexpr double kLongest = 1e8;
  std::vector<Course> courses(jobs.begin(), jobs.end());
  double now = 0;
  std::size_t left = jobs.size();
  while (left > 0) {
    require(now < kLongest, "a job never ends");
    left = 0;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      if (!jobs[at].done()) courses[at].advance();
      left += jobs[at].done() ? 0 : 1;
    }
    now += kTick;
    std::vector<Job*> present;
    for (Job& job : jobs) {
      if (job.submit_s <= now && !job.done()) present.push_back(&job);
    }
    decide(now, present);
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      if (!jobs[at].done()) courses[at].rescale();
    }
  }
}

}  // namespace almanac::reproduce::pollux
