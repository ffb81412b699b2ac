// SPDX-License-Identifier: Apache-2.0
#include "replicas/probe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "stats/mean.h"
#include "stats/quantile.h"

namespace almanac::replicas {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr const char* kPath = "/v1/completions";

double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

std::string prompt_of(int words, int number) {
  std::string made = fmt::format("q{}", number);
  for (int each = 1; each < words; ++each) made += " word";
  return made;
}

void be_patient(httplib::Client& http) {
  http.set_connection_timeout(std::chrono::seconds(10));
  http.set_read_timeout(std::chrono::seconds(300));
}

tl::unexpected<Error> no_answer(const std::string& url, const std::string& why) {
  return fail(
      Code::unavailable, fmt::format("{} returned no completion: {}", url, why), {},
      "give the address of an OpenAI-compatible server, which answers POST /v1/completions");
}

struct Streamed {
  Clock::time_point began{};
  std::vector<Clock::time_point> tokens{};
  std::string fault{};

  double first_ms() const { return ms_between(began, tokens.front()); }
  double per_token_ms() const {
    if (tokens.size() < 2) return 0;
    return ms_between(tokens.front(), tokens.back()) / static_cast<double>(tokens.size() - 1);
  }
  std::vector<double> gaps_ms() const {
    std::vector<double> made;
    for (std::size_t each = 1; each < tokens.size(); ++each) {
      made.push_back(ms_between(tokens[each - 1], tokens[each]));
    }
    return made;
  }
};

/// One streamed completion of `output` tokens; events of a stream are tokens.
Streamed stream(const ProbePlan& plan, const std::string& model, const std::string& prompt,
                int output) {
  httplib::Client http(plan.url);
  be_patient(http);
  httplib::Request request;
  request.method = "POST";
  request.path = kPath;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = json{{"model", model},   {"prompt", prompt},   {"max_tokens", output},
                      {"temperature", 0}, {"ignore_eos", true}, {"stream", true}}
                     .dump();
  Streamed made;
  std::string rest;
  request.content_receiver = [&](const char* bytes, std::size_t size, std::uint64_t,
                                 std::uint64_t) {
    const auto now = Clock::now();
    rest.append(bytes, size);
    for (std::size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1)) {
      const std::string line = rest.substr(0, end);
      if (line.starts_with("data: {") && line.find("\"choices\"") != std::string::npos) {
        made.tokens.push_back(now);
      }
    }
    return true;
  };
  httplib::Response response;
  httplib::Error error{};
  made.began = Clock::now();
  if (!http.send(request, response, error)) {
    made.fault = httplib::to_string(error);
  } else if (response.status != 200) {
    made.fault = fmt::format("status {}", response.status);
  } else if (made.tokens.empty()) {
    made.fault = "its stream has no events with choices";
  }
  return made;
}

/// Adds of each how many of them, itself too, had their first token and not yet their last when it
/// had half of its own.
void count_met(const std::vector<Streamed>& seen, std::vector<double>& met) {
  for (const Streamed& mine : seen) {
    const auto middle = mine.tokens.front() + (mine.tokens.back() - mine.tokens.front()) / 2;
    met.push_back(
        static_cast<double>(std::count_if(seen.begin(), seen.end(), [&](const Streamed& other) {
          return other.tokens.front() <= middle && middle <= other.tokens.back();
        })));
  }
}

Result<std::string> model_of(const ProbePlan& plan) {
  if (!plan.model.empty()) return plan.model;
  httplib::Client http(plan.url);
  be_patient(http);
  const auto answer = http.Get("/v1/models");
  if (!answer) return no_answer(plan.url, httplib::to_string(answer.error()));
  const json told = json::parse(answer->body, nullptr, false);
  if (told.is_object() && told.contains("data") && told["data"].is_array() &&
      !told["data"].empty() && told["data"][0].is_object() && told["data"][0].contains("id") &&
      told["data"][0]["id"].is_string()) {
    return told["data"][0]["id"].get<std::string>();
  }
  return fail(Code::invalid, fmt::format("{}/v1/models lists no model", plan.url), {},
              "name the model: --served-model");
}

/// Returns the number of tokens, as the server counts them.
Result<int> tokens_of(const ProbePlan& plan, const std::string& model, int words) {
  httplib::Client http(plan.url);
  be_patient(http);
  const json asked{{"model", model}, {"prompt", prompt_of(words, 0)}, {"max_tokens", 1}};
  const auto answer = http.Post(kPath, asked.dump(), "application/json");
  if (!answer) return no_answer(plan.url, httplib::to_string(answer.error()));
  if (answer->status != 200) return no_answer(plan.url, fmt::format("status {}", answer->status));
  const json told = json::parse(answer->body, nullptr, false);
  if (!told.is_object() || !told.contains("usage") || !told["usage"].is_object()) return words;
  return told["usage"].value("prompt_tokens", words);
}

}  // namespace

