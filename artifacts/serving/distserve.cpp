// SPDX-License-Identifier: Apache-2.0

#include "serving/distserve.h"

#include <deque>
#include <utility>

#include "serving/agenda.h"

namespace almanac::serving {

using namespace inference;
namespace {

constexpr double kMostDecodeTokens = 50'000;
constexpr Micros kBatchOverhead = 2e3;  // of a batch, at the first stage
constexpr Micros kTokenOverhead = 0.1;  // of its contexts

enum class DistServeEvent : std::uint8_t { arrival, end, wake };

class DistServePlay {
 public:
  DistServePlay(const Requests& requests, const DistServeWorker& prefill,
                const DistServeWorker* decode)
      : requests_(requests),
        generated_(requests.size()),
        times_(requests.size()),
        split_(decode != nullptr) {
    add(prefill);
    if (split_) add(*decode);
  }

  std::vector<DistServeTimes> run() {
    for (RequestId id = 0; id < requests_.size(); ++id) {
      agenda_.plan(requests_[id].arrival, DistServeEvent::arrival, id);
    }
    while (!agenda_.empty()) {
      const auto event = agenda_.pop();
      now_ = event.at;
      switch (event.what) {
        case DistServeEvent::arrival:
          stages_[0].new_ones.push_back(event.subject);
          wake(0);
          break;
        case DistServeEvent::end:
          end(event.subject);
          begin(event.subject);
          break;
        case DistServeEvent::wake:
          stages_[event.subject].woken = false;
          if (stages_[event.subject].batch.empty()) begin(event.subject);
          break;
      }
    }
    return std::move(times_);
  }

 private:
  using Ids = std::vector<RequestId>;
  struct Stage {
    const DistServeWorker* worker;
    std::uint32_t first;  // stage of the worker
    std::uint32_t last;
    std::deque<RequestId> new_ones{};  // at a first stage
    std::deque<Ids> prefills{};        // at others
    std::deque<RequestId> decodes{};
    Ids batch{};
    bool prefilling = false;
    bool woken = false;
  };

  void add(const DistServeWorker& worker) {
    const auto first = static_cast<std::uint32_t>(stages_.size());
    const auto last = first + static_cast<std::uint32_t>(worker.stages) - 1;
    for (auto each = first; each <= last; ++each) {
      stages_.push_back({.worker = &worker, .first = first, .last = last});
    }
  }

  void wake(std::uint32_t number) {
    Stage& stage = stages_[number];
    if (!stage.batch.empty() || stage.woken) return;
    stage.woken = true;
    agenda_.plan(now_, DistServeEvent::wake, number);
  }

  double context(RequestId id) const { return requests_[id].prompt + generated_[id]; }

  void begin(std::uint32_t number) {
    Stage& stage = stages_[number];
    take_prefills(stage, number == stage.first);
    if (stage.batch.empty()) take_decodes(stage);
    if (stage.batch.empty()) return;
    Batch batch;
    double contexts = 0;
    for (const RequestId id : stage.batch) {
      contexts += context(id);
      const std::int32_t prompt = requests_[id].prompt;
      if (stage.prefilling) {
        batch.prefills.push_back({.done = 0, .fresh = prompt, .prompt = prompt});
      } else {
        ++batch.decodes;
        batch.context += prompt + generated_[id];
      }
    }
    Micros time = (*stage.worker->stage_time)(batch);
    if (number == stage.first) time += kBatchOverhead + kTokenOverhead * contexts;
    agenda_.plan(now_ + time, DistServeEvent::end, number);
  }

  void take_prefills(Stage& stage, bool first) {
    stage.prefilling = true;
    if (!first) {
      if (stage.prefills.empty()) return;
      stage.batch = std::move(stage.prefills.front());
      stage.prefills.pop_front();
      return;
    }
    double left = stage.worker->kv_tokens;
    while (!stage.new_ones.empty() && requests_[stage.new_ones.front()].prompt <= left) {
      left -= requests_[stage.new_ones.front()].prompt;
      stage.batch.push_back(stage.new_ones.front());
      stage.new_ones.pop_front();
    }
  }

  void take_decodes(Stage& stage) {
    stage.prefilling = false;
    double tokens = 0;
    while (!stage.decodes.empty() &&
           static_cast<double>(stage.batch.size()) < stage.worker->kv_tokens) {
      const RequestId id = stage.decodes.front();
      tokens += context(id) + 1;
      if (tokens > kMostDecodeTokens) break;
      stage.batch.push_back(id);
      stage.decodes.pop_front();
    }
  }

  void end(std::uint32_t number) {
    Stage& stage = stages_[number];
    const Ids batch = std::exchange(stage.batch, {});
    if (number < stage.last) {
      Stage& next = stages_[number + 1];
      if (stage.prefilling) {
        next.prefills.push_back(batch);
      } else {
        next.decodes.insert(next.decodes.end(), batch.begin(), batch.end());
      }
      wake(number + 1);
      return;
    }
    const std::uint32_t decoder = stage.prefilling && split_ ? stages_.back().first : stage.first;
    for (const RequestId id : batch) {
      if (stage.prefilling) {
        times_[id].prefilled = now_;
        if (requests_[id].output == 0) times_[id].finish = now_;
      } else if (++generated_[id] == requests_[id].output) {
        times_[id].finish = now_;
      }
      if (times_[id].finish == kNever) stages_[decoder].decodes.push_back(id);
    }
    if (decoder != number) wake(decoder);
  }

  const Requests& requests_;
  std::vector<std::int32_t> generated_;
  std::vector<DistServeTimes> times_;
  std::vector<Stage> stages_;
  Agenda<DistServeEvent> agenda_;
  Micros now_ = 0;
  bool split_;
};

}  // namespace

std::vector<DistServeTimes> play_distserve(const Requests& requests, const DistServeWorker& prefill,
                                           const DistServeWorker* decode) {
  return DistServePlay(requests, prefill, decode).run();
}

}  // namespace almanac::serving
