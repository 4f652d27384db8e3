"""A server that takes what `curl --upload-file` sends, and answers with how many bytes came."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer


class Uploads(BaseHTTPRequestHandler):
    """Answers PUT."""

    # Of this version, which tells curl at once that it may send.
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = f"{len(body)} bytes".encode()
        self.send_response(201)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


if __name__ == "__main__":
    with HTTPServer(("", 8000), Uploads) as server:
        print("serving", flush=True)
        server.serve_forever()
