#include "adapters/kafka/record.h"

#include <algorithm>

#include "src/envelope/builder.h"
#include "src/envelope/members.h"
#include "src/envelope/payload.h"
#include "src/wire/trace.h"

namespace onceward::kafka {
namespace {

constexpr std::string_view content_type_header = "content-type";
constexpr std::string_view yes = "true";

bool is_content_type(std::string_view name) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(name, content_type_header, {}, lower, lower);
}

// What a reader of CloudEvents is given: the content type apart, and word of a tombstone.
struct Prepared {
  std::vector<Header> headers;
  std::string_view content_type;
};
Prepared prepare(const Record& record) {
  Prepared prepared;
  prepared.headers.reserve(record.headers.size() + 1);
  for (const Header& header : record.headers) {
    if (is_content_type(header.name) && prepared.content_type.empty()) {
      prepared.content_type = header.value;
    } else if (header.name != kafka_tombstone_header) {
      prepared.headers.push_back(header);
    }
  }
  if (!record.value) prepared.headers.push_back({kafka_tombstone_header, yes});
  return prepared;
}

constexpr const TextMember& member_named(std::string_view json) {
  return *std::ranges::find(kTextMembers, json, &TextMember::json);
}

// Identity from a header, the aggregate from the key, all else as it stands. Keeping, it has no limits and refuses nothing.
class NativeReader {
 public:
  enum class Why { to_read, to_keep };
  NativeReader(const Record& record, const Bytes& payload, const Reading& how, Why why)
      : record_(record),
        id_header_(how.id_header),
        missing_id_(how.missing_id),
        limits_(why == Why::to_read ? how.limits : kNoLimits),
        builder_(payload, limits_),
        payload_(payload),
        why_(why) {}

  ReadEnvelope read() {
    if (payload_.view().size() > limits_.message_bytes) return Refusal{Reason::too_large, "message_bytes"};
    std::size_t text_bytes = record_.key.size() + missing_id_.size();
    for (const Header& header : record_.headers) text_bytes += header.name.size() + header.value.size();
    if (text_bytes > limits_.message_bytes) return Refusal{Reason::headers_too_large, "message_bytes"};
    builder_.make_room(text_bytes, std::min(record_.headers.size() + 1, limits_.header_count));
    for (const Header& header : record_.headers) {
      if (auto refusal = take(header)) return std::move(*refusal);
    }
    if (auto refusal = set(member_named("aggregateId"), "key", record_.key)) return std::move(*refusal);
    if (builder_.fields.message_id.empty() && !missing_id_.empty() && !has_unreadable_id()) {
      if (auto refusal = set(member_named("messageId"), id_header_, missing_id_)) return std::move(*refusal);
    }
    if (!record_.value) {
      if (auto refusal = builder_.add_header(kafka_tombstone_header, yes)) return std::move(*refusal);
    }
    builder_.fields.payload = payload_.view();
    return std::move(builder_).finish();
  }

 private:
  // It has an id, and must not be known by another when it is kept.
  bool has_unreadable_id() const {
    return std::ranges::any_of(
        record_.headers, [&](const Header& header) { return header.name == id_header_ && !is_text(header.value); });
  }

  std::optional<Refusal> take(const Header& header) {
    const EnvelopeFields& fields = builder_.fields;
    if (header.name == id_header_ && fields.message_id.empty()) {
      return set(member_named("messageId"), id_header_, header.value);
    }
    if (is_content_type(header.name) && fields.content_type.empty()) {
      return set(member_named("contentType"), content_type_header, header.value);
    }
    if (is_trace_parent(header) && fields.trace_parent.empty()) {
      return set(member_named("traceparent"), trace_parent_name, header.value);
    }
    if (header.name == kafka_tombstone_header) return std::nullopt;  // that is for us to say
    return builder_.add_header(builder_.keep(header.name), builder_.keep(header.value));
  }

  std::optional<Refusal> set(const TextMember& member, std::string_view name, std::string_view text) {
    if (why_ == Why::to_keep) {
      keep_text(builder_, member, text);
      return std::nullopt;
    }
    if (!is_text(text)) {
      const bool nul = text.find('\0') != text.npos;
      return Refusal{nul ? Reason::nul_in_text : Reason::invalid_utf8, std::string(name)};
    }
    return builder_.set(member, name, builder_.keep(text));
  }

  const Record& record_;
  const std::string_view id_header_;
  const std::string_view missing_id_;
  const EnvelopeLimits limits_;
  EnvelopeBuilder builder_;
  const Bytes& payload_;
  const Why why_;
};

}  // namespace

Record record_of(const rd_kafka_message_t& message) {
  Record record;
  if (message.key != nullptr) record.key = {static_cast<const char*>(message.key), message.key_len};
  if (message.payload != nullptr) record.value = {{static_cast<const char*>(message.payload), message.len}};
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return record;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t at = 0; rd_kafka_header_get_all(headers, at, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++at) {
    record.headers.push_back(
        {name, value == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(value), size)});
  }
  return record;
}

Delivery read_record(const Record& record, const Reading& how) {
  const Bytes bytes = Bytes::copy_of(record.value.value_or(std::string_view()));
  const Prepared prepared = prepare(record);
  const BinaryMessage message{prepared.headers, prepared.content_type, bytes};
  auto read = read_wire(message, attribute_prefix, how.format, how.limits);
  if (!read) read = NativeReader(record, bytes, how, NativeReader::Why::to_read).read();
  auto* const refusal = std::get_if<Refusal>(&*read);
  if (refusal == nullptr) return delivery_of(std::move(*read), bytes);
  const ReadEnvelope native = NativeReader(record, bytes, how, NativeReader::Why::to_keep).read();
  return refused_delivery(std::move(*refusal), message, attribute_prefix, how.format, std::get<Envelope>(native));
}

WrittenRecord write_record(const Envelope& envelope, WireFormat format) {
  const bool has_mark = envelope.header(kafka_tombstone_header).has_value();
  // Our envelope would be a value, and what is to be forgotten has none.
  if (format == WireFormat::automatic && has_mark && !missing_for_cloudevent(envelope).empty()) {
    format = WireFormat::native;
  }
  WrittenRecord record{write_wire(envelope, attribute_prefix, format), false};
  std::vector<BinaryAttribute>& headers = record.written.headers;
  std::erase_if(headers, [](const BinaryAttribute& header) { return header.name == kafka_tombstone_header; });
  record.tombstone = has_mark && !record.written.owns_body && envelope.payload().empty();
  // Before others of these names: a reader takes the first.
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) headers.insert(headers.begin(), {std::string(name), std::string(value)});
  };
  add(content_type_header, record.written.content_type);
  if (format == WireFormat::native) add(default_id_header, envelope.message_id().text());
  return record;
}

}  // namespace onceward::kafka
