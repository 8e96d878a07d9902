#!/usr/bin/env python3
"""Leaves a state folder of `kiln dev` with a record of every kind in it, most of them in the middle of something.

usage: make_state.py PROGRAM FOLDER      PROGRAM is the `kiln` whose records are wanted, FOLDER is empty.

The files here were left by the last version before records had versions. For another version: run this with its
program, pack kiln.db, identity.json and cloud.json with gzip, and copy kiln.keys. The services of the simulated cloud are
told to answer late or with errors, and the program is killed meanwhile: so operations are begun, doubtful, between
two attempts and between two stages. Commands that nobody carried out come from an API without an engine."""
import json, os, signal, subprocess, sys, time, threading, urllib.request, urllib.parse, urllib.error, sqlite3

PROGRAM, FOLDER = sys.argv[1], sys.argv[2]
PORTS = {'identity': 25000, 'api': 28004, 'cfn': 28000, 'cloudwatch': 28003, 'cloud': 28770}
URL = {name: f'http://127.0.0.1:{port}' for name, port in PORTS.items()}
LONG = 52_560_000  # a hundred years, in minutes: the fixture is opened long after it was made

def start():
    ports = [word for name, port in PORTS.items() for word in (f'--{name}-port', str(port))]
    process = subprocess.Popen([PROGRAM, 'dev', '--state', FOLDER, '--clouds', os.path.join(FOLDER, 'clouds.yaml'),
                                '--quiet', '1', '--build-time', '300', *ports], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if 'Ctrl-C' in line: break
    return process

def call(method, url, body=None, token=None, headers=None, form=None):
    data = json.dumps(body).encode() if body is not None else None
    if form is not None: data = urllib.parse.urlencode(form).encode()
    request = urllib.request.Request(url, data, method=method)
    if body is not None: request.add_header('Content-Type', 'application/json')
    if token: request.add_header('X-Auth-Token', token)
    for name, value in (headers or {}).items(): request.add_header(name, value)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            text = reply.read()
            return reply.status, json.loads(text) if text.strip()[:1] in (b'{', b'[') else text, reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers

class User:
    def __init__(self, name):
        self.name = name
        domain = {'id': 'default'}
        body = {'auth': {'identity': {'methods': ['password'], 'password': {'user': {'name': name, 'password': name, 'domain': domain}}},
                         'scope': {'project': {'name': name, 'domain': domain}}}}
        status, shown, headers = call('POST', URL['identity'] + '/v3/auth/tokens', body)
        assert status == 201, shown
        self.token, self.project = headers['x-subject-token'], shown['token']['project']['id']
    def heat(self, method, path, body=None, ok=True):
        # The names of the user and the project count where nobody is asked for a token.
        headers = {'X-Auth-User': self.name, 'X-Auth-Project': self.project}
        status, shown, _ = call(method, f"{URL['api']}/v1/{self.project}{path}", body, self.token, headers)
        if ok: assert status < 300, (method, path, status, shown)
        return shown
    def cloud(self, method, path, body=None):
        status, shown, _ = call(method, URL['cloud'] + path, body, self.token)
        assert status < 300, (method, path, status, shown)
        return shown
    def watch(self, action, **pairs):
        form = {'Action': action, 'ContentType': 'JSON', **{k.replace('__', '.'): v for k, v in pairs.items()}}
        status, shown, _ = call('POST', URL['cloudwatch'] + '/v1/', None, self.token, {'X-Auth-User': 'demo'}, form)
        assert status == 200, (action, shown)
        return shown

def faults(*rules):
    admin.cloud('POST', '/sim/faults', list(rules))

def template(resources, head=''):
    return 'heat_template_version: 2021-04-16\n' + head + 'resources:\n' + resources

def create(name, resources, head='', **more):
    text = resources if resources.startswith('heat_template') else template(resources, head)
    body = {'stack_name': name, 'template': text, 'timeout_mins': LONG, 'disable_rollback': True, **more}
    return demo.heat('POST', '/stacks', body)['stack']['id']

def stack(name):
    return demo.heat('GET', f'/stacks/{name}')['stack']

def update(name, resources, head='', method='PUT', **more):
    shown = stack(name)
    body = {'template': template(resources, head), 'timeout_mins': LONG, 'disable_rollback': True, **more}
    if method == 'PATCH' and not resources: del body['template']
    demo.heat(method, f"/stacks/{name}/{shown['id']}", body)

def act(name, action):
    demo.heat('POST', f"/stacks/{name}/{stack(name)['id']}/actions", {action: None})

def wait(name, status, seconds=60):
    until = time.time() + seconds
    while time.time() < until:
        shown = stack(name)
        if shown['stack_status'] == status: return shown
        time.sleep(0.1)
    raise SystemExit(f"{name} is {shown['stack_status']} ({shown['stack_status_reason']}), not {status}")

def resource(name, which):
    return demo.heat('GET', f"/stacks/{name}/{stack(name)['id']}/resources/{which}")['resource']

def wait_resource(name, which, status, seconds=30):
    until = time.time() + seconds
    while time.time() < until:
        shown = demo.heat('GET', f"/stacks/{name}/{stack(name)['id']}/resources/{which}", ok=False)
        if isinstance(shown, dict) and shown['resource']['resource_status'] == status: return
        time.sleep(0.1)
    raise SystemExit(f'{name}.{which}: {shown}')

def send_signal(name, which, body):
    demo.heat('POST', f"/stacks/{name}/{stack(name)['id']}/resources/{which}/signal", body)

SERVER = 'type: OS::Nova::Server, properties: {flavor: m1.small, image: cirros, networks: [{network: private}]}'
CHILD = template('  inner: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}\n'
                 '  net: {type: OS::Neutron::Net}\n',
                 'parameters: {length: {type: number}, word: {type: string, hidden: true}}\n'
                 'outputs: {said: {value: {get_attr: [inner, value]}}}\n')

def rest():
    "Stacks that have come to rest."
    create('plain', '''
  child: {type: child.yaml, properties: {length: 5, word: {get_param: word}}}
  group: {type: OS::Heat::ResourceGroup, properties: {count: 2, resource_def: {type: OS::Heat::RandomString, properties: {length: 4}}}}
  value: {type: OS::Heat::Value, properties: {value: {get_param: word}}, depends_on: child, metadata: {a: 1}}
  text: {type: OS::Heat::RandomString, deletion_policy: retain}
''', 'parameters: {word: {type: string, hidden: true}}\noutputs: {out: {value: {get_attr: [value, value]}}, members: {value: {get_attr: [group, value]}}}\n',
           files={'child.yaml': CHILD}, parameters={'word': 'hunter2'}, tags='one,two')
    create('sinks', '  r: {type: OS::Heat::RandomString}\n',
           environment={'event_sinks': [{'type': 'zaqar-queue', 'target': 'mine', 'ttl': 600}]})
    create('failed', '  net: {type: OS::Neutron::Net}\n  bad: {type: OS::Heat::TestResource, properties: {fail: true}}\n')
    create('update-failed', '  net: {type: OS::Neutron::Net}\n')
    create('suspended', f'  s: {{{SERVER}}}\n')
    create('kept', '  v: {type: OS::Cinder::Volume, properties: {size: 1}}\n  r: {type: OS::Heat::RandomString}\n')
    create('gone', '  net: {type: OS::Neutron::Net}\n')
    create('delete-failed', '  net: {type: OS::Neutron::Net}\n')
    create('rolled-back', '  net: {type: OS::Neutron::Net}\n')
    create('checked', '  net: {type: OS::Neutron::Net}\n')
    create('unhealthy', '  net: {type: OS::Neutron::Net}\n  r: {type: OS::Heat::RandomString}\n')
    create('access', '''
  user: {type: AWS::IAM::User, properties: {Policies: [{get_resource: policy}]}}
  policy: {type: OS::Heat::AccessPolicy, properties: {AllowedResources: [x]}}
  key: {type: AWS::IAM::AccessKey, properties: {UserName: {get_resource: user}}}
''')
    for name in ['plain', 'sinks', 'update-failed', 'suspended', 'kept', 'gone', 'delete-failed', 'rolled-back', 'checked', 'unhealthy', 'access']:
        wait(name, 'CREATE_COMPLETE')
    wait('failed', 'CREATE_FAILED')
    update('update-failed', '  net: {type: OS::Neutron::Net, properties: {admin_state_up: false}}\n  bad: {type: OS::Heat::TestResource, properties: {fail: true}, depends_on: net}\n')
    update('rolled-back', '  net: {type: OS::Neutron::Net, properties: {admin_state_up: false}}\n  bad: {type: OS::Heat::TestResource, properties: {fail: true}, depends_on: net}\n', disable_rollback=False)
    act('suspended', 'suspend')
    act('checked', 'check')
    demo.heat('PATCH', f"/stacks/unhealthy/{stack('unhealthy')['id']}/resources/r", {'mark_unhealthy': True, 'resource_status_reason': 'seen by a person'})
    demo.heat('POST', f"/stacks/kept/{stack('kept')['id']}/snapshots", {'name': 'first'})
    demo.heat('DELETE', f"/stacks/gone/{stack('gone')['id']}")
    faults({'method': 'DELETE', 'path': '/network/v2.0/networks/*', 'kind': {'status': 409}})
    update('delete-failed', '  net: {type: OS::Neutron::Net}\n')
    wait('delete-failed', 'UPDATE_COMPLETE')
    demo.heat('DELETE', f"/stacks/delete-failed/{stack('delete-failed')['id']}")
    wait('update-failed', 'UPDATE_FAILED'); wait('rolled-back', 'ROLLBACK_COMPLETE'); wait('suspended', 'SUSPEND_COMPLETE')
    wait('checked', 'CHECK_COMPLETE'); wait('kept', 'SNAPSHOT_COMPLETE'); wait('delete-failed', 'DELETE_FAILED', 120)
    faults()
    update('kept', '  r: {type: OS::Heat::RandomString}\n'); wait('kept', 'UPDATE_COMPLETE')

def software():
    "What is kept beside stacks."
    config = {'name': 'script', 'group': 'script', 'config': '#!/bin/sh\necho "$word"\n', 'inputs': [{'name': 'word', 'default': 'x'}],
              'outputs': [{'name': 'result'}], 'options': {'a': 1}}
    config = demo.heat('POST', '/software_configs', config)['software_config']['id']
    server = demo.heat('GET', f"/stacks/suspended/{stack('suspended')['id']}/resources/s")['resource']['physical_resource_id']
    body = {'server_id': server, 'config_id': config, 'action': 'CREATE', 'status': 'IN_PROGRESS', 'input_values': {'word': 'hello'},
            'status_reason': 'Deploy data available', 'stack_user_project_id': demo.project}
    demo.heat('POST', '/software_deployments', body)

def watched():
    "Alarms, what they measured, and what they tell."
    create('watched', '''
  group: {type: OS::Heat::AutoScalingGroup, properties: {min_size: 1, max_size: 3, resource: {type: OS::Heat::RandomString}}}
  grow: {type: OS::Heat::ScalingPolicy, properties: {auto_scaling_group_id: {get_resource: group}, adjustment_type: change_in_capacity, scaling_adjustment: 1, cooldown: 3600}}
  busy:
    type: OS::Heat::CWLiteAlarm
    properties: {Namespace: n, MetricName: load, Statistic: Average, Period: 1, EvaluationPeriods: 1, Threshold: 70, ComparisonOperator: GreaterThanThreshold,
                 AlarmActions: [{get_resource: grow}, "http://127.0.0.1:9/told"]}
''')
    wait('watched', 'CREATE_COMPLETE')
    name = resource('watched', 'busy')['physical_resource_id'].split('/')[-1]
    demo.watch('PutMetricData', Namespace='n', MetricData__member__1__MetricName='load', MetricData__member__1__Value='95', MetricData__member__1__Unit='Percent',
               MetricData__member__1__Dimensions__member__1__Name='host', MetricData__member__1__Dimensions__member__1__Value='a')
    demo.watch('SetAlarmState', AlarmName='watched-busy', StateValue='ALARM', StateReason='seen by a person')
    time.sleep(2)
    print(json.dumps(demo.watch('DescribeAlarms'))[:600])

def slow(method, path, millis=600_000, **when):
    return {'method': method, 'path': path, 'kind': {'slow': millis}, **when}

def begin():
    "Stacks that are in the middle of something when the program is killed."
    create('waiting', '''
  handle: {type: OS::Heat::WaitConditionHandle}
  wait: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: handle}, timeout: 43200, count: 2}}
''')
    create('old-waiting', '''
  handle: {type: AWS::CloudFormation::WaitConditionHandle}
  wait: {type: AWS::CloudFormation::WaitCondition, properties: {Handle: {get_resource: handle}, Timeout: 43200, Count: 1}}
''')
    create('hooked', '  first: {type: OS::Neutron::Net}\n  second: {type: OS::Heat::RandomString, depends_on: first}\n',
           environment={'resource_registry': {'resources': {'second': {'hooks': 'pre-create'}}}})
    create('deployed', f'''
  config: {{type: OS::Heat::SoftwareConfig, properties: {{group: script, config: "date", outputs: [{{name: result}}]}}}}
  server: {{type: OS::Nova::Server, properties: {{flavor: m1.small, image: cirros, networks: [{{network: private}}], user_data_format: SOFTWARE_CONFIG}}}}
  deployment: {{type: OS::Heat::SoftwareDeployment, properties: {{config: {{get_resource: config}}, server: {{get_resource: server}}, signal_transport: HEAT_SIGNAL}}}}
''')
    for name, text in [('updating', '  net: {type: OS::Neutron::Net, properties: {admin_state_up: true}}\n  group: {type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: {type: OS::Neutron::Net}}}\n'),
                       ('deleting', '  net: {type: OS::Neutron::Net}\n  sub: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.9.0.0/24}}\n'),
                       ('rolling-back', '  net: {type: OS::Neutron::Net, properties: {value_specs: {}}}\n'),
                       ('suspending', f'  s: {{{SERVER}}}\n'), ('checking', '  v: {type: OS::Cinder::Volume, properties: {size: 1}}\n'), ('snapping', '  v: {type: OS::Cinder::Volume, properties: {size: 1}}\n'),
                       ('queued', '  r: {type: OS::Heat::RandomString}\n'), ('queued-delete', '  r: {type: OS::Heat::RandomString}\n'), ('replacing', '  net: {type: OS::Neutron::Net}\n  sub: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.8.0.0/24}}\n'),
                       ('restoring', '  v: {type: OS::Cinder::Volume, properties: {size: 1}}\n')]:
        create(name, text)
    create('rolling', '''
  group:
    type: OS::Heat::ResourceGroup
    update_policy: {rolling_update: {max_batch_size: 1, pause_time: 120}}
    properties: {count: 2, resource_def: {type: OS::Heat::TestResource, properties: {value: before, action_wait_secs: {update: 1}, update_replace: true}}}
''')
    create('scaling', f'''
  group: {{type: OS::Heat::AutoScalingGroup, properties: {{min_size: 1, max_size: 3, resource: {{{SERVER}}}}}}}
  grow: {{type: OS::Heat::ScalingPolicy, properties: {{auto_scaling_group_id: {{get_resource: group}}, adjustment_type: change_in_capacity, scaling_adjustment: 1, cooldown: 3600}}}}
''')
    for name in ['updating', 'deleting', 'rolling-back', 'suspending', 'checking', 'snapping', 'queued', 'queued-delete', 'replacing', 'restoring', 'rolling', 'scaling']:
        wait(name, 'CREATE_COMPLETE', 120)
    wait_resource('waiting', 'wait', 'CREATE_IN_PROGRESS')
    wait_resource('deployed', 'deployment', 'CREATE_IN_PROGRESS')
    send_signal('waiting', 'handle', {'status': 'SUCCESS', 'reason': 'one', 'data': 'd', 'id': '1'})
    demo.heat('POST', f"/stacks/restoring/{stack('restoring')['id']}/snapshots", {'name': 'first'}); wait('restoring', 'SNAPSHOT_COMPLETE')
    update('restoring', '  r: {type: OS::Heat::RandomString}\n'); wait('restoring', 'UPDATE_COMPLETE')
    update('rolling-back', '''
  net: {type: OS::Neutron::Net, properties: {value_specs: {}}}
  sub: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.6.0.0/24}}
  bad: {type: OS::Heat::TestResource, properties: {fail: true, wait_secs: 2}, depends_on: sub}
''', disable_rollback=False)
    wait_resource('rolling-back', 'bad', 'CREATE_IN_PROGRESS')
    # From here on the services answer late, or with errors that are worth another attempt.
    demo.heat('GET', '/stacks')
    faults(slow('PUT', '/network/v2.0/networks/*'),
           slow('DELETE', '/network/v2.0/subnets/*'),
           slow('POST', '/compute/v2.1/servers/*/action'),
           slow('POST', '/volume/v3/*backups'),
           slow('POST', '/network/v2.0/subnets'),
           {'method': 'POST', 'path': '/network/v2.0/routers', 'kind': {'status': 503}},
           {'method': 'POST', 'path': '/network/v2.0/security-groups', 'kind': 'lost'},
           slow('GET', '/network/v2.0/security-groups*'),
           slow('POST', '/volume/v3/*volumes'),
           slow('GET', '/volume/v3/*volumes/*'),
           slow('POST', '/network/v2.0/ports'),
           slow('POST', '/compute/v2.1/servers', 600_000))
    create('creating', '''
  net: {type: OS::Neutron::Net}
  sub: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.7.0.0/24}}
  router: {type: OS::Neutron::Router}
  lost: {type: OS::Neutron::SecurityGroup}
  late: {type: OS::Heat::TestResource, properties: {wait_secs: 1}, depends_on: sub}
  port: {type: OS::Neutron::Port, properties: {network: private}}
  inside: {type: child.yaml, properties: {length: 3, word: secret}}
''', files={'child.yaml': CHILD.replace('  net: {type: OS::Neutron::Net}', f'  s: {{{SERVER}}}')})
    update('updating', '  net: {type: OS::Neutron::Net, properties: {admin_state_up: false}}\n  group: {type: OS::Heat::ResourceGroup, properties: {count: 3, resource_def: {type: OS::Neutron::Net, properties: {admin_state_up: false}}}}\n', converge=True)
    update('replacing', '  net: {type: OS::Neutron::Net}\n  sub: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.8.1.0/24}}\n')
    demo.heat('DELETE', f"/stacks/deleting/{stack('deleting')['id']}")
    act('suspending', 'suspend')
    act('checking', 'check')
    demo.heat('POST', f"/stacks/snapping/{stack('snapping')['id']}/snapshots", {'name': 'under way'})
    snapshot = demo.heat('GET', f"/stacks/restoring/{stack('restoring')['id']}/snapshots")['snapshots'][0]['id']
    demo.heat('POST', f"/stacks/restoring/{stack('restoring')['id']}/snapshots/{snapshot}/restore")
    update('rolling', '''
  group:
    type: OS::Heat::ResourceGroup
    update_policy: {rolling_update: {max_batch_size: 1, pause_time: 120}}
    properties: {count: 2, resource_def: {type: OS::Heat::TestResource, properties: {value: after, action_wait_secs: {update: 1}, update_replace: true}}}
''')
    send_signal('scaling', 'grow', {})
    time.sleep(5)

def promise(process):
    "Many ask at once, and the program is killed while users are asked for their trusts."
    names = iter(range(10_000))
    def ask():
        while process.poll() is None:
            try: create(f'promised-{next(names)}', '  r: {type: OS::Heat::RandomString}\n')
            except Exception: return
    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads: thread.start()
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL); process.wait()
    for thread in threads: thread.join()

