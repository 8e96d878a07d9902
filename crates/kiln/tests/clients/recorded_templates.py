#!/usr/bin/env python3
"""Runs the recorded template cases with their own runner.

    recorded_templates.py CLOUDS_YAML RUNNER CASES
"""
import subprocess
import sys

import cloud


def main():
    clouds, runner, cases = sys.argv[1:]
    endpoint, token = cloud.orchestration(clouds)
    command = [sys.executable, runner, endpoint, token, cases, '--quiet']
    return subprocess.run(command, check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
