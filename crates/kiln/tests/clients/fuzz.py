#!/usr/bin/env python3
"""Tries what the OpenAPI document allows, and some of what it does not, with schemathesis.

    fuzz.py CLOUDS_YAML

Every answer must be one that the document tells of, and none may be the server's fault. The seed is
fixed: what is tried is the same every time.
"""
import os
import subprocess
import sys
import tempfile

import openstack

CHECKS = ('not_a_server_error', 'status_code_conformance', 'content_type_conformance',
          'response_schema_conformance')
EXAMPLES = 8
TEMPLATE = '''
heat_template_version: 2021-04-16
parameters: {p: {type: string, default: a}}
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  word: {type: OS::Heat::RandomString}
outputs: {word: {value: {get_attr: [word, value]}}}
'''


def things(heat):
    """One of each, to be named in paths."""
    stack = heat.create_stack(name='tried', template=TEMPLATE)
    heat.wait_for_status(stack, 'CREATE_COMPLETE', failures=['CREATE_FAILED'], interval=0.2, wait=60)
    config = heat.create_software_config(name='tried', config='true', group='script')
    deployment = heat.create_software_deployment(config_id=config.id, server_id='a-server')
    path = '/stacks/tried/%s/snapshots' % stack.id
    snapshot = heat.post(path, json={}).json()
    event = next(heat.stack_events(stack, 'handle'))
    return {
        'stack_name': 'tried', 'stack_id': stack.id, 'resource_name': 'handle', 'output_key': 'word',
        'snapshot_id': snapshot['id'], 'event_id': event.id, 'config_id': config.id,
        'deployment_id': deployment.id, 'server_id': 'a-server',
        'type_name': 'OS::Heat::RandomString', 'template_version': 'heat_template_version.2021-04-16',
    }


def run(heat, folder, parameters, *options):
    """Tries with these parts of paths given; true if nothing was wrong."""
    endpoint = heat.get_endpoint()
    origin, _, project = endpoint.partition('/v1/')
    parameters = dict(parameters, tenant_id=project)
    settings = os.path.join(folder, 'schemathesis.toml')
    with open(settings, 'w', encoding='utf-8') as settings_file:
        settings_file.write('[parameters]\n')
        settings_file.writelines('"path.%s" = "%s"\n' % pair for pair in parameters.items())
    program = os.path.join(os.path.dirname(sys.executable), 'schemathesis')
    command = [program, '--config-file', settings, 'run', origin + '/openapi.json', '--no-color',
               '--header', 'X-Auth-Token: ' + heat.session.get_token(), '--checks', ','.join(CHECKS),
               '--seed', '1', '--max-examples', str(EXAMPLES),
               '--phases', 'coverage,fuzzing', '--warnings', 'off', '--continue-on-failure', *options]
    return subprocess.run(command, cwd=folder, check=False).returncode == 0


def main():
    os.environ['OS_CLIENT_CONFIG_FILE'] = sys.argv[1]
    heat = openstack.connect(cloud='kiln').orchestration
    with tempfile.TemporaryDirectory(prefix='kiln-fuzz-') as folder:
        is_good = run(heat, folder, {})
        # The same of things that there are; what removes them is left out.
        is_good &= run(heat, folder, things(heat), '--exclude-method', 'DELETE')
    return not is_good


if __name__ == '__main__':
    sys.exit(main())
