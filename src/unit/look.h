// A session of which nothing is asked but rows, and which is undone at its end.
#pragma once

#include <memory>

#include "onceward/port/store.h"
#include "src/unit/session.h"

namespace onceward {

class SessionLook final : public Look {
 public:
  // Of a session that refuses to write.
  explicit SessionLook(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  ~SessionLook() override { session_->roll_back(); }
  SessionLook(const SessionLook&) = delete;
  SessionLook& operator=(const SessionLook&) = delete;

 private:
  Rows query_values(std::string_view sql, std::span<const Value> values) override;

  const std::unique_ptr<Session> session_;
};

}  // namespace onceward
