# part-handler
# Tells cloud-init what to do with parts of type text/x-cfninitdata: each becomes a file.

import datetime
import os

FOLDERS = ["/var/lib/heat-cfntools", "/var/lib/cloud/data"]
LOG = "/var/log/part-handler.log"


def list_types():
    return ["text/x-cfninitdata"]


def note(text):
    with open(LOG, "a") as log:
        log.write("%s %s\n" % (datetime.datetime.now().isoformat(), text))


def handle_part(data, ctype, filename, payload):
    if ctype == "__begin__":
        for folder in FOLDERS:
            if not os.path.isdir(folder):
                os.makedirs(folder, 0o700)
        return
    if ctype == "__end__":
        return
    if isinstance(payload, bytes):
        content = payload
    else:
        content = payload.encode("utf-8")
    for folder in FOLDERS:
        path = os.path.join(folder, os.path.basename(filename))
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(content)
            note("wrote %s, %d bytes" % (path, len(content)))
        except (IOError, OSError) as error:
            note("could not write %s: %s" % (path, error))
