#!/usr/bin/env python3
"""Uses boto3, unmodified, for the actions of the CloudFormation API that Heat has; and signs requests by hand where
boto3 would not make them.

    cloudformation.py CLOUDS_YAML [CLOUD ENDPOINT TEST ...]

Without anything else, all tests with the cloud called kiln; or some, with another cloud, elsewhere.
"""
import base64
import datetime
import hashlib
import hmac
import json
import sys
import time
import urllib.parse

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions
import requests

import cloud

TEMPLATE = '''
heat_template_version: 2021-04-16
description: A word
parameters:
  length: {type: number, default: 6, description: How long}
  pin: {type: string, default: '', hidden: true}
resources:
  word: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
outputs:
  word: {description: The word, value: {get_attr: [word, value]}}
'''
SLOW = '''
heat_template_version: 2021-04-16
parameters:
  value: {type: string}
resources:
  slow: {type: OS::Heat::TestResource, properties: {value: {get_param: value}, action_wait_secs: {update: 60}}}
'''


class ApiAccess:
    """The endpoint of the API, and a key for it."""

    def __init__(self, clouds, name='kiln', endpoint=None):
        user = cloud.session(clouds, name)
        self.endpoint, self.cloudwatch = endpoint, None
        if endpoint is None:
            self.endpoint = user.get_endpoint(service_type='cloudformation')
            self.cloudwatch = user.get_endpoint(service_type='cloudwatch')
        made = user.post('/users/%s/credentials/OS-EC2' % user.get_user_id(),
                         json={'tenant_id': user.get_project_id()},
                         endpoint_filter={'service_type': 'identity'}).json()['credential']
        self.access, self.secret = made['access'], made['secret']
        self.project, self.token = user.get_project_id(), user.get_token()

    def client(self, version='v4', access=None, secret=None):
        # A retry would hide what is answered first.
        config = botocore.config.Config(signature_version=version, retries={'total_max_attempts': 1})
        return boto3.client(
            'cloudformation', endpoint_url=self.endpoint, region_name='RegionOne', config=config,
            aws_access_key_id=access or self.access, aws_secret_access_key=secret or self.secret)

    def signed(self, params, when=None, version='2', secret=None):
        """Parameters with a signature of an old version."""
        params = dict(params, AWSAccessKeyId=self.access, SignatureVersion=version)
        if when is not False:
            when = when or datetime.datetime.now(datetime.timezone.utc)
            params['Timestamp'] = when.strftime('%Y-%m-%dT%H:%M:%SZ')
        if version == '2':
            params['SignatureMethod'] = 'HmacSHA256'
            query = '&'.join('%s=%s' % (urllib.parse.quote(name, safe=''), urllib.parse.quote(value, safe='-_~'))
                             for name, value in sorted(params.items()))
            url = urllib.parse.urlsplit(self.endpoint)
            text = '\n'.join(['GET', url.netloc, url.path + '/', query])
        elif version == '1':
            text = ''.join(name + params[name] for name in sorted(params, key=str.lower))
        else:
            text = params['Action'] + params['Timestamp']
        digest = hashlib.sha256 if version == '2' else hashlib.sha1
        mac = hmac.new((secret or self.secret).encode(), text.encode(), digest).digest()
        return dict(params, Signature=base64.b64encode(mac).decode())

    def get(self, params):
        return requests.get(self.endpoint + '/', params=params, timeout=60)


def refused(code, status, call, *arguments, **named):
    """Asserts that a call is refused with a code, and gives what is said."""
    try:
        call(*arguments, **named)
    except botocore.exceptions.ClientError as refusal:
        error = refusal.response['Error']
        assert error['Code'] == code, refusal
        assert refusal.response['ResponseMetadata']['HTTPStatusCode'] == status, refusal
        return error['Message']
    raise AssertionError('%s was not refused' % call)


def is_refused(answer, code, status):
    """Asserts that an answer is a refusal, in XML."""
    assert answer.status_code == status and answer.reason == code, (answer.reason, answer.text)
    assert '<Code>%s</Code>' % code in answer.text, answer.text


