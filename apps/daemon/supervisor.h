// What whoever started us wants to know: systemd's protocol (Type=notify). Says nothing where nobody listens.
#pragma once

namespace onceward::daemon {

void tell_ready();
void tell_stopping();

}  // namespace onceward::daemon
