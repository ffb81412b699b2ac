// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// How long the gateway takes at a real Slurm, on this machine: gateway_bench [NODES] [JOBS].
///
///   ALMANAC_SOURCE_DIR=. ALMANAC_SLURM_GATEWAY=build/almanac-slurm-gateway build/bin/gateway_bench
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <slurm/slurm.h>

#include "slurm/gateway_link.h"
#include "slurm/test_cluster.h"

namespace {

using namespace almanac;
using namespace almanac::slurm;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void fail_with(const std::string& what) {
  fmt::print(stderr, "gateway_bench: {}\n", what);
  std::exit(1);
}

/// Jobs of one GPU each that cannot start: all nodes are drained.
void submit(int jobs) {
  std::string script = "#!/bin/sh\ntrue\n";
  std::string gpus = "gres:gpu:1";
  std::string variable = "PATH=/usr/bin:/bin";
  std::string folder = "/tmp";
  std::string nowhere = "/dev/null";
  char* environment[] = {variable.data(), nullptr};
  for (int each = 0; each < jobs; ++each) {
    std::string name = fmt::format("job{}", each);
    job_desc_msg_t asked;
    slurm_init_job_desc_msg(&asked);
    asked.name = name.data();
    asked.script = script.data();
    asked.tres_per_node = gpus.data();
    asked.environment = environment;
    asked.env_size = 1;
    asked.work_dir = folder.data();
    asked.std_out = asked.std_err = nowhere.data();
    asked.min_nodes = 1;
    asked.time_limit = 60;
    submit_response_msg_t* answer = nullptr;
    if (slurm_submit_batch_job(&asked, &answer) != SLURM_SUCCESS) {
      fail_with(slurm_strerror(slurm_get_errno()));
    }
    slurm_free_submit_response_response_msg(answer);
  }
}

template <typename Do>
void measure(const char* what, int times, Do&& act) {
  std::vector<double> took;
  for (int each = 0; each < times; ++each) {
    const auto begin = Clock::now();
    act();
    took.push_back(ms_since(begin));
  }
  std::sort(took.begin(), took.end());
  fmt::print("{:<40} {:>9.2f} ms median {:>9.2f} least {:>9.2f} most of {}\n", what,
             took[took.size() / 2], took.front(), took.back(), times);
}

News ask(GatewayLink& link) {
  auto news = link.news();
  if (!news) fail_with(to_string(news.error()));
  return std::move(*news);
}

}  // namespace

int main(int count, char** arguments) {
  const int nodes = count > 1 ? std::atoi(arguments[1]) : 256;
  const int jobs = (count > 2 ? std::atoi(arguments[2]) : 10'000) / 4 * 4;
  const TestPlan plan{.nodes = nodes, .more = "PriorityCalcPeriod=60"};
  if (const auto missing = TestCluster::missing(plan)) fail_with(*missing);
  auto begin = Clock::now();
  const TestCluster cluster(plan);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print("{} nodes booted in {:.1f} s\n", nodes, ms_since(begin) / 1e3);
  cluster.run("scontrol update nodename=ALL state=drain reason=bench");
  begin = Clock::now();
  slurm_init(nullptr);
  {
    std::vector<std::jthread> submitters;
    for (int each = 0; each < 4; ++each) submitters.emplace_back(submit, jobs / 4);
  }
  fmt::print("{} jobs submitted in {:.1f} s\n", jobs, ms_since(begin) / 1e3);
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  fmt::print("load {}\n", load);

  std::vector<JobChange> changes;
  measure("whole news, a new gateway", 5, [&] {
    GatewayLink fresh;
    const News news = ask(fresh);
    if (static_cast<int>(news.jobs.size()) != jobs) fail_with("jobs are missing");
  });
  GatewayLink link;
  for (const Job& job : ask(link).jobs) {
    changes.push_back(
        {.job = job.number, .site_factor = 1000 + static_cast<std::uint32_t>(job.number) % 5000});
  }
  for (int each = 0; each < 5; ++each) ask(link);
  measure("unchanged poll", 200, [&] { ask(link); });
  measure("one job changed, and the news of it", 20, [&] {
    changes.front().site_factor = *changes.front().site_factor + 1;
    if (!link.change(std::span(changes).first(1)).front()) fail_with("a change was refused");
    ask(link);
  });
  measure(fmt::format("{} changes of site factor", jobs).c_str(), 1, [&] {
    for (const auto& done : link.change(changes)) {
      if (!done) fail_with(to_string(done.error()));
    }
  });
  measure("news of all of them", 1, [&] { ask(link); });
  for (JobChange& change : changes) change = {.job = change.job, .priority = 7};
  measure(fmt::format("{} changes of priority", jobs).c_str(), 1, [&] {
    for (const auto& done : link.change(changes)) {
      if (!done) fail_with(to_string(done.error()));
    }
  });
  fmt::print(
      "{}",
      cluster.run(fmt::format("grep -h VmRSS /proc/{}/status /proc/self/status", link.process()))
          .out);
  fmt::print("\n");
  return 0;
}
