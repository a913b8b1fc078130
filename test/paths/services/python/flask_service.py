"""The routes of routes.ts on Flask, on the standard library's WSGI server."""
from flask import Flask

from wsgi import serve_forever

app = Flask(__name__)
ANY = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def serve(path: str, name: str, methods: list[str]) -> None:
    app.add_url_rule(path, path, lambda **_: f"reached {name}", methods=methods)


serve("/items/<id>", "item", ["GET"])
serve("/items/<id>/payments", "payments", ["GET"])
serve("/admin/<id>", "admin", ANY)
serve("/export", "export", ["GET"])
serve("/users:purge", "purge", ["GET"])
serve("/$metadata", "metadata", ["GET"])
serve("/@me", "me", ["GET"])
serve("/pages/$status", "status", ["GET"])
serve("/pages/<name>", "page", ["GET"])
serve("/files/<path:rest>", "files", ["GET"])
serve("/mono/secure", "secure", ANY)
serve("/mono/secure/<path:rest>", "secure", ANY)
serve("/mono/<path:rest>", "mono", ANY)

if __name__ == "__main__":
    serve_forever(app)
