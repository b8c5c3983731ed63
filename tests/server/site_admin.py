"""Creates site agents through the admin API of a running server."""
import http.client
import json


def admin(port, path, body=None, method="POST", headers=None):
    """The JSON of a response; anything but success fails the test."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    payload = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    connection.request(method, "/api/admin/" + path, payload, {"content-type": "application/json", **(headers or {})})
    response = connection.getresponse()
    data = response.read()
    connection.close()
    assert response.status < 300, data
    return json.loads(data) if data else None


def published_agent(port, settings, name="Shop"):
    agent = admin(port, "agents", {"name": name, "settings": settings})["id"]
    admin(port, f"agents/{agent}/publish", {})
    return agent
