// A method with content (a delivery, a return), put together from its frames. Properties and method stay in the library's
// memory until it is whole.
#pragma once

#include <amqp.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/rabbitmq/replies.h"

namespace onceward::rabbitmq {

class Content {
 public:
  static constexpr std::uint64_t most_bytes = 536'870'912;  // RabbitMQ's own limit
  static constexpr std::size_t most_kept_bytes = 1u << 20;  // of a large one, for the next

  bool begun() const { return begun_; }
  void begin() {
    begun_ = true;
    properties_ = nullptr;
    fragment_ = {};
    body_.clear();
    if (body_.capacity() > most_kept_bytes) body_.shrink_to_fit();
  }
  // False: the frame has no place here. The message is whole when is_whole() says so.
  bool add(const amqp_frame_t& frame) {
    if (!begun_) return false;
    if (frame.frame_type == AMQP_FRAME_HEADER && properties_ == nullptr) {
      properties_ = static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
      expected_ = frame.payload.properties.body_size;
      return frame.payload.properties.class_id == AMQP_BASIC_CLASS && expected_ <= most_bytes;
    }
    if (frame.frame_type != AMQP_FRAME_BODY || properties_ == nullptr) return false;
    const std::string_view bytes = view(frame.payload.body_fragment);
    if (bytes.size() > expected_ - size()) return false;
    if (bytes.size() == expected_) {
      fragment_ = bytes;  // all of it in one: the rule
    } else {
      body_.append(bytes);
    }
    return true;
  }
  bool is_whole() const { return properties_ != nullptr && size() == expected_; }

  const amqp_basic_properties_t& properties() const { return *properties_; }
  std::string_view body() const { return fragment_.empty() ? std::string_view(body_) : fragment_; }
  void end() { begun_ = false; }

 private:
  std::uint64_t size() const { return fragment_.size() + body_.size(); }

  bool begun_ = false;
  const amqp_basic_properties_t* properties_ = nullptr;
  std::uint64_t expected_ = 0;
  std::string_view fragment_;
  std::string body_;
};

}  // namespace onceward::rabbitmq
