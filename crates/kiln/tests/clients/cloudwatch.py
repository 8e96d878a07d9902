#!/usr/bin/env python3
"""Uses boto3, unmodified, for all 11 actions of the CloudWatch API; and the older forms with requests signed by
hand.

    cloudwatch.py CLOUDS_YAML
"""
import datetime
import json
import sys
import time

import boto3
import botocore.config

import cloud
from cloudformation import ApiAccess, refused

TEMPLATE = '''
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 3, resource: {type: OS::Heat::RandomString}}
''' + cloud.sample('scaling_policy') + '''\
  high:
    type: OS::Heat::CWLiteAlarm
    properties:
      MetricName: CPUUtilization
      Namespace: system/linux
      Statistic: Maximum
      Period: '1'
      EvaluationPeriods: '1'
      Threshold: '70'
      ComparisonOperator: GreaterThanThreshold
      AlarmActions: [{get_resource: up}]
outputs:
  size: {value: {get_attr: [group, current_size]}}
'''
RULE = dict(MetricName='m', Namespace='n', Statistic='Sum', Period=60, EvaluationPeriods=3, DatapointsToAlarm=2,
            Threshold=1.5, ComparisonOperator='LessThanThreshold', TreatMissingData='notBreaching')


class CloudWatchAccess(ApiAccess):
    """The endpoint of the CloudWatch API, and a key for it."""

    def __init__(self, clouds):
        super().__init__(clouds)
        self.endpoint = cloud.session(clouds).get_endpoint(service_type='cloudwatch')

    def client(self):
        config = botocore.config.Config(retries={'total_max_attempts': 1})
        return boto3.client('cloudwatch', endpoint_url=self.endpoint, region_name='RegionOne', config=config,
                            aws_access_key_id=self.access, aws_secret_access_key=self.secret)


