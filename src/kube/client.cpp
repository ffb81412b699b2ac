// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <httplib.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>

#include "base/wall_clock.h"
#include "kube/memory_file.h"
#include "kube/plain.h"
#include "text/host_port.h"
#include "text/number.h"

namespace almanac::kube {
namespace {

constexpr std::size_t kLongestLine = 4 << 20;
constexpr int kConnect_s = 10;
/// For a whole answer. A list has pages, so none takes long.
constexpr Duration kPatience = 30s;

struct Url {
  bool is_tls = true;
  std::string host{};
  int port = 443;
  std::string path{};  ///< Without a slash at its end.
  std::string user{};
  std::string password{};
};

/// Reads "https://host:6443/k8s/clusters/c-1", "http://[::1]:8001".
Result<Url> parse_url(const std::string& text) {
  const auto wrong = [&] {
    // A password does not belong into a message.
    const std::string shown = text.substr(text.rfind('@') + 1);
    return fail(Code::usage, fmt::format("expected https://HOST:PORT, found \"{}\"", shown));
  };
  Url made;
  std::string_view rest = text;
  if (rest.starts_with("http://")) {
    made.is_tls = false;
    made.port = 80;
  } else if (!rest.starts_with("https://")) {
    return wrong();
  }
  rest.remove_prefix(rest.find("//") + 2);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  made.path = rest.substr(slash);
  while (made.path.ends_with('/')) made.path.pop_back();
  std::string_view place = rest.substr(0, slash);
  if (const std::size_t at = place.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = place.substr(0, at);
    const std::size_t colon = std::min(who.find(':'), who.size());
    made.user = httplib::detail::decode_url(std::string(who.substr(0, colon)), false);
    made.password = httplib::detail::decode_url(
        std::string(who.substr(std::min(colon + 1, who.size()))), false);
    place.remove_prefix(at + 1);
  }
  auto host = text::parse_host_port(place);
  if (!host) return wrong();
  made.host = std::move(host->host);
  made.port = host->port.value_or(made.port);
  return made;
}

/// Returns the addresses of `host` in digits.
std::vector<std::string> addresses_of(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::vector<std::string> made;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return made;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> end(found, ::freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      made.emplace_back(text.data());
    }
  }
  return made;
}

bool is_no_connection(httplib::Error error) {
  return error == httplib::Error::Connection || error == httplib::Error::ConnectionTimeout;
}

/// Reads "Sat, 28 Nov 2026 04:09:00 GMT"; nothing for other text.
std::optional<Time> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* const end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return Time{std::chrono::seconds{::timegm(&parts)}};
}

/// Finds a peer that is gone without a word within about a minute.
void keep_alive(socket_t socket) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

/// Ends a request once `stop` is set or `patience` has passed: a read of a quiet connection does
/// not return by itself, and one of a slow connection begins again with each byte.
class Stopper {
 public:
  Stopper(httplib::ClientImpl& http, Duration patience, const std::atomic<bool>* stop) {
    thread_ = std::jthread([&http, patience, stop, this](const std::stop_token& done) {
      std::mutex mutex;
      std::condition_variable_any changed;
      std::unique_lock lock(mutex);
      const Time until = steady() + patience;
      while (!done.stop_requested()) {
        is_late_ = steady() >= until;
        if (is_late_ || (stop != nullptr && stop->load())) return http.stop();
        changed.wait_for(lock, done, 100ms, [] { return false; });
      }
    });
  }
  bool is_late() const { return is_late_; }

 private:
  std::atomic<bool> is_late_{false};
  std::jthread thread_;
};

/// What went wrong, as a clause about the server.
std::string reason_of(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
      return "its name is unknown, or nothing accepts connections there";
    case httplib::Error::ConnectionTimeout:
      return fmt::format("it did not accept the connection within {} s", kConnect_s);
    case httplib::Error::Read:
    case httplib::Error::Write:
    case httplib::Error::Canceled:
      return "the connection broke before the answer was complete";
    case httplib::Error::SSLConnection:
      return "no TLS connection: the server may expect http://, or a client certificate";
    default:
      return httplib::to_string(error);
  }
}

}  // namespace

