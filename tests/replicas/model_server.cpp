// SPDX-License-Identifier: Apache-2.0

/// \file
/// A stand-in for a model server: the part of OpenAI's completions that a client needs, with
/// answers that follow from the prompt, and times that are told.
///
/// model_server PORT [STEP_MS [PROMPT_TOKEN_US [WARM_MS]]]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Told {
  double step_ms = 2, prompt_token_us = 10, warm_ms = 0;
};

/// Word number `at` of the answer to `prompt`.
std::string word(const std::string& prompt, int at) {
  std::uint64_t hash = 14695981039346656037U + static_cast<std::uint64_t>(at);
  for (const char c : prompt) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return "w" + std::to_string(hash % 1000) + " ";
}

int words_of(const std::string& prompt) {
  return 1 + static_cast<int>(std::count(prompt.begin(), prompt.end(), ' '));
}

void rest(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

void complete(const Told& told, const httplib::Request& request, httplib::Response& response) {
  const auto asked = nlohmann::json::parse(request.body, nullptr, false);
  if (!asked.is_object() || !asked.contains("prompt")) {
    response.status = 400;
    response.set_content(R"({"error":{"message":"no prompt"}})", "application/json");
    return;
  }
  const std::string prompt = asked["prompt"];
  const int tokens = asked.value("max_tokens", 16);
  const double prefill_ms = told.prompt_token_us / 1e3 * words_of(prompt);
  if (!asked.value("stream", false)) {
    rest(prefill_ms + told.step_ms * tokens);
    std::string text;
    for (int at = 0; at < tokens; ++at) text += word(prompt, at);
    const nlohmann::json said = {
        {"choices", {{{"text", text}, {"index", 0}}}},
        {"usage", {{"prompt_tokens", words_of(prompt)}, {"completion_tokens", tokens}}}};
    response.set_content(said.dump(), "application/json");
    return;
  }
  const auto at = std::make_shared<int>(0);
  response.set_chunked_content_provider(
      "text/event-stream", [=](std::size_t, httplib::DataSink& sink) {
        rest(*at == 0 ? prefill_ms + told.step_ms : told.step_ms);
        const nlohmann::json piece = {{"choices", {{{"text", word(prompt, *at)}, {"index", 0}}}}};
        std::string event = "data: " + piece.dump() + "\n\n";
        const bool last = ++*at == tokens;
        if (last) event += "data: [DONE]\n\n";
        if (!sink.write(event.data(), event.size())) return false;
        if (last) sink.done();
        return true;
      });
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  Told told;
  if (count > 2) told.step_ms = std::atof(words[2]);
  if (count > 3) told.prompt_token_us = std::atof(words[3]);
  if (count > 4) told.warm_ms = std::atof(words[4]);
  httplib::Server server;
  // Else it would share a port that is taken.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.new_task_queue = [] { return new httplib::ThreadPool(64); };
  const auto began = Clock::now();
  server.Get("/health", [&](const httplib::Request&, httplib::Response& response) {
    const std::chrono::duration<double, std::milli> up = Clock::now() - began;
    response.status = up.count() >= told.warm_ms ? 200 : 503;
  });
  server.Get("/v1/models", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(R"({"data":[{"id":"stand-in"}]})", "application/json");
  });
  server.Post("/v1/completions", [&](const httplib::Request& request, httplib::Response& response) {
    complete(told, request, response);
  });
  return server.listen("127.0.0.1", std::atoi(words[1])) ? 0 : 1;
}