def until(client, name, status):
    """Waits until a stack is in a state."""
    for _ in range(600):
        stack, = client.describe_stacks(StackName=name)['Stacks']
        if stack['StackStatus'] == status:
            return stack
        assert not stack['StackStatus'].endswith('_FAILED'), stack
        time.sleep(0.1)
    raise AssertionError('%s is %s' % (name, stack['StackStatus']))


def all_actions(api, version):
    client, name = api.client(version), 'boto-' + version
    arn = client.create_stack(
        StackName=name, TemplateBody=TEMPLATE, TimeoutInMinutes=5, OnFailure='DO_NOTHING',
        Parameters=[{'ParameterKey': 'length', 'ParameterValue': '9'},
                    {'ParameterKey': 'pin', 'ParameterValue': 's3cret & <more>'}])['StackId']
    assert arn.startswith('arn:openstack:heat::%s:stacks/%s/' % (api.project, name)), arn
    client.get_waiter('stack_create_complete').wait(
        StackName=arn, WaiterConfig={'Delay': 1, 'MaxAttempts': 60})
    stack, = client.describe_stacks(StackName=name)['Stacks']
    assert stack['StackId'] == arn and stack['Description'] == 'A word', stack
    assert stack['DisableRollback'] is True and stack['TimeoutInMinutes'] == 5, stack
    assert isinstance(stack['CreationTime'], datetime.datetime) and 'LastUpdatedTime' not in stack, stack
    parameters = {it['ParameterKey']: it['ParameterValue'] for it in stack['Parameters']}
    assert parameters['length'] == '9' and parameters['pin'] == '******', parameters
    output, = stack['Outputs']
    assert output['OutputKey'] == 'word' and len(output['OutputValue']) == 9, output
    assert arn in [it['StackId'] for it in client.describe_stacks()['Stacks']]
    summary, = [it for it in client.list_stacks()['StackSummaries'] if it['StackId'] == arn]
    assert summary['StackStatus'] == 'CREATE_COMPLETE' and 'DeletionTime' not in summary, summary

    resource, = client.list_stack_resources(StackName=arn)['StackResourceSummaries']
    assert resource['LogicalResourceId'] == 'word', resource
    assert resource['ResourceType'] == 'OS::Heat::RandomString', resource
    shown, = client.describe_stack_resources(StackName=name, LogicalResourceId='word')['StackResources']
    assert shown['StackId'] == arn and isinstance(shown['Timestamp'], datetime.datetime), shown
    again, = client.describe_stack_resources(
        PhysicalResourceId=shown['PhysicalResourceId'])['StackResources']
    assert again == shown, again
    detail = client.describe_stack_resource(StackName=name, LogicalResourceId='word')['StackResourceDetail']
    assert detail['ResourceStatus'] == 'CREATE_COMPLETE' and detail['Metadata'] == '', detail
    events = client.describe_stack_events(StackName=name)['StackEvents']
    assert events[0]['ResourceStatus'] == 'CREATE_COMPLETE' and len(events) == 4, events
    properties = [json.loads(it['ResourceProperties']) for it in events]
    assert any(it.get('length') == 9 for it in properties), properties
    assert len(list(client.get_paginator('describe_stack_events').paginate(StackName=name))) == 1
    assert client.get_template(StackName=name)['TemplateBody']['description'] == 'A word'

    told = client.validate_template(TemplateBody=TEMPLATE)
    assert told['Description'] == 'A word', told
    assert [it['ParameterKey'] for it in told['Parameters']] == ['length', 'pin'], told
    assert [it['NoEcho'] for it in told['Parameters']] == [False, True], told
    assert told['Parameters'][0]['DefaultValue'] == '6', told
    assert client.estimate_template_cost(TemplateBody=TEMPLATE)['Url'].startswith('http')

    assert client.update_stack(StackName=name, TemplateBody=TEMPLATE)['StackId'] == arn
    until(client, name, 'UPDATE_COMPLETE')
    refused('InvalidParameterValue', 400, client.cancel_update_stack, StackName=name)
    refused('AlreadyExists', 400, client.create_stack, StackName=name, TemplateBody=TEMPLATE)
    client.delete_stack(StackName=name)
    client.get_waiter('stack_delete_complete').wait(
        StackName=arn, WaiterConfig={'Delay': 1, 'MaxAttempts': 60})
    message = refused('ValidationError', 400, client.describe_stacks, StackName=name)
    assert message.endswith('Stack with id %s does not exist' % name), message