struct Client::State {
  Access access;
  Url url;
  std::optional<Duration> skew;

  /// A connection, and what it needs while it lasts.
  struct Line {
    MemoryFile authorities, certificate, key;
    std::unique_ptr<httplib::ClientImpl> http;
    httplib::Headers headers;
    std::size_t addresses = 1;  ///< That this client chooses from.
  };
  std::size_t address = 0;  ///< The one that answered last.

  Result<Line> open(Duration patience) {
    auto identity = access.credential.identity();
    if (!identity) return tl::unexpected(identity.error());
    const bool has_secret = *identity != Identity{};
    if (has_secret && !url.is_tls) {
      return fail(Code::usage,
                  fmt::format("credentials are not sent unencrypted to {}", access.server), {},
                  "use https://");
    }
    Line line{.authorities = MemoryFile(access.authorities),
              .certificate = MemoryFile(identity->certificate),
              .key = MemoryFile(identity->key),
              .http = nullptr,
              .headers = {{"Accept", "application/json"}},
              .addresses = 1};
    // Without its file, the library would take the authorities of the system.
    for (const auto& [file, content] : {std::pair(&line.authorities, &access.authorities),
                                        std::pair(&line.certificate, &identity->certificate),
                                        std::pair(&line.key, &identity->key)}) {
      if (content->empty() || !file->path().empty()) continue;
      return fail(Code::unavailable, "no memory for a certificate or its key");
    }
    const std::string host = access.server_name.empty() ? url.host : access.server_name;
    if (url.is_tls) {
      auto http = std::make_unique<httplib::SSLClient>(host, url.port, line.certificate.path(),
                                                       line.key.path());
      if (!http->is_valid()) {
        return fail(Code::invalid, "the client certificate and its key cannot be used", {},
                    "expected PEM, a key without a password that matches the certificate");
      }
      http->enable_server_certificate_verification(access.checks_server);
      const std::string authorities =
          access.authorities.empty() ? access.authorities_file : line.authorities.path();
      if (!authorities.empty()) http->set_ca_cert_path(authorities);
      line.http = std::move(http);
    } else {
      line.http = std::make_unique<httplib::ClientImpl>(host, url.port);
    }
    if (host != url.host) {
      // The library takes one address for a name that is not the host's.
      const std::vector<std::string> addresses = addresses_of(url.host);
      if (addresses.empty()) {
        return fail(Code::unavailable, fmt::format("the host {} is unknown", url.host));
      }
      line.http->set_hostname_addr_map({{host, addresses[address % addresses.size()]}});
      line.addresses = addresses.size();
    }
    if (!access.proxy.empty()) {
      if (host != url.host) {
        return fail(Code::unsupported, "tls-server-name together with proxy-url", {},
                    "leave one of them out: the proxy would be asked for the server's name");
      }
      const auto proxy = parse_url(access.proxy);
      if (!proxy) return tl::unexpected(proxy.error());
      if (proxy->is_tls) {
        return fail(Code::unsupported, "proxy-url: only proxies with http:// are supported");
      }
      line.http->set_proxy(proxy->host, proxy->port);
      if (!proxy->user.empty()) line.http->set_proxy_basic_auth(proxy->user, proxy->password);
    }
    line.http->set_keep_alive(false);
    // A body follows its headers at once: the kernel would wait for the answer to the headers.
    line.http->set_tcp_nodelay(true);
    line.http->set_connection_timeout(kConnect_s);
    line.http->set_read_timeout(std::chrono::ceil<std::chrono::seconds>(patience).count());
    line.http->set_write_timeout(kConnect_s);
    line.http->set_socket_options(keep_alive);
    if (url.host.find(':') != std::string::npos) {
      line.headers.emplace("Host", fmt::format("[{}]:{}", url.host, url.port));
    } else if (host != url.host) {
      line.headers.emplace("Host", fmt::format("{}:{}", url.host, url.port));
    }
    if (!identity->token.empty()) {
      line.headers.emplace("Authorization", "Bearer " + identity->token);
    } else if (!identity->user.empty()) {
      line.headers.insert(
          httplib::make_basic_authentication_header(identity->user, identity->password));
    }
    return line;
  }

