"""The routes of routes.ts as a WSGI application that dispatches over PATH_INFO, on the standard library's server."""
import re
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

ROUTES = [
    (re.compile(pattern), name)
    for pattern, name in [
        (r"/items/[^/]+", "item"),
        (r"/items/[^/]+/payments", "payments"),
        (r"/admin/[^/]+", "admin"),
        (r"/export", "export"),
        (r"/users:purge", "purge"),
        (r"/\$metadata", "metadata"),
        (r"/@me", "me"),
        (r"/pages/\$status", "status"),
        (r"/pages/[^/]+", "page"),
        (r"/files/.*", "files"),
        (r"/mono/secure(/.*)?", "secure"),
        (r"/mono/.*", "mono"),
    ]
]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


class Threaded(ThreadingMixIn, WSGIServer):
    daemon_threads = True


def serve_forever(application):
    make_server("127.0.0.1", int(sys.argv[1]), application, Threaded, Quiet).serve_forever()


def application(environ, start_response):
    path = environ["PATH_INFO"]
    name = next((name for pattern, name in ROUTES if pattern.fullmatch(path)), None)
    start_response("200 OK" if name else "404 Not Found", [("Content-Type", "text/plain")])
    return [f"reached {name}".encode() if name else b"not found"]


if __name__ == "__main__":
    serve_forever(application)
