#include "adapters/kafka/produce.h"

#include <array>

namespace onceward::kafka {
namespace {

// Null where there is none; what is empty is there.
rd_kafka_vu_t memory(rd_kafka_vtype_t type, const std::optional<std::string_view>& text) {
  rd_kafka_vu_t made{};
  made.vtype = type;
  if (!text) return made;
  made.u.mem.ptr = const_cast<char*>(text->data() == nullptr ? "" : text->data());
  made.u.mem.size = text->size();
  return made;
}

}  // namespace

rd_kafka_resp_err_t produce(rd_kafka_t* producer, ProducedRecord record) {
  rd_kafka_vu_t topic{}, flags{}, headers{}, opaque{};
  topic.vtype = RD_KAFKA_VTYPE_TOPIC;
  topic.u.cstr = record.topic.c_str();
  flags.vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  flags.u.i = RD_KAFKA_MSG_F_COPY;
  headers.vtype = RD_KAFKA_VTYPE_HEADERS;
  headers.u.headers = record.headers.get();
  opaque.vtype = RD_KAFKA_VTYPE_OPAQUE;
  opaque.u.ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(record.number));
  const std::array parts{
      topic,   flags, memory(RD_KAFKA_VTYPE_KEY, record.key), memory(RD_KAFKA_VTYPE_VALUE, record.value),
      headers, opaque};
  const Error failed(rd_kafka_produceva(producer, parts.data(), parts.size()));
  if (failed) return rd_kafka_error_code(failed.get());
  static_cast<void>(record.headers.release());  // librdkafka's now
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

std::uint64_t number_of(const rd_kafka_message_t& report) { return reinterpret_cast<std::uintptr_t>(report._private); }

void add_header(rd_kafka_headers_t& headers, std::string_view name, std::string_view value) {
  rd_kafka_header_add(&headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                      static_cast<ssize_t>(value.size()));
}

}  // namespace onceward::kafka
