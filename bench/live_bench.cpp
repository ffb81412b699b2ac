// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a service costs its users, asked as they ask: over its socket.
///
///   live_bench latency N: submit to start of N jobs, one after another, on an idle machine
///
///   live_bench queue N: puts N jobs in the queue, behind one that takes all GPUs
///
///   live_bench sustain RATE SECONDS: submissions at that rate, how long until each is acknowledged
///
///   live_bench poll N SECONDS: N clients look at the queue, each once a second
///
/// The service is that of $ALMANAC_SOCKET. docs/guide/live.md has what was measured.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/check.h"
#include "serve/client.h"

namespace almanac {
namespace {

using Clock = std::chrono::system_clock;

serve::Client connect() {
  auto made = serve::Client::to({});
  ALMANAC_CHECK(made, "{}", to_string(made.error()));
  return std::move(*made);
}

store::Submission job(std::vector<std::string> argv) {
  store::Submission asked{.name = "bench", .user = "bench"};
  asked.gpus = 1;
  asked.argv = std::move(argv);
  asked.directory = "/tmp";
  asked.environment = {"PATH=/usr/bin:/bin"};
  asked.out = "/dev/null";
  return asked;
}

void report(const std::string& what, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double q) {
    return 1e3 * seconds[static_cast<std::size_t>(q * static_cast<double>(seconds.size() - 1))];
  };
  fmt::print("{}: {} times, median {:.1f} ms, p99 {:.1f} ms, most {:.1f} ms\n", what,
             seconds.size(), at(0.5), at(0.99), at(1));
}

void measure_latency(int count) {
  serve::Client client = connect();
  const std::string file = fmt::format("/tmp/almanac-latency-{}", ::getpid());
  std::vector<double> acknowledged;
  std::vector<double> started;
  for (int at = 0; at < count; ++at) {
    std::filesystem::remove(file);
    // The command itself says when it runs.
    store::Submission asked = job({"date", "+%s.%N"});
    asked.out = file;
    const auto begun = Clock::now();
    const auto numbers = client.submit(asked);
    ALMANAC_CHECK(numbers, "{}", to_string(numbers.error()));
    acknowledged.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
    double ran_at = 0;
    while (!(std::ifstream(file) >> ran_at))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    started.push_back(ran_at - std::chrono::duration<double>(begun.time_since_epoch()).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::filesystem::remove(file);
  report("submit to acknowledged", acknowledged);
  report("submit to the command's own clock", started);
}

void fill_queue(int count) {
  serve::Client client = connect();
  store::Submission all = job({"sleep", "100000"});
  all.gpus = 8;
  ALMANAC_CHECK(client.submit(all), "no blocker");
  constexpr int kAtOnce = 1000;
  for (int first = 0; first < count; first += kAtOnce) {
    store::Submission asked = job({"true"});
    for (int index = first; index < std::min(count, first + kAtOnce); ++index) {
      asked.indices.push_back(index);
    }
    const auto numbers = client.submit(asked);
    ALMANAC_CHECK(numbers, "{}", to_string(numbers.error()));
  }
}

void sustain(double rate, double seconds) {
  serve::Client client = connect();
  std::vector<double> latencies;
  const auto begun = std::chrono::steady_clock::now();
  const int count = static_cast<int>(rate * seconds);
  for (int at = 0; at < count; ++at) {
    std::this_thread::sleep_until(begun + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                              std::chrono::duration<double>(at / rate)));
    const auto asked = std::chrono::steady_clock::now();
    const auto numbers = client.submit(job({"true"}));
    ALMANAC_CHECK(numbers, "{}", to_string(numbers.error()));
    latencies.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count());
  }
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  report(fmt::format("{:.1f} submissions/s", count / took), latencies);
}

void poll(int clients, double seconds) {
  std::vector<std::vector<double>> latencies(static_cast<std::size_t>(clients));
  std::vector<std::thread> threads;
  std::atomic<int> refused = 0;
  for (int each = 0; each < clients; ++each) {
    threads.emplace_back([&, each] {
      serve::Client client = connect();
      const auto begun =
          std::chrono::steady_clock::now() + std::chrono::milliseconds(each * 1000 / clients);
      for (int at = 0; at < static_cast<int>(seconds); ++at) {
        std::this_thread::sleep_until(begun + std::chrono::seconds(at));
        const auto asked = std::chrono::steady_clock::now();
        const auto said =
            at % 2 == 0 ? client.get("/v1/overview") : client.get("/v1/jobs", {{"limit", "100"}});
        if (!said || said->status != 200) ++refused;
        latencies[static_cast<std::size_t>(each)].push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const auto& own : latencies) all.insert(all.end(), own.begin(), own.end());
  report(fmt::format("{} clients, {} refused", clients, refused.load()), all);
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "latency") {
    measure_latency(std::stoi(words[1]));
  } else if (words.size() == 2 && words[0] == "queue") {
    fill_queue(std::stoi(words[1]));
  } else if (words.size() == 3 && words[0] == "sustain") {
    sustain(std::stod(words[1]), std::stod(words[2]));
  } else if (words.size() == 3 && words[0] == "poll") {
    poll(std::stoi(words[1]), std::stod(words[2]));
  } else {
    fmt::print(stderr, "live_bench latency N | queue N | sustain RATE SECONDS | poll N SECONDS\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace almanac

int main(int argc, char** argv) { return almanac::run({argv + 1, argv + argc}); }
