#include "src/common/sha256.h"

#include <openssl/evp.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

namespace onceward {
namespace {

// A library that cannot hash cannot tell duplicates apart: there is nothing to go on with.
void require(bool held) {
  if (!held) std::abort();
}

struct FreeDigest {
  void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

class Context {
 public:
  Context() : digest_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    require(digest_ && context_);
  }
  void begin() { require(EVP_DigestInit_ex2(context_.get(), digest_.get(), nullptr) == 1); }
  void add(const void* bytes, std::size_t size) { require(EVP_DigestUpdate(context_.get(), bytes, size) == 1); }
  Digest end() {
    Digest result;
    require(EVP_DigestFinal_ex(context_.get(), result.data(), nullptr) == 1);
    return result;
  }

 private:
  std::unique_ptr<EVP_MD, FreeDigest> digest_;
  std::unique_ptr<EVP_MD_CTX, FreeDigest> context_;
};

Context& context() {
  thread_local Context mine;
  return mine;
}

}  // namespace

Digest sha256(std::string_view bytes) {
  Context& sha = context();
  sha.begin();
  sha.add(bytes.data(), bytes.size());
  return sha.end();
}

Digest sha256_of_fields(std::initializer_list<std::string_view> fields) {
  Context& sha = context();
  sha.begin();
  // Gathered on the stack: one update for the usual short fields instead of two for each.
  std::array<unsigned char, 512> gathered;
  std::size_t used = 0;
  for (const std::string_view field : fields) {
    require(field.size() <= std::numeric_limits<std::uint32_t>::max());
    if (used + 4 + field.size() > gathered.size()) {
      sha.add(gathered.data(), used);
      used = 0;
    }
    unsigned char* const length = gathered.data() + used;
    for (int i = 0; i < 4; ++i) length[i] = static_cast<unsigned char>(field.size() >> (24 - 8 * i));
    used += 4;
    if (4 + field.size() > gathered.size()) {
      sha.add(gathered.data(), used);
      sha.add(field.data(), field.size());
      used = 0;
    } else if (!field.empty()) {
      std::memcpy(gathered.data() + used, field.data(), field.size());
      used += field.size();
    }
  }
  sha.add(gathered.data(), used);
  return sha.end();
}

}  // namespace onceward
