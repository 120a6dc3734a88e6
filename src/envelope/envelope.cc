#include "onceward/envelope.h"

#include <algorithm>
#include <cstring>

#include "src/envelope/members.h"

namespace onceward {
namespace {

// Copies texts one after another into room that was made for them.
class BlockWriter {
 public:
  explicit BlockWriter(char* at) : at_(at) {}
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
  BlockWriter writer(reinterpret_cast<char*>(block.get() + header_count));
  EnvelopeFields copy = fields;
  for (const TextMember& member : kTextMembers) member.set(copy, writer.put(member.get(fields)));
  for (std::size_t i = 0; i < header_count; ++i) {
    block[i] = {writer.put(fields.headers[i].name), writer.put(fields.headers[i].value)};
  }
  copy.headers = {block.get(), header_count};
  copy.payload = writer.put(fields.payload);
  return Envelope(copy, block);
}

bool operator==(const Envelope& a, const Envelope& b) {
  const EnvelopeFields& one = a.fields_;
  const EnvelopeFields& other = b.fields_;
  return std::all_of(kTextMembers.begin(), kTextMembers.end(),
                     [&](const TextMember& member) { return member.get(one) == member.get(other); }) &&
         std::all_of(kNumberMembers.begin(), kNumberMembers.end(),
                     [&](const NumberMember& member) { return one.*member.member == other.*member.member; }) &&
         one.occurred_at == other.occurred_at && one.mode == other.mode &&
         std::equal(one.headers.begin(), one.headers.end(), other.headers.begin(), other.headers.end()) &&
         one.payload == other.payload && one.unread == other.unread;
}

}  // namespace onceward
