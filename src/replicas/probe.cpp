// SPDX-License-Identifier: Apache-2.0
#include "replicas/probe.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

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
  return fail(Code::unavailable, fmt::format("{} gave no completion: {}", url, why), {},
              "an OpenAI-compatible server answers POST /v1/completions there");
}

struct Streamed {
  double first_ms = 0, per_token_ms = 0;
  std::string fault{};
};

/// One streamed completion; events of a stream are tokens.
Streamed stream(const ProbePlan& plan, const std::string& model, const std::string& prompt) {
  httplib::Client http(plan.url);
  be_patient(http);
  httplib::Request request;
  request.method = "POST";
  request.path = kPath;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = json{{"model", model},   {"prompt", prompt},   {"max_tokens", plan.output},
                      {"temperature", 0}, {"ignore_eos", true}, {"stream", true}}
                     .dump();
  std::vector<Clock::time_point> tokens;
  std::string rest;
  request.content_receiver = [&](const char* bytes, std::size_t size, std::uint64_t,
                                 std::uint64_t) {
    const auto now = Clock::now();
    rest.append(bytes, size);
    for (std::size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1)) {
      const std::string line = rest.substr(0, end);
      if (line.starts_with("data: {") && line.find("\"choices\"") != std::string::npos) {
        tokens.push_back(now);
      }
    }
    return true;
  };
  httplib::Response response;
  httplib::Error error{};
  const auto began = Clock::now();
  if (!http.send(request, response, error)) return {.fault = httplib::to_string(error)};
  if (response.status != 200) return {.fault = fmt::format("status {}", response.status)};
  if (tokens.empty()) return {.fault = "its stream has no events with choices"};
  Streamed made{.first_ms = ms_between(began, tokens.front())};
  if (tokens.size() > 1) {
    made.per_token_ms =
        ms_between(tokens.front(), tokens.back()) / static_cast<double>(tokens.size() - 1);
  }
  return made;
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
  return fail(Code::invalid, fmt::format("{}/v1/models names no model", plan.url), {},
              "name it: --served-model");
}

/// As the server counts them.
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
    return fail(Code::usage, fmt::format("\"{}\" is no address of a server", plan.url), {},
                "as http://127.0.0.1:8000");
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
      std::vector<double> first, each_token;
      for (int repeat = 0; repeat < plan.repeats; ++repeat) {
        std::vector<Streamed> seen(static_cast<std::size_t>(together));
        std::vector<std::thread> clients;
        for (Streamed& mine : seen) {
          clients.emplace_back([&plan, &model, &mine, prompt = prompt_of(words, ++number)] {
            mine = stream(plan, *model, prompt);
          });
        }
        for (std::thread& client : clients) client.join();
        for (const Streamed& mine : seen) {
          if (!mine.fault.empty()) return no_answer(plan.url, mine.fault);
          first.push_back(mine.first_ms);
          each_token.push_back(mine.per_token_ms);
        }
      }
      made.probes.push_back({.prompt = *tokens,
                             .output = plan.output,
                             .together = together,
                             .first_token_ms = stats::quantile(first, 0.5),
                             .per_token_ms = stats::quantile(each_token, 0.5)});
      done(++part / steps);
    }
  }
  return made;
}

}  // namespace almanac::replicas