  tl::unexpected<Error> late(Duration patience) const {
    return fail(Code::unavailable,
                fmt::format("the API server at {} did not complete its answer within {} s",
                            access.server, seconds(patience)));
  }

  tl::unexpected<Error> silent(httplib::Error error) const {
    if (error == httplib::Error::SSLLoadingCerts) {
      return fail(Code::invalid,
                  fmt::format("the certificates that the API server at {} is checked against "
                              "cannot be read",
                              access.server),
                  {.file = access.authorities_file},
                  "expected PEM in the kubeconfig's certificate-authority");
    }
    if (error == httplib::Error::SSLServerVerification) {
      return fail(Code::unavailable,
                  fmt::format("the API server at {} cannot prove its identity", access.server), {},
                  "check certificate-authority and tls-server-name in the kubeconfig");
    }
    return fail(Code::unavailable,
                fmt::format("no API server answers at {}: {}", access.server, reason_of(error)), {},
                access.from == access.server ? "check --server"
                                             : fmt::format("it is the server of {}", access.from));
  }

  void note_date(const std::string& date) {
    if (const auto told = parse_http_date(date)) {
      skew = std::chrono::duration_cast<std::chrono::seconds>(*told - wall_clock());
    }
  }

  static Duration pause_of(const std::string& retry_after) {
    const auto told = text::parse_whole(retry_after);
    return told && *told >= 0 && *told <= 3600 ? std::chrono::seconds(*told) : kNoDuration;
  }

  /// Whether another address is left to try after `tried`.
  bool try_next(const Line& line, httplib::Error error, std::size_t& tried) {
    if (!is_no_connection(error) || ++tried >= line.addresses) return false;
    ++address;
    return true;
  }

  Result<Answer> ask_once(std::string_view method, const std::string& path, const std::string& body,
                          std::size_t tried = 0) {
    auto line = open(kPatience);
    if (!line) return tl::unexpected(line.error());
    line->headers.emplace("Accept-Encoding", "gzip");
    const std::string full = url.path + path;
    const Stopper stopper(*line->http, kPatience, nullptr);
    const auto said =
        method == "GET"   ? line->http->Get(full, line->headers)
        : method == "PUT" ? line->http->Put(full, line->headers, body, "application/json")
        : method == "PATCH"
            ? line->http->Patch(full, line->headers, body, "application/merge-patch+json")
            : line->http->Post(full, line->headers, body, "application/json");
    if (!said && stopper.is_late()) return late(kPatience);
    if (!said && try_next(*line, said.error(), tried)) return ask_once(method, path, body, tried);
    if (!said) return silent(said.error());
    note_date(said->get_header_value("Date"));
    return Answer{.status = said->status,
                  .body = said->body,
                  .retry_after = pause_of(said->get_header_value("Retry-After"))};
  }
};

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::to(Access access) {
  auto url = parse_url(access.server);
  if (!url) return tl::unexpected(url.error());
  if (!url->user.empty()) {
    return fail(Code::usage, "the URL of the API server has the name of a user", {},
                "leave it out, and name the user in a kubeconfig");
  }
  return Client(std::make_unique<State>(
      State{.access = std::move(access), .url = std::move(*url), .skew = {}}));
}

std::optional<Duration> Client::skew() const { return state_->skew; }
const std::string& Client::from() const { return state_->access.from; }

Result<Answer> Client::ask(const std::string& path, const std::string& body) {
  return send(body.empty() ? "GET" : "POST", path, body);
}