def letter():
    "An alarm that tells an address which nobody answers at."
    conf = os.path.join(FOLDER, 'alarms.conf')
    with open(conf, 'w') as file:
        file.write(f"[heat_api_cloudwatch]\nbind_host = 127.0.0.1\nbind_port = {PORTS['cloudwatch']}\n[paste_deploy]\nflavor = noauth\n"
                   "[kiln]\nnotify_allowed = http://127.0.0.1:9/\n")
    process = subprocess.Popen([PROGRAM, 'server', '--config', conf, '--role', 'cloudwatch',
                                '--database', f'sqlite://{FOLDER}/kiln.db', '--keys', f'{FOLDER}/kiln.keys'], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if '://' in line: break
    def ask(action, **pairs):
        form = {'Action': action, 'ContentType': 'JSON', **{k.replace('__', '.'): v for k, v in pairs.items()}}
        status, shown, _ = call('POST', URL['cloudwatch'] + '/v1/', None, None, {'X-Auth-User': 'demo', 'X-Auth-Project': 'lab'}, form)
        assert status == 200, (action, shown)
    ask('PutMetricAlarm', AlarmName='told', Namespace='n', MetricName='m', Statistic='Average', Period='60', EvaluationPeriods='1', Threshold='1',
        ComparisonOperator='GreaterThanThreshold', AlarmActions__member__1='http://127.0.0.1:9/told')
    ask('SetAlarmState', AlarmName='told', StateValue='ALARM', StateReason='seen by a person')
    time.sleep(2)
    process.kill(); process.wait()
    os.remove(conf)

def queue():
    "Commands that nobody has carried out: the API runs without an engine."
    conf = os.path.join(FOLDER, 'api.conf')
    with open(conf, 'w') as file:
        file.write(f"[heat_api]\nbind_host = 127.0.0.1\nbind_port = {PORTS['api']}\n[paste_deploy]\nflavor = noauth\n[database]\nconnection = sqlite:///{FOLDER}/kiln.db\n")
    process = subprocess.Popen([PROGRAM, 'server', '--config', conf, '--role', 'api', '--database', f'sqlite://{FOLDER}/kiln.db', '--keys', f'{FOLDER}/kiln.keys'],
                               stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if '://' in line: break
    import atexit; atexit.register(process.kill)
    update('queued', '  r: {type: OS::Heat::RandomString, properties: {length: 9}}\n  s: {type: OS::Heat::Value, properties: {value: {get_attr: [r, value]}}}\n', tags='new')
    demo.heat('DELETE', f"/stacks/queued-delete/{stack('queued-delete')['id']}")
    send_signal('old-waiting', 'handle', {'Status': 'SUCCESS', 'Reason': 'r', 'Data': 'd', 'UniqueId': 'u'})
    demo.heat('POST', f"/stacks/update-failed/{stack('update-failed')['id']}/actions", {'check': None})
    demo.heat('PATCH', f"/stacks/plain/{stack('plain')['id']}/resources/text", {'mark_unhealthy': True, 'resource_status_reason': 'queued'})
    demo.heat('POST', f"/stacks/checked/{stack('checked')['id']}/snapshots", {'name': 'queued'}, ok=False)
    process.terminate(); process.wait()
    os.remove(conf)

process = start()
import atexit; atexit.register(process.kill)
demo, admin = User('demo'), User('admin')
demo.cloud('GET', '/network/v2.0/security-groups'); admin.cloud('GET', '/network/v2.0/security-groups')
rest(); software(); watched(); begin()
for shown in demo.heat('GET', '/stacks?show_nested=true')['stacks']:
    print(f"{shown['stack_name']:40} {shown['stack_status']:24} {shown['stack_status_reason'][:90]}")
promise(process)
queue()
letter()
db = sqlite3.connect(os.path.join(FOLDER, 'kiln.db')); db.execute('PRAGMA wal_checkpoint(TRUNCATE)'); db.execute('VACUUM'); db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
    print(table, db.execute(f'select count(*) from {table}').fetchone()[0])
print(db.execute('select kind, count(*) from objects group by kind').fetchall())
print(db.execute('select action, status, count(*) from resources group by action, status').fetchall())
