// SPDX-License-Identifier: Apache-2.0
#include "serve/client.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <unistd.h>

#include "serve/fields.h"
#include "serve/server.h"
#include "serve/submission_json.h"
#include "text/host_port.h"
#include "text/without_password.h"

namespace almanac::serve {
namespace {

const char* const kMachineSocket = "/run/almanac/almanac.sock";

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The first that is there of those where a service may be.
std::string find_socket() {
  if (std::string told = from_environment("ALMANAC_SOCKET"); !told.empty()) return told;
  const std::string own = socket_of(default_state());
  std::error_code ignored;
  for (const std::string& each :
       {own, std::string(kMachineSocket), socket_of("/var/lib/almanac")}) {
    if (std::filesystem::exists(each, ignored)) return each;
  }
  return own;
}

/// Whether what is said to the URL stays on this machine.
bool is_here(std::string_view url) {
  url.remove_prefix(std::string_view("http://").size());
  const std::string_view host = url.substr(0, url.find_last_of(':'));
  const bool is_number = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || (host.starts_with("127.") && is_number) || host == "[::1]";
}

/// Returns how many certificates the PEM text has; nothing if a block is damaged or cut off. TLS
/// reads as this does, but uses what stands before such a block and says nothing.
std::optional<int> certificates_in(const std::string& text) {
  const std::unique_ptr<BIO, int (*)(BIO*)> source{
      ::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), ::BIO_free};
  STACK_OF(X509_INFO)* const all =
      ::PEM_X509_INFO_read_bio(source.get(), nullptr, nullptr, nullptr);
  ::ERR_clear_error();
  if (all == nullptr) return std::nullopt;
  int certificates = 0;
  for (int at = 0; at < sk_X509_INFO_num(all); ++at) {
    if (sk_X509_INFO_value(all, at)->x509 != nullptr) ++certificates;
  }
  sk_X509_INFO_pop_free(all, ::X509_INFO_free);
  return certificates;
}

/// Fails unless the file can be read and holds whole certificates. What a pipe holds can be read
/// once only, and is left.
Result<void> check_certificates(const std::string& path) {
  const auto wrong = [&](Code code, const std::string& what) {
    return fail(code, "cannot read certificates: " + what, {.file = path},
                "use --ca with a file in PEM");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return wrong(Code::usage, "it is a directory");
  if (std::filesystem::is_fifo(path, ignored)) return {};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return wrong(Code::not_found, std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::optional<int> certificates = certificates_in(text);
  if (!certificates) {
    return wrong(Code::invalid, "expected whole blocks, found one that is damaged or cut off");
  }
  if (*certificates == 0) {
    return wrong(Code::invalid, "expected a line -----BEGIN CERTIFICATE-----, found none");
  }
  return {};
}

std::string random_key() {
  std::random_device draw;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", draw(), draw(), draw(), draw());
}

Code code_of(const std::string& word) {
  static const std::pair<const char*, Code> kCodes[] = {
      {"usage", Code::usage},        {"invalid", Code::usage},
      {"corrupt", Code::corrupt},    {"not_found", Code::not_found},
      {"conflict", Code::conflict},  {"unavailable", Code::unavailable},
      {"unsupported", Code::usage},  {"unauthorized", Code::conflict},
      {"forbidden", Code::conflict}, {"too_many", Code::unavailable},
      {"too_large", Code::usage}};
  for (const auto& [name, code] : kCodes) {
    if (word == name) return code;
  }
  return Code::unavailable;
}

/// What a service that refuses says.
Error refusal(int status, const std::string& body) {
  Error error{.code = Code::unavailable, .message = fmt::format("the service answered {}", status)};
  try {
    const Json said = Json::parse(body).at("error");
    error.code = code_of(said.at("code").get<std::string>());
    error.message = said.at("message").get<std::string>();
    if (said.contains("hint")) error.hint = said.at("hint").get<std::string>();
  } catch (const Json::exception&) {
    error.hint = "another program than Almanac may be answering there";
  }
  return error;
}

}  // namespace

std::string default_state() {
  if (::geteuid() == 0) return "/var/lib/almanac";
  const std::string home = from_environment("XDG_STATE_HOME");
  return home.empty() ? from_environment("HOME") + "/.local/state/almanac" : home + "/almanac";
}

struct Client::State {
  std::string place;
  std::string token;
  std::string ca;
  std::unique_ptr<httplib::Client> http;

  Result<Said> heard(const httplib::Result& result) const {
    if (!result) {
      if (result.error() == httplib::Error::SSLServerVerification) {
        return fail(Code::unavailable,
                    fmt::format("the server at {} cannot prove its identity", place), {},
                    "use --ca with the certificate file of its authority");
      }
      if (result.error() == httplib::Error::SSLLoadingCerts) {
        return fail(Code::not_found, "cannot read certificates", {.file = ca},
                    "use --ca with a file in PEM");
      }
      const bool is_late = result.error() == httplib::Error::Read;
      return fail(
          Code::unavailable,
          is_late ? fmt::format("the service at {} did not answer: it has stopped, or is too busy",
                                place)
                  : fmt::format("no service answers at {}", place),
          {},
          is_late ? "try again"
          : place.starts_with("http")
              ? "check the address and the port, or start one there with `almanac serve --listen`"
              : "start one with `almanac serve`");
    }
    if (result->status >= 400) return tl::unexpected(refusal(result->status, result->body));
    Said said{.status = result->status, .body = result->body};
    const auto number = [&](const char* name) {
      return std::strtoll(result->get_header_value(name).c_str(), nullptr, 10);
    };
    said.next_offset = number("X-Next-Offset");
    said.size = number("X-Log-Size");
    return said;
  }
  httplib::Headers headers() const {
    httplib::Headers made;
    if (!token.empty()) made.emplace("Authorization", "Bearer " + token);
    return made;
  }
};

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::to(const Place& place) {
  auto state = std::make_unique<State>();
  if (!place.url.empty()) {
    const bool is_tls = place.url.starts_with("https://");
    std::string address = place.url;
    while (address.ends_with('/')) address.pop_back();
    if (address.find('@') != std::string::npos) {
      return fail(Code::usage,
                  fmt::format("a service's URL must have no user or password, found {}",
                              text::without_password(address)),
                  {}, "the token says who you are: --token or $ALMANAC_TOKEN");
    }
    const std::size_t host = is_tls ? 8 : 7;  // after the scheme
    if ((!is_tls && !address.starts_with("http://")) || address.size() <= host ||
        address.find('/', host) != std::string::npos ||
        !text::parse_host_port(std::string_view(address).substr(host))) {
      return fail(
          Code::usage,
          fmt::format("a service's URL must be http://127.0.0.1:PORT or https://HOST:PORT, with a "
                      "PORT from 1 to 65535, found \"{}\"",
                      place.url));
    }
    state->place = std::move(address);
    state->token = place.token.empty() ? from_environment("ALMANAC_TOKEN") : place.token;
    if (!is_tls && !state->token.empty() && !is_here(state->place)) {
      return fail(Code::usage, fmt::format("a token is not sent unencrypted to {}", state->place),
                  {}, "use https://");
    }
    state->http = std::make_unique<httplib::Client>(state->place);
    state->http->enable_server_certificate_verification(true);
    state->ca = place.ca.empty() ? from_environment("ALMANAC_CA") : place.ca;
    if (is_tls && !state->ca.empty()) {
      if (const auto fine = check_certificates(state->ca); !fine) {
        return tl::unexpected(fine.error());
      }
      state->http->set_ca_cert_path(state->ca);
    }
  } else {
    const std::string path = place.socket.empty() ? find_socket() : place.socket;
    state->place = text::without_password(path);
    // A port has to be there; a socket's path is taken for the host.
    state->http = std::make_unique<httplib::Client>(path, 80);
    state->http->set_address_family(AF_UNIX);
    state->http->set_default_headers({{"Host", "localhost"}});
  }
  state->http->set_keep_alive(true);
  state->http->set_connection_timeout(5);
  state->http->set_read_timeout(30);
  state->http->set_write_timeout(30);
  return Client(std::move(state));
}

Result<Client::Said> Client::get(const std::string& path, const Query& query) {
  httplib::Params params(query.begin(), query.end());
  return state_->heard(state_->http->Get(path, params, state_->headers()));
}

Result<Client::Said> Client::post(const std::string& path, const std::string& json) {
  return state_->heard(state_->http->Post(path, state_->headers(), json, "application/json"));
}

Result<Client::Said> Client::put(const std::string& path, const std::string& json) {
  return state_->heard(state_->http->Put(path, state_->headers(), json, "application/json"));
}

Result<void> Client::judge(const store::Submission& submission) {
  return post("/v1/jobs?dry_run=1", to_json(submission)).map([](const auto&) {});
}

Result<Client::Submitted> Client::submit(const store::Submission& submission) {
  store::Submission keyed = submission;
  if (keyed.key.empty()) keyed.key = random_key();
  const std::string body = to_json(keyed);
  constexpr int kTries = 3;
  constexpr std::chrono::milliseconds kPause{500};
  const auto ask = [&] {
    return state_->http->Post("/v1/jobs", state_->headers(), body, "application/json");
  };
  auto answer = ask();
  // If the connection failed, nothing was submitted, and a retry has no use.
  const bool may_be_taken = answer.error() != httplib::Error::Connection;
  for (int tries = 1; !answer && may_be_taken && tries < kTries; ++tries) {
    std::this_thread::sleep_for(kPause);
    answer = ask();
  }
  const auto said = state_->heard(answer);
  if (!said) return tl::unexpected(said.error());
  return read_json(said->body, [](const Json& json) {
    Submitted made;
    Reader reader(json);
    reader.field("numbers", made.numbers);
    reader.sparse("notes", made.notes);
    return made;
  });
}

Result<Client::Changed> Client::change(const std::string& verb, const Which& which) {
  const auto said = post("/v1/jobs/" + verb, to_json(which));
  if (!said) return tl::unexpected(said.error());
  return read_json(said->body, [](const Json& json) {
    Changed made;
    Reader(json).field("numbers", made.numbers);
    for (const Json& each : json.value("refused", Json::array())) {
      RefusedJob& one = made.refused.emplace_back();
      std::string code;
      Reader of(each);
      of.field("job", one.job);
      of.field("code", code);
      of.field("message", one.why.message);
      one.why.code = code_of(code);
    }
    return made;
  });
}

}  // namespace almanac::serve
