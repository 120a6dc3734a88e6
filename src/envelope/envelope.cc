#include "onceward/envelope.h"

#include <algorithm>
#include <cstring>

#include "src/envelope/members.h"

namespace onceward {
namespace {

constexpr std::size_t kSlack = 64;  // what simdjson may read past the end

// Copies texts one after another into room that was made for them.
class Writer {
 public:
  explicit Writer(char* at) : at_(at) {}
  std::string_view put(std::string_view text) {
    if (text.empty()) return {};
    std::memcpy(at_, text.data(), text.size());
    const std::string_view copy(at_, text.size());
    at_ += text.size();
    return copy;
  }

 private:
  char* at_;
};

}  // namespace

std::optional<std::string_view> Envelope::header(std::string_view name) const {
  for (const Header& header : fields_.headers) {
    if (header.name == name) return header.value;
  }
  return std::nullopt;
}

Envelope Envelope::copy_of(const EnvelopeFields& fields) {
  std::size_t text_bytes = fields.payload.size();
  for (const TextMember& member : kTextMembers) text_bytes += member.get(fields).size();
  for (const Header& header : fields.headers) text_bytes += header.name.size() + header.value.size();
  // One allocation: an array of headers whose tail holds the text.
  const std::size_t header_count = fields.headers.size();
  const auto block = std::make_shared<Header[]>(header_count + (text_bytes + sizeof(Header) - 1) / sizeof(Header));
  Writer writer(reinterpret_cast<char*>(block.get() + header_count));
  EnvelopeFields copy = fields;
  for (const TextMember& member : kTextMembers) member.set(copy, writer.put(member.get(fields)));
  for (std::size_t i = 0; i < header_count; ++i) {
    block[i] = {writer.put(fields.headers[i].name), writer.put(fields.headers[i].value)};
  }
  copy.headers = {block.get(), header_count};
  copy.payload = writer.put(fields.payload);
  return Envelope(copy, block);
}

Bytes Bytes::copy_of(std::string_view bytes) {
  auto data = std::make_shared_for_overwrite<char[]>(bytes.size() + kSlack);
  std::copy(bytes.begin(), bytes.end(), data.get());
  std::fill_n(data.get() + bytes.size(), kSlack, '\0');
  Bytes copy;
  copy.data_ = std::move(data);
  copy.size_ = bytes.size();
  return copy;
}

}  // namespace onceward
