// SPDX-License-Identifier: Apache-2.0
#include "cli/command/mcp/protocol.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace almanac::cli::mcp {
namespace {

constexpr const char* kModern = "2026-07-28";
constexpr std::array kLegacy{"2025-11-25", "2025-06-18", "2024-11-05"};

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kInternalError = -32603;
constexpr int kBusy = -32000;
constexpr int kUnsupportedVersion = -32022;

constexpr int kWorkers = 4;
constexpr std::size_t kMostCalls = 64;

Json server_info() {
  return {{"name", "almanac"}, {"title", "Almanac"}, {"version", ALMANAC_VERSION}};
}

Json all_versions() {
  Json made = Json::array({kModern});
  for (const char* each : kLegacy) made.push_back(each);
  return made;
}

Json capabilities() {
  Json made;
  made["tools"] = Json::object();
  return made;
}

/// The JSON library copies and writes nested values recursively: deeper ones exhaust the stack.
constexpr int kDeepest = 32;
struct TooDeep {};
bool refuse_depth(int depth, Arguments::parse_event_t, const Arguments&) {
  if (depth > kDeepest) throw TooDeep{};
  return true;
}

/// The version that a request names in its _meta; "" = it names none.
std::string version_of(const Arguments& params) {
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return "";
  const auto version = meta->find("io.modelcontextprotocol/protocolVersion");
  if (version == meta->end()) return "";
  return version->is_string() ? version->get<std::string>() : version->dump();
}

Json description_of(const Tool& tool) {
  Json input = {{"type", "object"}, {"properties", tool.arguments}};
  if (!tool.required.empty()) input["required"] = tool.required;
  input["additionalProperties"] = false;
  const Json output = {
      {"type", "object"},
      {"properties",
       {{"sentence", {{"type", "string"}, {"description", "The result in one sentence."}}},
        {"data", {{"type", "object"}}}}},
      {"required", {"sentence", "data"}}};
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.about},
          {"inputSchema", std::move(input)},
          {"outputSchema", output},
          {"annotations",
           {{"readOnlyHint", !tool.changes},
            {"destructiveHint", tool.changes},
            {"openWorldHint", false}}}};
}

bool fits_type(const Arguments& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  return type == "array" && value.is_array();
}

