#!/usr/bin/env python3
"""Deploys stacks with the AWS command line, unmodified: change sets, waiters, and deletion.

    awscli.py CLOUDS_YAML
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import cloudformation

TEMPLATE = '''
AWSTemplateFormatVersion: '2010-09-09'
Description: A word
Parameters:
  Length: {Type: Number, Default: 6}
  Secret: {Type: String, Default: '', NoEcho: true}
Resources:
  Word: {Type: 'OS::Heat::RandomString', Properties: {length: {Ref: Length}}}
Outputs:
  Word: {Value: {'Fn::GetAtt': [Word, value]}}
'''


class Aws:
    """The command line with a key of a user."""

    def __init__(self, clouds, directory):
        access = cloudformation.ApiAccess(clouds)
        self.directory = directory
        self.program = os.path.join(os.path.dirname(sys.executable), 'aws')
        self.endpoint = access.endpoint
        self.environment = {
            'PATH': os.environ['PATH'], 'HOME': directory, 'AWS_ACCESS_KEY_ID': access.access,
            'AWS_SECRET_ACCESS_KEY': access.secret, 'AWS_DEFAULT_REGION': 'RegionOne',
            'AWS_EC2_METADATA_DISABLED': 'true', 'AWS_MAX_ATTEMPTS': '1', 'AWS_PAGER': '',
        }
        self.deployed = 0

    def run(self, *arguments, status=0):
        if arguments[0] == 'deploy':
            # The tool names its change sets by the second, and deploys take less here.
            while int(time.time()) <= self.deployed:
                time.sleep(0.05)
        command = [self.program, '--endpoint-url', self.endpoint, 'cloudformation', *arguments]
        done = subprocess.run(command, env=self.environment, cwd=self.directory, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if arguments[0] == 'deploy':
            self.deployed = int(time.time())
        # Errors of the service end with 254 in version 2 of the tool, and with 255 in version 1.
        expected = {status, 255} if status == 254 else {status}
        assert done.returncode in expected, (arguments, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def json(self, *arguments):
        return json.loads(self.run(*arguments, '--output', 'json'))

    def stack(self, name):
        stack, = self.json('describe-stacks', '--stack-name', name)['Stacks']
        return stack

    def write(self, name, text):
        with open(os.path.join(self.directory, name), 'w', encoding='utf-8') as file:
            file.write(text)


def test_deploy(aws):
    """A stack is created, found unchanged, updated and deleted."""
    aws.write('word.yaml', TEMPLATE)
    deploy = ['deploy', '--template-file', 'word.yaml', '--stack-name', 'deployed']
    assert 'Successfully created/updated stack' in aws.run(*deploy, '--parameter-overrides', 'Secret=hunter2')
    stack = aws.stack('deployed')
    word = stack['Outputs'][0]['OutputValue']
    assert stack['StackStatus'] == 'CREATE_COMPLETE' and len(word) == 6, stack
    assert 'No changes to deploy' in aws.run(*deploy, '--no-fail-on-empty-changeset')
    aws.run(*deploy, '--parameter-overrides', 'Length=9')
    stack = aws.stack('deployed')
    assert stack['StackStatus'] == 'UPDATE_COMPLETE', stack
    assert len(stack['Outputs'][0]['OutputValue']) == 9, stack
    aws.run('delete-stack', '--stack-name', 'deployed')
    aws.run('wait', 'stack-delete-complete', '--stack-name', 'deployed')
    assert 'does not exist' in aws.run('describe-stacks', '--stack-name', 'deployed', status=254)


def test_previous(aws):
    """An update keeps the template, and the values that it is told to keep."""
    aws.write('word.yaml', TEMPLATE)
    create = ['--template-body', 'file://word.yaml', '--parameters', 'ParameterKey=Length,ParameterValue=8']
    aws.run('create-stack', '--stack-name', 'kept', *create)
    aws.run('wait', 'stack-create-complete', '--stack-name', 'kept')
    word = aws.stack('kept')['Outputs'][0]['OutputValue']
    update = ['update-stack', '--stack-name', 'kept', '--use-previous-template']
    aws.run(*update, '--parameters', 'ParameterKey=Length,UsePreviousValue=true')
    aws.run('wait', 'stack-update-complete', '--stack-name', 'kept')
    assert aws.stack('kept')['Outputs'][0]['OutputValue'] == word
    aws.run(*update)
    aws.run('wait', 'stack-update-complete', '--stack-name', 'kept')
    assert len(aws.stack('kept')['Outputs'][0]['OutputValue']) == 6, 'the default of the template is back'
    aws.run('delete-stack', '--stack-name', 'kept')


def test_change_sets(aws):
    """Change sets are shown, listed, become obsolete, and are deleted with a stack that was only to be created."""
    aws.write('word.yaml', TEMPLATE)
    new = ['create-change-set', '--stack-name', 'reviewed', '--template-body', 'file://word.yaml']
    made = aws.json(*new, '--change-set-name', 'first', '--change-set-type', 'CREATE', '--description', 'The first')
    shown = aws.json('describe-change-set', '--change-set-name', made['Id'])
    assert (shown['Status'], shown['ExecutionStatus']) == ('CREATE_COMPLETE', 'AVAILABLE'), shown
    change = shown['Changes'][0]['ResourceChange']
    assert (change['Action'], change['LogicalResourceId']) == ('Add', 'Word'), shown
    assert aws.stack('reviewed')['StackStatus'] == 'REVIEW_IN_PROGRESS'
    named = ['--stack-name', 'reviewed', '--change-set-name', 'first']
    aws.run('execute-change-set', *named)
    aws.run('wait', 'stack-create-complete', '--stack-name', 'reviewed')
    assert aws.stack('reviewed')['StackId'] == made['StackId'], 'the stack has the id that it was given'
    longer = ['--parameters', 'ParameterKey=Length,ParameterValue=12']
    for name in ['second', 'third']:
        aws.run(*new, '--change-set-name', name, *longer)
    shown = aws.json('describe-change-set', '--stack-name', 'reviewed', '--change-set-name', 'second')
    change = shown['Changes'][0]['ResourceChange']
    assert (change['Action'], change['Replacement']) == ('Modify', 'True'), shown
    aws.run('execute-change-set', '--stack-name', 'reviewed', '--change-set-name', 'second')
    aws.run('wait', 'stack-update-complete', '--stack-name', 'reviewed')
    refused = aws.run('execute-change-set', '--stack-name', 'reviewed', '--change-set-name', 'third', status=254)
    assert 'InvalidChangeSetStatus' in refused and 'OBSOLETE' in refused, refused
    listed = aws.json('list-change-sets', '--stack-name', 'reviewed')['Summaries']
    states = {it['ChangeSetName']: it['ExecutionStatus'] for it in listed}
    assert states == {'first': 'EXECUTE_COMPLETE', 'second': 'EXECUTE_COMPLETE', 'third': 'OBSOLETE'}, states
    aws.run('delete-change-set', '--stack-name', 'reviewed', '--change-set-name', 'third')
    missing = ['describe-change-set', '--stack-name', 'reviewed', '--change-set-name', 'third']
    assert 'ChangeSetNotFound' in aws.run(*missing, status=254)
    aws.run('delete-stack', '--stack-name', 'reviewed')
    aws.run('wait', 'stack-delete-complete', '--stack-name', 'reviewed')


def test_refusals(aws):
    """Templates and stacks that are not valid are faults that tools of AWS know."""
    aws.write('wrong.yaml', 'heat_template_version: 2021-04-16\nresources: {r: {type: No::Such}}\n')
    refused = aws.run('validate-template', '--template-body', 'file://wrong.yaml', status=254)
    assert 'ValidationError' in refused and 'No::Such' in refused, refused
    new = ['create-change-set', '--stack-name', 'none', '--change-set-name', 'c']
    refused = aws.run(*new, '--template-body', 'file://wrong.yaml', status=254)
    assert 'ValidationError' in refused, refused


def main():
    with tempfile.TemporaryDirectory() as directory:
        aws = Aws(sys.argv[1], directory)
        for test in [test_deploy, test_previous, test_change_sets, test_refusals]:
            print(test.__name__)
            test(aws)


if __name__ == '__main__':
    main()
