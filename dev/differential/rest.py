"""HTTP with JSON bodies: the one way in which this tool talks to services."""

import http.client
import json
import urllib.parse

TIMEOUT = 120


def call(method, url, token=None, body=None, headers=None):
    """Sends a request; returns the status, the body (JSON where it is JSON, else text) and the headers."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT)
    target = parts.path or "/"
    if parts.query:
        target += "?" + parts.query
    sent = {"Accept": "application/json", **(headers or {})}
    if token:
        sent["X-Auth-Token"] = token
    if body is not None:
        sent["Content-Type"] = "application/json"
        body = json.dumps(body)
    try:
        connection.request(method, target, body, sent)
        reply = connection.getresponse()
        text = reply.read().decode("utf-8", "replace")
    finally:
        connection.close()
    try:
        answer = json.loads(text) if text else None
    except ValueError:
        answer = text
    return reply.status, answer, reply.headers


def ask(method, url, token=None, body=None):
    """The body of a reply that must be a success."""
    status, answer, _ = call(method, url, token, body)
    if status >= 300:
        raise RuntimeError(f"{method} {url}: {status} {answer}")
    return answer