def test_all_actions_signed_as_today(api):
    all_actions(api, 'v4')


def test_all_actions_signed_as_formerly(api):
    all_actions(api, 'v2')


def test_an_update_is_given_up(api):
    client = api.client()
    first = [{'ParameterKey': 'value', 'ParameterValue': 'a'}]
    second = [{'ParameterKey': 'value', 'ParameterValue': 'b'}]
    client.create_stack(StackName='boto-slow', TemplateBody=SLOW, Parameters=first)
    until(client, 'boto-slow', 'CREATE_COMPLETE')
    client.update_stack(StackName='boto-slow', TemplateBody=SLOW, Parameters=second)
    client.cancel_update_stack(StackName='boto-slow')
    stack, = client.describe_stacks(StackName='boto-slow')['Stacks']
    assert stack['StackStatus'].startswith('ROLLBACK_'), stack
    client.delete_stack(StackName='boto-slow')


def test_mistakes_are_told(api):
    client = api.client()
    message = refused('InvalidParameterValue', 400, client.create_stack, StackName='x', TemplateBody='{')
    assert message.endswith(':The Template must be a JSON or YAML document.'), message
    message = refused('InvalidParameterValue', 400, client.create_stack, StackName='x',
                      TemplateURL='file:///etc/passwd')
    assert message.endswith(':Failed to fetch template: Invalid URL scheme file'), message
    refused('InvalidParameterCombination', 400, client.create_stack, StackName='x', TemplateBody=TEMPLATE,
            DisableRollback=True, OnFailure='DELETE')
    refused('InvalidAction', 400, client.list_exports)
    is_refused(api.get(api.signed({'Action': 'MakeCoffee'})), 'InvalidAction', 400)
    is_refused(api.get(api.signed({})), 'InvalidAction', 400)
    malformed = {'Action': 'CreateStack', 'StackName': 'x', 'TemplateBody': TEMPLATE,
                 'Parameters.member.one.ParameterKey': 'length'}
    is_refused(api.get(api.signed(malformed)), 'InvalidQueryParameter', 400)
    answer = requests.post(api.endpoint + '/', data={'Action': 'ListStacks', 'Junk': 'x' * (2 << 20)}, timeout=60)
    is_refused(answer, 'RequestLimitExceeded', 400)


def test_json_is_answered_where_it_is_asked_for(api):
    answer = api.get(api.signed({'Action': 'ListStacks', 'ContentType': 'JSON'}))
    assert answer.headers['Content-Type'] == 'application/json', answer.headers
    assert answer.json()['ListStacksResponse']['ListStacksResult']['StackSummaries'] is not None
    answer = api.get(api.signed({'Action': 'GetTemplate', 'ContentType': 'JSON'}))
    error = answer.json()['ErrorResponse']['Error']
    assert answer.status_code == 400 and error['Code'] == 'MissingParameter', answer.text
    assert error['Message'].endswith(':StackName') and error['Type'] == 'Sender', error


def test_old_signatures_are_good(api):
    for version in ['0', '1', '2']:
        answer = api.get(api.signed({'Action': 'ListStacks'}, version=version))
        assert answer.status_code == 200, (version, answer.text)
        wrong = api.get(api.signed({'Action': 'ListStacks'}, version=version, secret='guess'))
        is_refused(wrong, 'AccessDenied', 403)


def test_a_signature_in_the_address_is_good(api):
    url = api.client().generate_presigned_url('list_stacks', HttpMethod='GET')
    assert requests.get(url, timeout=60).status_code == 200
    is_refused(requests.get(url.replace('ListStacks', 'DescribeStacks'), timeout=60), 'AccessDenied', 403)


def test_wrong_ones_are_refused(api):
    for version in ['v4', 'v2']:
        refused('AccessDenied', 403, api.client(version, secret='guess').list_stacks)
        refused('InvalidClientTokenId', 403, api.client(version, access='nobody').list_stacks)
    is_refused(api.get({'Action': 'ListStacks'}), 'IncompleteSignature', 400)
    is_refused(api.get({'Action': 'ListStacks', 'Signature': 'x'}), 'MissingAuthenticationToken', 403)
    changed = api.signed({'Action': 'ListStacks'})
    is_refused(api.get(dict(changed, Action='DescribeStacks')), 'AccessDenied', 403)


