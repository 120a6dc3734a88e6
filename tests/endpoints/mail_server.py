"""A mail server for tests: Debian's aiosmtpd, which writes down each mail before it answers.

mail_server.py LOG [--port N] [--starttls CERTIFICATE KEY | --tls CERTIFICATE KEY] [--login USER PASSWORD]

The first recipient says how it behaves: refuse@ and busy@ are refused with 550 and 451 at once, refuse-data@ and busy-data@ with 554
and 451 when the whole mail is there; drop@ loses the connection before the mail, drop-data@ after it; mute-data@ never gets an answer
to its mail, and mute-quit@ none to its goodbye.
"""

import argparse
import asyncio
import email
import email.policy
import json
import ssl

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

AT_ONCE = {"refuse": "550 no such user", "busy": "451 try again later"}
AFTER_DATA = {"refuse-data": "554 refused", "busy-data": "451 no room"}


class Handler:
    def __init__(self, log):
        self.log = log
        self.behaviour = {}  # by session

    async def handle_RCPT(self, server, session, envelope, address, _options):
        behaviour = address.split("@")[0]
        self.behaviour.setdefault(session, behaviour)
        if behaviour == "drop":
            server.transport.abort()
        if behaviour in AT_ONCE:
            return AT_ONCE[behaviour]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        user = session.auth_data.decode() if session.auth_data else ""
        read = email.message_from_bytes(envelope.content, policy=email.policy.default)
        mail = {"from": envelope.mail_from, "to": envelope.rcpt_tos, "user": user, "tls": session.ssl is not None,
                "subject": read["Subject"] or "", "text": read.get_body().get_content(),
                "data": envelope.content.decode("utf-8", "replace")}
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(json.dumps(mail) + "\n")
        behaviour = self.behaviour[session]
        if behaviour == "drop-data":
            server.transport.abort()
        if behaviour in ("drop-data", "mute-data"):
            await asyncio.sleep(3600)
        return AFTER_DATA.get(behaviour, "250 2.0.0 queued as 4711")

    async def handle_QUIT(self, _server, session, _envelope):
        if self.behaviour.get(session) == "mute-quit":
            await asyncio.sleep(3600)
        return "221 Bye"


def authenticator(login):
    def check(_server, _session, _envelope, _mechanism, data):
        right = isinstance(data, LoginPassword) and [data.login.decode(), data.password.decode()] == login
        return AuthResult(success=right, handled=False, auth_data=data.login if right else None)
    return check


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--starttls", nargs=2)
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--login", nargs=2)
    options = parser.parse_args()
    context = None
    if options.starttls or options.tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*(options.starttls or options.tls))
    handler = Handler(options.log)

    def connection():
        return SMTP(handler, hostname="mail.example", tls_context=context if options.starttls else None,
                    authenticator=authenticator(options.login) if options.login else None,
                    auth_required=bool(options.login), auth_require_tls=bool(options.starttls))

    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", options.port,
                                                            ssl=context if options.tls else None)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