/// Why a value does not fit its schema; "" if it does.
std::string problem_of_value(const Arguments& value, const Json& schema) {
  const std::string type = schema.at("type");
  if (!fits_type(value, type)) {
    return fmt::format("must be {} {}, found {}", type == "integer" || type == "array" ? "an" : "a",
                       type, value.type_name());
  }
  if (type == "integer") {
    const auto least = schema.value("minimum", std::int64_t{0});
    const auto most = schema.value("maximum", std::int64_t{1'000'000'000});
    // An unsigned number above the largest signed one would read as a negative one.
    const bool fits = !value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX;
    if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
      return fmt::format("must be from {} to {}, found {}", least, most, value.dump());
    }
  }
  if (type == "array") {
    if (value.size() < schema.value("minItems", std::size_t{0})) return "must not be empty";
    for (const Arguments& each : value) {
      if (const std::string why = problem_of_value(each, schema.at("items")); !why.empty())
        return "has an item that " + why;
    }
  }
  // Programs take arguments and names up to the first NUL only.
  if (type == "string" && value.get_ref<const std::string&>().find('\0') != std::string::npos)
    return "must not contain a NUL character";
  return "";
}

/// Why `arguments` are not what `tool` takes; "" if they are.
std::string problem_of_arguments(const Arguments& arguments, const Tool& tool) {
  for (const auto& [name, value] : arguments.items()) {
    const auto schema = tool.arguments.find(name);
    if (schema == tool.arguments.end()) {
      std::vector<std::string> known;
      for (const auto& [each, ignored] : tool.arguments.items()) known.push_back(each);
      return fmt::format("{} has no argument `{}`; it takes {}", tool.name, name,
                         known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
    if (const std::string why = problem_of_value(value, *schema); !why.empty())
      return fmt::format("`{}` {}", name, why);
  }
  for (const std::string& name : tool.required) {
    if (!arguments.contains(name)) return fmt::format("`{}` is missing", name);
  }
  return "";
}

Json text_block(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

Json tool_error(std::string text) {
  return {{"content", Json::array({text_block(std::move(text))})}, {"isError", true}};
}

std::string dumped(const Json& json) {
  // Names of jobs need not be UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json tool_result(const Result<Answer>& answer) {
  if (!answer) return tool_error(to_string(answer.error()));
  return {
      {"content", Json::array({text_block(answer->sentence), text_block(dumped(answer->data))})},
      {"structuredContent", {{"sentence", answer->sentence}, {"data", answer->data}}},
      {"isError", false}};
}

}  // namespace

struct Session::Call {
  Arguments id;
  bool modern = false;
  const Tool* tool = nullptr;
  Arguments arguments;
  process::Bell stop;
  bool cancelled = false;
};

Session::Session(std::vector<Tool> tools, std::string instructions,
                 std::function<void(const std::string&)> send)
    : tools_(std::move(tools)), instructions_(std::move(instructions)), send_(std::move(send)) {
  for (int worker = 0; worker < kWorkers; ++worker) workers_.emplace_back([this] { work(); });
}

Session::~Session() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    waiting_.clear();
    for (const auto& each : running_) {
      each->cancelled = true;
      each->stop.ring();
    }
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Session::receive(std::string_view line) {
  Arguments message;
  try {
    message = Arguments::parse(line, refuse_depth, false);
  } catch (const TooDeep&) {
    return refuse(nullptr, kInvalidRequest,
                  fmt::format("the message is nested more than {} levels deep", kDeepest));
  }
  if (message.is_discarded())
    return refuse(nullptr, kParseError, "the line is not a JSON text in UTF-8");
  if (message.is_array())
    return refuse(nullptr, kInvalidRequest, "batches are not supported: send one message a line");
  if (!message.is_object())
    return refuse(nullptr, kInvalidRequest, "a message must be a JSON object");
  const auto id = message.find("id");
  const bool has_id = id != message.end();
  if (has_id && !id->is_string() && !id->is_number_integer())
    return refuse(nullptr, kInvalidRequest, "`id` must be a string or a whole number");
  const auto method = message.find("method");
  // An answer: this server asks nothing.
  if (method == message.end() && (message.contains("result") || message.contains("error"))) return;
  const Arguments to = has_id ? *id : Arguments();
  if (message.value("jsonrpc", Arguments()) != "2.0")
    return refuse(to, kInvalidRequest, "`jsonrpc` must be \"2.0\"");
  if (method == message.end() || !method->is_string())
    return refuse(to, kInvalidRequest, "`method` must be a string");
  const auto params = message.find("params");
  const bool has_params = params != message.end();
  if (has_params && !params->is_object()) {
    if (has_id) refuse(to, kInvalidParams, "`params` must be an object");
    return;
  }
  if (has_id) return request(message, to, *method);
  if (*method == "notifications/cancelled" && has_params) cancel(*params);
}

void Session::refuse_long_line() {
  refuse(nullptr, kInvalidRequest,
         fmt::format("the line is longer than {} bytes and was skipped", kLongestLine));
}

void Session::request(const Arguments& message, const Arguments& id, const std::string& method) {
  const Arguments params = message.value("params", Arguments::object());
  const std::string version = version_of(params);
  const bool is_known =
      version == kModern || std::find(kLegacy.begin(), kLegacy.end(), version) != kLegacy.end();
  if (!version.empty() && !is_known) {
    return refuse(id, kUnsupportedVersion, "unsupported protocol version",
                  {{"supported", all_versions()}, {"requested", version}});
  }
  const bool modern = version == kModern;
  if (method == "initialize") {
    const Arguments asked = params.value("protocolVersion", Arguments());
    if (!asked.is_string()) return refuse(id, kInvalidParams, "`protocolVersion` must be a string");
    const auto same = std::find(kLegacy.begin(), kLegacy.end(), asked.get<std::string>());
    initialized_ = true;
    return answer(id, false,
                  {{"protocolVersion", same == kLegacy.end() ? kLegacy.front() : *same},
                   {"capabilities", capabilities()},
                   {"serverInfo", server_info()},
                   {"instructions", instructions_}});
  }
  if (method == "ping") return answer(id, modern, Json::object());
  if (method == "server/discover") {
    return answer(id, true,
                  {{"supportedVersions", all_versions()},
                   {"capabilities", capabilities()},
                   {"instructions", instructions_},
                   {"ttlMs", 0},
                   {"cacheScope", "private"}});
  }
  if (version.empty() && !initialized_) {
    return refuse(
        id, kInvalidRequest,
        fmt::format("send initialize first, or name the protocol version {} in _meta", kModern));
  }
  if (method == "tools/list") {
    Json result;
    result["tools"] = Json::array();
    for (const Tool& each : tools_) result["tools"].push_back(description_of(each));
    if (modern) result.update({{"ttlMs", 0}, {"cacheScope", "private"}});
    return answer(id, modern, std::move(result));
  }
  if (method == "tools/call") return call(id, modern, params);
  refuse(id, kMethodNotFound, "this server has no such method");
}

void Session::call(const Arguments& id, bool modern, const Arguments& params) {
  const Arguments name = params.value("name", Arguments());
  const auto tool = std::find_if(tools_.begin(), tools_.end(),
                                 [&](const Tool& each) { return name == each.name; });
  if (tool == tools_.end()) return refuse(id, kInvalidParams, "this server has no such tool");
  Arguments arguments = params.value("arguments", Arguments::object());
  if (!arguments.is_object()) return refuse(id, kInvalidParams, "`arguments` must be an object");
  // A model can correct these itself if it sees them, so they are results.
  if (const std::string why = problem_of_arguments(arguments, *tool); !why.empty())
    return answer(id, modern, tool_error(why));

  const auto made = std::make_shared<Call>();
  made->id = id;
  made->modern = modern;
  made->tool = &*tool;
  made->arguments = std::move(arguments);
  std::unique_lock lock(mutex_);
  if (waiting_.size() >= kMostCalls) {
    lock.unlock();
    return refuse(id, kBusy, fmt::format("{} calls are waiting already: try again", kMostCalls));
  }
  waiting_.push_back(made);
  lock.unlock();
  changed_.notify_all();
}

void Session::cancel(const Arguments& params) {
  const Arguments id = params.value("requestId", Arguments());
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const auto& each) { return each->id == id; });
  for (const auto& each : running_) {
    if (each->id != id) continue;
    each->cancelled = true;
    each->stop.ring();
  }
  changed_.notify_all();
}

void Session::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return over_ || !waiting_.empty(); });
    if (over_) return;
    const std::shared_ptr<Call> call = waiting_.front();
    waiting_.pop_front();
    running_.push_back(call);
    lock.unlock();
    run(*call);
    lock.lock();
    std::erase(running_, call);
    changed_.notify_all();
  }
}

