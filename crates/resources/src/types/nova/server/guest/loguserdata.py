#!/usr/bin/env python3
# Runs the user's part of the user data, and keeps what it prints.

import datetime
import os
import subprocess
import sys

FOLDER = "/var/lib/heat-cfntools"
SCRIPT = os.path.join(FOLDER, "cfn-userdata")
FINISHED = os.path.join(FOLDER, "provision-finished")
LOG = "/var/log/heat-provision.log"


def note(log, text):
    log.write("%s %s\n" % (datetime.datetime.now().isoformat(), text))
    log.flush()


def main():
    with open(LOG, "a") as log:
        os.chmod(LOG, 0o600)
        if not os.path.exists(SCRIPT) or os.path.getsize(SCRIPT) == 0:
            note(log, "there is nothing to run")
            code = 0
        else:
            os.chmod(SCRIPT, 0o700)
            note(log, "begins")
            try:
                code = subprocess.call([SCRIPT], stdout=log, stderr=subprocess.STDOUT)
            except OSError as error:
                note(log, "cannot be run: %s" % error)
                # A text without a first line that says how to run it is no script: that is allowed.
                code = 0 if error.errno == 8 else 1
            note(log, "ends with %d" % code)
    if code == 0:
        open(FINISHED, "a").close()
    return code


if __name__ == "__main__":
    sys.exit(main())
