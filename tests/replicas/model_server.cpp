// SPDX-License-Identifier: Apache-2.0

/// \file
/// A stand-in for a model server: the part of OpenAI's completions that a client needs, with
/// answers that follow from the prompt, and times that are told.
///
/// model_server PORT [STEP_MS [PROMPT_TOKEN_US [WARM_MS [SLOTS [SEQUENCE_MS [PAUSE_MS]]]]]]
///
/// Answers do not hinder each other, or with SLOTS above 0 one engine computes so many at a time, a
/// token of each in a step, to which a prompt adds its tokens when it joins, and each sequence
/// SEQUENCE_MS; after every tenth step it pauses.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Told {
  double step_ms = 2, prompt_token_us = 10, warm_ms = 0;
  std::size_t slots = 0;
  double sequence_ms = 0, pause_ms = 0;
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

class Engine {
 public:
  struct Answer {
    int prompt, tokens, given = 0;
  };

  explicit Engine(const Told& told) : told_(told), thread_([this] { compute(); }) {}
  ~Engine() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::shared_ptr<Answer> submit(int prompt, int tokens) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::make_shared<Answer>(Answer{prompt, tokens}));
    changed_.notify_all();
    return waiting_.back();
  }
  void await(const Answer& answer, int more_than) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return over_ || answer.given > more_than; });
  }

 private:
  void compute() {
    std::unique_lock lock(mutex_);
    for (int step = 1;; ++step) {
      changed_.wait(lock, [&] { return over_ || !waiting_.empty() || !running_.empty(); });
      if (over_) return;
      double takes_ms = told_.step_ms;
      while (!waiting_.empty() && running_.size() < told_.slots) {
        takes_ms += told_.prompt_token_us / 1e3 * waiting_.front()->prompt;
        running_.push_back(waiting_.front());
        waiting_.pop_front();
      }
      takes_ms += told_.sequence_ms * static_cast<double>(running_.size());
      if (step % 10 == 0) takes_ms += told_.pause_ms;
      lock.unlock();
      rest(takes_ms);
      lock.lock();
      for (const auto& each : running_) ++each->given;
      std::erase_if(running_, [](const auto& each) { return each->given == each->tokens; });
      changed_.notify_all();
    }
  }

  Told told_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Answer>> waiting_;
  std::vector<std::shared_ptr<Answer>> running_;
  bool over_ = false;
  std::thread thread_;
};

void complete(const Told& told, Engine* engine, const httplib::Request& request,
              httplib::Response& response) {
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
  const auto answer = engine == nullptr ? nullptr : engine->submit(words_of(prompt), tokens);
  response.set_chunked_content_provider(
      "text/event-stream", [=](std::size_t, httplib::DataSink& sink) {
        if (answer != nullptr) {
          engine->await(*answer, *at);
        } else {
          rest(*at == 0 ? prefill_ms + told.step_ms : told.step_ms);
        }
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
  if (count > 5) told.slots = static_cast<std::size_t>(std::atoi(words[5]));
  if (count > 6) told.sequence_ms = std::atof(words[6]);
  if (count > 7) told.pause_ms = std::atof(words[7]);
  const auto engine = told.slots > 0 ? std::make_unique<Engine>(told) : nullptr;
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
    complete(told, engine.get(), request, response);
  });
  return server.listen("127.0.0.1", std::atoi(words[1])) ? 0 : 1;
}
