// SPDX-License-Identifier: Apache-2.0

/// \file
/// The Model Context Protocol: lines of JSON-RPC 2.0 in, lines out. What tools do is elsewhere
/// (live_tools.h, file_tools.h, submit_tools.h).
///
/// Two kinds of clients are served: those that name the protocol version in each request
/// (2026-07-28) and those that open with `initialize` (2025-11-25, 2025-06-18, 2024-11-05).
///
/// Source   modelcontextprotocol.io/specification/2026-07-28 and /2025-11-25.
/// Differs  No batches: version 2025-03-26, which alone has them, is not offered.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "process/bell.h"

namespace almanac::cli::mcp {

using Json = nlohmann::ordered_json;
/// Arguments of a call. Its keys are sorted, so a hostile object costs no quadratic time.
using Arguments = nlohmann::json;

/// The result of a tool.
struct Answer {
  std::string sentence{};  ///< For people.
  Json data = Json::object();
};

struct Tool {
  std::string name{};
  std::string title{};
  std::string about{};
  /// JSON Schema of each argument: `type` is string, integer, boolean, or array of strings or
  /// integers; `minimum`, `maximum` and `minItems` are checked, too.
  Json arguments = Json::object();
  std::vector<std::string> required{};
  bool changes = false;  ///< Whether it changes jobs.
  /// Called from any thread, with arguments that fit the schema. `stop` rings when no one waits for
  /// the answer any more.
  std::function<Result<Answer>(const Arguments& arguments, const process::Bell& stop)> call{};
};

/// Longest line that is read, in bytes. A longer one is answered with an error and skipped.
inline constexpr std::size_t kLongestLine = 1 << 20;

/// One client, from its first line to its last.
class Session {
 public:
  /// `send` gets each message without its newline, one at a time but from any thread.
  Session(std::vector<Tool> tools, std::string instructions,
          std::function<void(const std::string&)> send);
  /// Stops the calls that still run.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Takes one line. Returns without waiting for tools, so that a later line can cancel a call.
  void receive(std::string_view line);
  /// Answers for a line above kLongestLine, of which nothing is known.
  void refuse_long_line();
  /// Waits until every call is answered.
  void finish();

 private:
  struct Call;

  void request(const Arguments& message, const Arguments& id, const std::string& method);
  void cancel(const Arguments& params);
  void call(const Arguments& id, bool modern, const Arguments& params);
  void work();
  void run(Call& call);
  /// Answers with a result; `modern` adds what version 2026-07-28 has in all results.
  void answer(const Arguments& id, bool modern, Json result);
  void refuse(const Arguments& id, int code, const std::string& message, Json data = nullptr);
  void send(const Json& message);

  const std::vector<Tool> tools_;
  const std::string instructions_;
  const std::function<void(const std::string&)> send_;
  bool initialized_ = false;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Call>> waiting_;
  std::vector<std::shared_ptr<Call>> running_;
  bool over_ = false;
  std::mutex sending_;
  std::vector<std::thread> workers_;
};

/// Receives each line of file descriptor `in` until its end. Fails if it cannot be read.
Result<void> receive_lines(int in, Session& session);

}  // namespace almanac::cli::mcp
