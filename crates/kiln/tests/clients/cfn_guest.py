#!/usr/bin/env python3
"""Reads what a server has to apply as the agent in it does: os-collect-config, unmodified, with the key that
the server was given; and tries what else that key opens.

    cfn_guest.py CLOUDS_YAML
"""
import json
import os
import subprocess
import sys
import tempfile

import boto3
import botocore.config
import botocore.exceptions
import openstack

TEMPLATE = '''
heat_template_version: 2021-04-16
resources:
  config:
    type: OS::Heat::SoftwareConfig
    properties: {group: script, config: 'echo $word', inputs: [{name: word, type: String}]}
  server: {type: OS::Heat::DeployedServer, properties: {name: one}}
  other: {type: OS::Heat::DeployedServer, properties: {name: two}}
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties:
      config: {get_resource: config}
      server: {get_resource: server}
      signal_transport: NO_SIGNAL
      input_values: {word: 'hello & <welcome>'}
outputs:
  collect: {value: {get_attr: [server, os_collect_config]}}
'''


def collected(cfn):
    """What the agent reads."""
    agent = os.path.join(os.path.dirname(sys.executable), 'os-collect-config')
    with tempfile.TemporaryDirectory() as folder:
        command = [agent, 'cfn', '--one-time', '--print', '--config-file', os.devnull,
                   '--cachedir', folder, '--backup-cachedir', folder + '/backup',
                   '--cfn-metadata-url', cfn['metadata_url'], '--cfn-stack-name', cfn['stack_name'],
                   '--cfn-path', cfn['path'], '--cfn-access-key-id', cfn['access_key_id'],
                   '--cfn-secret-access-key', cfn['secret_access_key']]
        said = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert said.returncode == 0, said
    return json.loads(said.stdout)['cfn']


def refused(code, call, **named):
    try:
        call(**named)
    except botocore.exceptions.ClientError as refusal:
        assert refusal.response['Error']['Code'] == code, refusal
        return
    raise AssertionError('%s was not refused' % call)


def main():
    os.environ['OS_CLIENT_CONFIG_FILE'] = sys.argv[1]
    heat = openstack.connect(cloud='kiln').orchestration
    for name in ['guest', 'neighbour']:
        stack = heat.create_stack(name=name, template=TEMPLATE)
        heat.wait_for_status(stack, 'CREATE_COMPLETE', failures=['CREATE_FAILED'], interval=0.2, wait=60)
    stack = heat.get_stack(heat.find_stack('guest').id)
    cfn = stack.outputs[0]['output_value']['cfn']
    told = collected(cfn)
    deployment, = told['deployments']
    assert deployment['config'] == 'echo $word' and deployment['group'] == 'script', deployment
    inputs = {it['name']: it['value'] for it in deployment['inputs'] if 'value' in it}
    assert inputs['word'] == 'hello & <welcome>', inputs
    url = '/stacks/guest/%s/resources/server/metadata' % stack.id
    native = heat.get(url).json()['metadata']
    assert [it['id'] for it in native['deployments']] == [deployment['id']], native
    assert sorted(native) == sorted(told), (native, told)

    client = boto3.client('cloudformation', endpoint_url=cfn['metadata_url'], region_name='RegionOne',
                          aws_access_key_id=cfn['access_key_id'],
                          aws_secret_access_key=cfn['secret_access_key'])
    own = client.describe_stack_resource(StackName='guest', LogicalResourceId='server')
    assert json.loads(own['StackResourceDetail']['Metadata']) == told
    for name in ['other', 'config', 'deployment']:
        refused('AccessDenied', client.describe_stack_resource, StackName='guest', LogicalResourceId=name)
    refused('InvalidParameterValue', client.describe_stack_resource, StackName='neighbour',
            LogicalResourceId='server')
    for call in [client.list_stacks, client.describe_stacks]:
        refused('AccessDenied', call)
    for call in [client.describe_stack_events, client.get_template, client.delete_stack]:
        refused('AccessDenied', call, StackName='guest')


if __name__ == '__main__':
    main()