Result<Answer> Client::send(std::string_view method, const std::string& path,
                            const std::string& body) {
  auto answer = state_->ask_once(method, path, body);
  if (!answer || answer->status != 401) return answer;
  state_->access.credential.forget();
  return state_->ask_once(method, path, body);
}

Result<std::string> Client::get(const std::string& path) { return post(path, ""); }

Result<std::string> Client::post(const std::string& path, const std::string& body) {
  auto answer = ask(path, body);
  if (!answer) return tl::unexpected(answer.error());
  if (!answer->good()) return tl::unexpected(refusal(*answer, path));
  return std::move(answer->body);
}

Result<Answer> Client::stream(const std::string& path, Duration patience,
                              const std::function<bool(std::string_view line)>& take,
                              const std::atomic<bool>* stop, const std::function<void()>& begun) {
  auto line = state_->open(patience);
  if (!line) return tl::unexpected(line.error());
  Answer answer;
  std::string rest;
  bool is_wanted = true;
  bool is_too_long = false;
  const auto respond = [&](const httplib::Response& response) {
    answer.status = response.status;
    answer.retry_after = State::pause_of(response.get_header_value("Retry-After"));
    state_->note_date(response.get_header_value("Date"));
    if (answer.good() && begun) begun();
    return true;
  };
  const auto is_stopped = [&] { return stop != nullptr && stop->load(); };
  const auto receive = [&](const char* bytes, std::size_t size) {
    if (is_stopped()) return false;
    if (!answer.good()) {
      answer.body.append(bytes, std::min(size, kLongestLine - answer.body.size()));
      return true;
    }
    rest.append(bytes, size);
    std::size_t from = 0;
    for (std::size_t end; is_wanted && (end = rest.find('\n', from)) != std::string::npos;
         from = end + 1) {
      is_wanted = take(std::string_view(rest).substr(from, end - from));
    }
    rest.erase(0, from);
    is_too_long = rest.size() > kLongestLine;
    return is_wanted && !is_too_long;
  };
  if (is_stopped()) return answer;
  bool is_late = false;
  httplib::Result said = [&] {
    const Stopper stopper(*line->http, patience, stop);
    httplib::Result made =
        line->http->Get(state_->url.path + path, line->headers, respond, receive);
    is_late = stopper.is_late();
    return made;
  }();
  if (answer.status == 401) state_->access.credential.forget();
  if (is_too_long) {
    return fail(Code::invalid, fmt::format("a line of {} has more than 4 MiB", path));
  }
  const bool is_ours = !is_wanted || is_stopped();
  // The next round of a reflector takes the next address.
  if (std::size_t tried = 0; !said && !is_ours) state_->try_next(*line, said.error(), tried);
  if (!said && !is_ours && is_late) return state_->late(patience);
  if (!said && !is_ours) return state_->silent(said.error());
  return answer;
}

Error refusal(const Answer& answer, const std::string& path) {
  Error made{.code = Code::unavailable, .message = {}, .where = {}, .hint = {}};
  std::string said;
  // Proxies, and API groups that do not exist, answer in plain text.
  const auto status = nlohmann::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  if (status.is_object() && status.contains("message") && status["message"].is_string()) {
    said = status["message"];
  } else {
    said = answer.body.substr(0, answer.body.find('\n'));
  }
  made.message = fmt::format("the API server answered {} to {}: {}", answer.status, path,
                             plain(said.empty() ? "no reason is given" : said));
  switch (answer.status) {
    case 400:
    case 422:
      made.code = Code::invalid;
      break;
    case 401:
      made.code = Code::conflict;
      made.hint = "the credentials are not valid, or no longer: log in again";
      break;
    case 403:
      made.code = Code::conflict;
      made.hint = "almanac kube doctor lists the rights that are missing";
      break;
    case 404:
      made.code = Code::not_found;
      break;
    default:
      break;
  }
  return made;
}

}  // namespace almanac::kube
