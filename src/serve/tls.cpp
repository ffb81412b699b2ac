// SPDX-License-Identifier: Apache-2.0
#include "serve/tls.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include "service/log.h"

namespace almanac::serve {
namespace {

/// What OpenSSL says last, in its words.
std::string said() {
  std::array<char, 256> text{};
  const unsigned long number = ::ERR_get_error();  // NOLINT(google-runtime-int): OpenSSL's
  ::ERR_clear_error();
  if (number == 0) return "no reason is given";
  ::ERR_error_string_n(number, text.data(), text.size());
  return text.data();
}

/// Tells a file from the one that is there later.
struct Stamp {
  ino_t file = 0;
  std::int64_t second = 0, nanosecond = 0;
  bool operator==(const Stamp&) const = default;
};

Stamp stamp_of(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};
  return {about.st_ino, about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
}

}  // namespace

struct Tls::State {
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context{::SSL_CTX_new(::TLS_server_method()),
                                                       ::SSL_CTX_free};
  std::string certificate, key;
  Stamp of_certificate, of_key;  // when they were tried last
};

struct TlsSession::State {
  std::unique_ptr<SSL, void (*)(SSL*)> session;
};

Tls::Tls(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tls::Tls(Tls&&) noexcept = default;
Tls& Tls::operator=(Tls&&) noexcept = default;
Tls::~Tls() = default;

Result<Tls> Tls::of(const std::string& certificate, const std::string& key) {
  struct stat about {};
  if (::stat(key.c_str(), &about) == 0 && (about.st_mode & 077) != 0) {
    return fail(Code::invalid, "other users may read the certificate's key", {.file = key},
                "chmod 600 it");
  }
  auto state = std::make_unique<State>();
  state->certificate = certificate;
  state->key = key;
  state->of_certificate = stamp_of(certificate);
  state->of_key = stamp_of(key);
  SSL_CTX* const context = state->context.get();
  if (context == nullptr) return fail(Code::unavailable, fmt::format("no TLS: {}", said()));
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  ::SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  ::SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
  if (::SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    return fail(Code::invalid, fmt::format("cannot use the certificate: {}", said()),
                {.file = certificate}, "it must be PEM, the service's own certificate first");
  }
  if (::SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      ::SSL_CTX_check_private_key(context) != 1) {
    return fail(Code::invalid, fmt::format("cannot use the key: {}", said()), {.file = key},
                "it must be PEM, without a password, and match the certificate");
  }
  return Tls(std::move(state));
}

std::unique_ptr<TlsSession> Tls::begin(int socket) {
  const Stamp of_certificate = stamp_of(state_->certificate);
  const Stamp of_key = stamp_of(state_->key);
  if (of_certificate != state_->of_certificate || of_key != state_->of_key) {
    // What cannot be taken is not tried again before it changes: the two are replaced one by one.
    state_->of_certificate = of_certificate;
    state_->of_key = of_key;
    auto renewed = of(state_->certificate, state_->key);
    if (renewed) {
      *this = *std::move(renewed);
    } else {
      service::log_warning(
          fmt::format("keeping the previous certificate: {}", to_string(renewed.error())));
    }
  }
  auto made = std::make_unique<TlsSession::State>(
      TlsSession::State{{::SSL_new(state_->context.get()), ::SSL_free}});
  SSL* const session = made->session.get();
  if (session == nullptr || ::SSL_set_fd(session, socket) != 1) return nullptr;
  ::SSL_set_accept_state(session);
  return std::make_unique<TlsSession>(std::move(made));
}

TlsSession::TlsSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsSession::~TlsSession() = default;

ssize_t TlsSession::outcome(int result) {
  const int why = ::SSL_get_error(state_->session.get(), result);
  ::ERR_clear_error();  // the queue is the thread's: an old error may be another session's
  wants_to_write_ = why == SSL_ERROR_WANT_WRITE;
  if (result > 0) return result;
  if (why == SSL_ERROR_ZERO_RETURN) return 0;
  errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
  return -1;
}

ssize_t TlsSession::receive(char* bytes, std::size_t size) {
  return outcome(::SSL_read(state_->session.get(), bytes, static_cast<int>(size)));
}

ssize_t TlsSession::send(const char* bytes, std::size_t size) {
  constexpr std::size_t kAtOnce = 1 << 20;
  return outcome(
      ::SSL_write(state_->session.get(), bytes, static_cast<int>(std::min(size, kAtOnce))));
}

void TlsSession::end() {
  ::SSL_shutdown(state_->session.get());
  ::ERR_clear_error();
}

}  // namespace almanac::serve
