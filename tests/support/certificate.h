// SPDX-License-Identifier: Apache-2.0

/// \file
/// Certificates for tests of TLS. A test that includes this links OpenSSL::Crypto.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

namespace almanac {

/// Writes NAME.pem and NAME.key: a certificate of `host` ("IP:127.0.0.1") that vouches for itself.
inline void make_certificate(const std::string& name, const std::string& host) {
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(::EVP_EC_gen("P-256"), ::EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> made(::X509_new(), ::X509_free);
  ::X509_set_version(made.get(), X509_VERSION_3);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(made.get()), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(made.get()), -60);
  ::X509_gmtime_adj(::X509_getm_notAfter(made.get()), 3600);
  ::X509_set_pubkey(made.get(), key.get());
  X509_NAME* const subject = ::X509_get_subject_name(made.get());
  ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("almanac"), -1, -1, 0);
  ::X509_set_issuer_name(made.get(), subject);
  X509_EXTENSION* const names =
      ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, host.c_str());
  ::X509_add_ext(made.get(), names, -1);
  ::X509_EXTENSION_free(names);
  ASSERT_GT(::X509_sign(made.get(), key.get(), ::EVP_sha256()), 0);
  const File pem(std::fopen((name + ".pem").c_str(), "w"), std::fclose);
  ASSERT_EQ(::PEM_write_X509(pem.get(), made.get()), 1);
  const File secret(std::fopen((name + ".key").c_str(), "w"), std::fclose);
  ASSERT_EQ(::PEM_write_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr),
            1);
  ASSERT_EQ(::chmod((name + ".key").c_str(), 0600), 0);
}

}  // namespace almanac
