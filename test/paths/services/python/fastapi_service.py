"""The routes of routes.ts on FastAPI, served by uvicorn."""
import sys

import uvicorn
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

app = FastAPI(default_response_class=PlainTextResponse)
ANY = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def serve(path: str, name: str, methods: list[str]) -> None:
    app.add_api_route(path, lambda: f"reached {name}", methods=methods)


serve("/items/{id}", "item", ["GET"])
serve("/items/{id}/payments", "payments", ["GET"])
serve("/admin/{id}", "admin", ANY)
serve("/export", "export", ["GET"])
serve("/users:purge", "purge", ["GET"])
serve("/$metadata", "metadata", ["GET"])
serve("/@me", "me", ["GET"])
serve("/pages/$status", "status", ["GET"])
serve("/pages/{name}", "page", ["GET"])
serve("/files/{rest:path}", "files", ["GET"])
serve("/mono/secure", "secure", ANY)
serve("/mono/secure/{rest:path}", "secure", ANY)
serve("/mono/{rest:path}", "mono", ANY)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