def until(look):
    """Waits until something is so, and gives it."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = look()
        if found:
            return found
    raise AssertionError('it never was so')


def own_alarms(client):
    """PutMetricAlarm, DescribeAlarms, SetAlarmState, history, actions on and off, DeleteAlarms."""
    for number in range(3):
        client.put_metric_alarm(AlarmName='own-%d' % number, Dimensions=[{'Name': 'Host', 'Value': 'a'}], **RULE)
    pages = client.get_paginator('describe_alarms').paginate(
        AlarmNamePrefix='own', PaginationConfig={'PageSize': 2})
    alarms = [alarm for page in pages for alarm in page['MetricAlarms']]
    assert [alarm['AlarmName'] for alarm in alarms] == ['own-0', 'own-1', 'own-2'], alarms
    first = alarms[0]
    assert (first['Threshold'], first['Period'], first['ActionsEnabled']) == (1.5, 60, True), first
    assert first['Dimensions'] == [{'Name': 'Host', 'Value': 'a'}], first
    assert isinstance(first['StateUpdatedTimestamp'], datetime.datetime), first
    found = client.describe_alarms_for_metric(MetricName='m', Namespace='n')['MetricAlarms']
    assert len(found) == 3, found
    client.set_alarm_state(AlarmName='own-0', StateValue='ALARM', StateReason='hot', StateReasonData='{"a": 1}')
    alarm, = client.describe_alarms(AlarmNames=['own-0', 'none'])['MetricAlarms']
    assert (alarm['StateValue'], alarm['StateReason']) == ('ALARM', 'hot'), alarm
    client.disable_alarm_actions(AlarmNames=['own-0', 'none'])
    alarm, = client.describe_alarms(AlarmNames=['own-0'])['MetricAlarms']
    assert alarm['ActionsEnabled'] is False, alarm
    client.enable_alarm_actions(AlarmNames=['own-0'])
    pages = client.get_paginator('describe_alarm_history').paginate(
        AlarmName='own-0', ScanBy='TimestampAscending', PaginationConfig={'PageSize': 1})
    items = [item for page in pages for item in page['AlarmHistoryItems']]
    summaries = [item['HistorySummary'] for item in items]
    assert summaries == ['Alarm "own-0" created', 'Alarm updated from INSUFFICIENT_DATA to ALARM',
                         'Alarm "own-0" updated', 'Alarm "own-0" updated'], summaries
    assert json.loads(items[1]['HistoryData'])['newState']['stateValue'] == 'ALARM'
    client.delete_alarms(AlarmNames=['own-0', 'own-1', 'own-2'])
    refused('ResourceNotFound', 404, client.delete_alarms, AlarmNames=['own-0'])
    refused('InvalidParameterValue', 400, client.set_alarm_state, AlarmName='none', StateValue='OK', StateReason='x')
    refused('InvalidParameterValue', 400, client.put_metric_alarm, AlarmName='bad', **dict(RULE, Period=61))


def metrics(client):
    """PutMetricData, GetMetricStatistics, ListMetrics."""
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    host = [{'Name': 'Host', 'Value': 'a'}]
    client.put_metric_data(Namespace='n', MetricData=[
        {'MetricName': 'm', 'Unit': 'Count', 'Value': 4, 'Dimensions': host},
        {'MetricName': 'm', 'Unit': 'Count', 'Timestamp': now, 'Dimensions': host,
         'StatisticValues': {'SampleCount': 2, 'Sum': 10, 'Minimum': 3, 'Maximum': 7}},
        {'MetricName': 'm', 'Unit': 'Count', 'Values': [1, 2], 'Counts': [3, 1], 'Dimensions': host},
    ])
    hour = datetime.timedelta(hours=1)
    found = client.get_metric_statistics(
        Namespace='n', MetricName='m', Dimensions=host, StartTime=now - hour, EndTime=now + hour, Period=7200,
        Statistics=['SampleCount', 'Sum', 'Minimum', 'Maximum'])
    points = found['Datapoints']
    assert found['Label'] == 'm' and sum(point['SampleCount'] for point in points) == 7, found
    assert sum(point['Sum'] for point in points) == 19, found
    assert (min(point['Minimum'] for point in points), max(point['Maximum'] for point in points)) == (1, 7), found
    assert isinstance(points[0]['Timestamp'], datetime.datetime), found
    listed = client.list_metrics(Namespace='n', MetricName='m')['Metrics']
    assert [it['Name'] for it in listed[0]['Dimensions']][:2] == ['AlarmName', 'Timestamp'], listed
    refused('InvalidParameterValue', 400, client.put_metric_data, Namespace='n', MetricData=[
        {'MetricName': 'm', 'Unit': 'Count', 'Value': float('nan')}])


def packed(client):
    """Reports above 10 KB, which tools of AWS pack."""
    codings = []
    client.meta.events.register('before-send.cloudwatch.PutMetricData',
                                lambda request, **_: codings.append(request.headers.get('Content-Encoding')))
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    host = [{'Name': 'Host', 'Value': 'packed'}]
    client.put_metric_data(Namespace='n', MetricData=[
        {'MetricName': 'many', 'Unit': 'Count', 'Value': number, 'Timestamp': now, 'Dimensions': host}
        for number in range(500)])
    coding, = codings
    assert coding in ('gzip', b'gzip'), coding
    hour = datetime.timedelta(hours=1)
    found = client.get_metric_statistics(
        Namespace='n', MetricName='many', Dimensions=host, StartTime=now - hour, EndTime=now + hour, Period=7200,
        Statistics=['SampleCount', 'Sum'])['Datapoints']
    assert sum(point['SampleCount'] for point in found) == 500, found
    assert sum(point['Sum'] for point in found) == sum(range(500)), found


def scaling(client, clouds):
    """A report raises the alarm of a stack, and its group grows."""
    user = cloud.session(clouds)
    where = {'service_type': 'orchestration'}
    user.post('/stacks', json={'stack_name': 'web', 'template': TEMPLATE}, endpoint_filter=where)

    def stack():
        return user.get('/stacks/web', endpoint_filter=where).json()['stack']

    until(lambda: stack()['stack_status'] == 'CREATE_COMPLETE')
    datum = {'MetricName': 'CPUUtilization', 'Unit': 'Percent', 'Value': 90,
             'Dimensions': [{'Name': 'AlarmName', 'Value': 'web-high'}]}

    def size():
        client.put_metric_data(Namespace='system/linux', MetricData=[datum])
        outputs = {it['output_key']: it['output_value'] for it in stack()['outputs']}
        return outputs['size'] == 3

    until(size)
    alarm, = client.describe_alarms(AlarmNames=['web-high'])['MetricAlarms']
    assert alarm['StateValue'] == 'ALARM' and alarm['Threshold'] == 70, alarm
    assert alarm['Dimensions'][0]['Name'] == 'StackId', alarm
    refused('InvalidParameterValue', 400, client.delete_alarms, AlarmNames=['web-high'])
    user.delete('/stacks/web', endpoint_filter=where)
    until(lambda: not client.describe_alarms(AlarmNamePrefix='web')['MetricAlarms'])


def forms(api):
    """Forms in XML and JSON, as older tools make them."""
    answer = api.get(api.signed({'Action': 'DescribeAlarms', 'ContentType': 'JSON'}))
    assert answer.json()['DescribeAlarmsResponse']['DescribeAlarmsResult']['MetricAlarms'] == [], answer.text
    answer = api.get(api.signed({'Action': 'DescribeAlarms'}))
    assert answer.text.startswith('<DescribeAlarmsResponse><DescribeAlarmsResult>'), answer.text
    answer = api.get(api.signed({'Action': 'DescribeAlarms', 'AlarmName': 'none'}))
    assert answer.status_code == 400 and 'The Watch Rule (none) could not be found.' in answer.text, answer.text


def main(clouds):
    api = CloudWatchAccess(clouds)
    client = api.client()
    own_alarms(client)
    metrics(client)
    packed(client)
    scaling(client, clouds)
    forms(api)
    print('all 11 actions by boto3 %s' % boto3.__version__)


if __name__ == '__main__':
    main(sys.argv[1])