Result<Probed> probe(const ProbePlan& plan, const std::function<void(double)>& done) {
  if (!plan.url.starts_with("http://")) {
    return fail(Code::usage, fmt::format("\"{}\" is not the address of a server", plan.url), {},
                "write http://127.0.0.1:8000");
  }
  const auto model = model_of(plan);
  if (!model) return tl::unexpected(model.error());
  Probed made{.model = *model};
  int number = 0;
  double part = 0;
  const double steps = static_cast<double>(plan.prompts.size() * plan.together.size());
  for (const int words : plan.prompts) {
    const auto tokens = tokens_of(plan, *model, words);
    if (!tokens) return tl::unexpected(tokens.error());
    for (const int together : plan.together) {
      std::vector<double> first, each_token, gaps, met;
      for (int repeat = 0; repeat < plan.repeats; ++repeat) {
        std::vector<Streamed> seen(static_cast<std::size_t>(together));
        std::vector<std::thread> clients;
        for (Streamed& mine : seen) {
          clients.emplace_back([&plan, &model, &mine, prompt = prompt_of(words, ++number)] {
            mine = stream(plan, *model, prompt, plan.output);
          });
        }
        for (std::thread& client : clients) client.join();
        for (const Streamed& mine : seen) {
          if (!mine.fault.empty()) return no_answer(plan.url, mine.fault);
          first.push_back(mine.first_ms());
          each_token.push_back(mine.per_token_ms());
          for (const double gap : mine.gaps_ms()) gaps.push_back(gap);
        }
        count_met(seen, met);
      }
      made.probes.push_back({.prompt = *tokens,
                             .output = plan.output,
                             .together = together,
                             .first_token_ms = stats::quantile(first, 0.5),
                             .per_token_ms = stats::quantile(each_token, 0.5),
                             .decoding = static_cast<int>(std::lround(stats::quantile(met, 0.5))),
                             .mean_gap_ms = gaps.empty() ? 0 : stats::mean(gaps),
                             .median_gap_ms = gaps.empty() ? 0 : stats::quantile(gaps, 0.5)});
      done(++part / steps);
    }
  }
  return made;
}

Result<inference::MixedLoad> mixed_load(const ProbePlan& plan, const std::string& model,
                                        const inference::FittedLines& lines, std::uint64_t seed,
                                        const std::function<void(double)>& done) {
  constexpr int kRequests = 64;
  std::vector<int> asked = plan.prompts;
  std::sort(asked.begin(), asked.end());
  struct Length {
    int words, tokens;
  };
  std::vector<Length> lengths;
  double mean_prompt = 0;
  for (std::size_t each = 1; each < asked.size(); ++each) {
    const int words = (asked[each - 1] + asked[each]) / 2;
    const auto tokens = tokens_of(plan, model, words);
    if (!tokens) return tl::unexpected(tokens.error());
    lengths.push_back({words, *tokens});
    mean_prompt += *tokens;
  }
  mean_prompt /= static_cast<double>(lengths.size());
  const int fewest = std::max(2, plan.output / 2);
  const double rate =
      inference::half_load(lines, *std::max_element(plan.together.begin(), plan.together.end()),
                           mean_prompt, (fewest + plan.output) / 2.0);
  Rng rng(seed);
  std::vector<Streamed> seen(kRequests);
  std::vector<Length> prompts;
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  auto comes = Clock::now();
  for (Streamed& mine : seen) {
    prompts.push_back(lengths[rng.below(lengths.size())]);
    const int output =
        fewest + static_cast<int>(rng.below(static_cast<std::uint64_t>(plan.output - fewest + 1)));
    comes += std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(rng.exponential() / rate));
    std::this_thread::sleep_until(comes);
    // Begun so that no prompt begins as any other that was asked.
    const std::string prompt = fmt::format("m{}", seed) +
                               prompt_of(prompts.back().words, static_cast<int>(clients.size()));
    clients.emplace_back([&, output, prompt] {
      mine = stream(plan, model, prompt, output);
      done(static_cast<double>(++answered) / kRequests);
    });
  }
  for (std::thread& client : clients) client.join();
  std::vector<std::size_t> order(seen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return seen[a].began < seen[b].began; });
  inference::MixedLoad made;
  for (const std::size_t each : order) {
    const Streamed& mine = seen[each];
    if (!mine.fault.empty()) return no_answer(plan.url, mine.fault);
    const auto at = [&](Clock::time_point when) {
      return 1e3 * ms_between(seen[order.front()].began, when);
    };
    made.requests.all.push_back({.arrival = at(mine.began),
                                 .prompt = prompts[each].tokens,
                                 .output = static_cast<std::int32_t>(mine.tokens.size())});
    const std::vector<double> gaps = mine.gaps_ms();
    made.outcomes.push_back(
        {.first_token = at(mine.tokens.front()),
         .finish = at(mine.tokens.back()),
         .longest_gap = gaps.empty() ? 0 : 1e3 * *std::max_element(gaps.begin(), gaps.end())});
  }
  return made;
}

}  // namespace almanac::replicas