def test_expired_ones_are_refused(api):
    now = datetime.datetime.now(datetime.timezone.utc)
    for minutes in [-16, 16]:
        when = now + datetime.timedelta(minutes=minutes)
        answer = api.get(api.signed({'Action': 'ListStacks'}, when))
        is_refused(answer, 'RequestExpired', 400)
    when = now - datetime.timedelta(minutes=14)
    assert api.get(api.signed({'Action': 'ListStacks'}, when)).status_code == 200


def is_not_repeated(again, first):
    """Asserts that a replay is refused, or gets the answer to the first request within the second that both name."""
    if again.status_code == 200:
        assert again.text == first, again.text
    else:
        is_refused(again, 'RequestExpired', 400)


def test_replayed_ones_are_not_carried_out(api):
    client, sent = api.client(), []
    client.meta.events.register('before-send.cloudformation.*', lambda request, **_: sent.append(request))
    answers = []
    client.meta.events.register('response-received.cloudformation.*', lambda response_dict, **_: answers.append(
        response_dict['body'].decode()))
    client.create_stack(StackName='boto-again', TemplateBody=TEMPLATE)
    until(client, 'boto-again', 'CREATE_COMPLETE')
    client.delete_stack(StackName='boto-again')
    for request, first in [(sent[0], answers[0]), (sent[-1], answers[-1])]:
        again = requests.request(request.method, request.url, data=request.body, timeout=60,
                                 headers={name: value for name, value in request.headers.items()})
        is_not_repeated(again, first)
    once = api.signed({'Action': 'DeleteStack', 'StackName': 'nobody'})
    for _ in range(2):
        is_refused(api.get(once), 'InvalidParameterValue', 400)
    # Two who ask the same within a second have the same signature.
    assert all('StackSummaries' in api.client().list_stacks() for _ in range(3))
    # Whoever does not say when they sign means it for ever.
    lasting = api.signed({'Action': 'ListStacks'}, False)
    assert [api.get(lasting).status_code for _ in range(2)] == [200, 200]


def test_what_was_not_signed_does_not_count(api):
    headers = {'Content-Type': 'application/x-www-form-urlencoded'}
    request = botocore.awsrequest.AWSRequest('POST', api.endpoint + '/', headers, 'Action=ListStacks')
    credentials = botocore.credentials.Credentials(api.access, api.secret)
    botocore.auth.SigV4Auth(credentials, 'cloudformation', 'RegionOne').add_auth(request)
    answer = requests.post(request.url + '?ContentType=JSON&Action=DescribeStacks', data=request.data,
                           headers=dict(request.headers), timeout=60)
    assert answer.text.startswith('<ListStacksResponse>'), answer.text


def test_calls_of_newer_tools_are_understood(api):
    def client(secret):
        return boto3.client('cloudwatch', endpoint_url=api.cloudwatch, region_name='RegionOne',
                            aws_access_key_id=api.access, aws_secret_access_key=secret)
    # There is no such action: that is what the client is told, in its own way.
    refused('InvalidAction', 400, client(api.secret).list_dashboards)
    refused('AccessDenied', 403, client('guess').list_dashboards)


def test_a_token_will_do(api):
    headers = {'X-Auth-User': 'demo', 'X-Auth-Token': api.token}
    ask = {'params': {'Action': 'ListStacks'}, 'timeout': 60}
    assert requests.get(api.endpoint + '/', headers=headers, **ask).status_code == 200
    headers['X-Auth-Token'] = 'made-up'
    assert requests.get(api.endpoint + '/', headers=headers, **ask).status_code == 401


def main():
    clouds, wanted = sys.argv[1], sys.argv[4:]
    api = ApiAccess(clouds, *sys.argv[2:4])
    tests = {name: test for name, test in globals().items() if name.startswith('test_')}
    for name, test in [(it, tests[it]) for it in wanted or tests]:
        print(name, flush=True)
        test(api)


if __name__ == '__main__':
    main()