void Session::run(Call& call) {
  Json result;
  std::string bug;
  try {
    result = tool_result(call.tool->call(call.arguments, call.stop));
  } catch (const std::exception& error) {
    bug = fmt::format("{}: {}", call.tool->name, error.what());
  }
  {
    const std::lock_guard lock(mutex_);
    if (call.cancelled) return;
  }
  if (!bug.empty()) return refuse(call.id, kInternalError, bug);
  answer(call.id, call.modern, std::move(result));
}

void Session::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && running_.empty(); });
}

void Session::answer(const Arguments& id, bool modern, Json result) {
  if (modern) {
    result["resultType"] = "complete";
    result["_meta"]["io.modelcontextprotocol/serverInfo"] = server_info();
  }
  send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Session::refuse(const Arguments& id, int code, const std::string& message, Json data) {
  Json error = {{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = std::move(data);
  Json made;
  made["jsonrpc"] = "2.0";
  // Unlike JSON-RPC, this protocol leaves an unknown id out.
  if (!id.is_null()) made["id"] = id;
  made["error"] = std::move(error);
  send(made);
}

void Session::send(const Json& message) {
  const std::string text = dumped(message);
  const std::lock_guard lock(sending_);
  send_(text);
}

Result<void> receive_lines(int in, Session& session) {
  std::string line;
  bool skips = false;
  std::array<char, 65536> block;
  const auto end_line = [&] {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!skips && !line.empty()) session.receive(line);
    line.clear();
    skips = false;
  };
  for (;;) {
    const ssize_t size = ::read(in, block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      return fail(Code::unavailable,
                  fmt::format("standard input cannot be read: {}", std::strerror(errno)));
    }
    if (size == 0) break;
    std::string_view rest(block.data(), static_cast<std::size_t>(size));
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      if (!skips) line.append(rest.substr(0, end));
      if (!skips && line.size() > kLongestLine) {
        session.refuse_long_line();
        line.clear();
        skips = true;
      }
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      end_line();
    }
  }
  end_line();
  return {};
}

}  // namespace almanac::cli::mcp
