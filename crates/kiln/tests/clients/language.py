#!/usr/bin/env python3
"""Sends examples of the language pages through the API, and compares with what the pages say.

    language.py CLOUDS_YAML FOLDER_OF_PAGES

README.md beside the pages has their form.
"""
import concurrent.futures
import glob
import http.client
import itertools
import json
import os
import re
import sys
import threading
import time
import urllib.parse

import cloud

SLOT = 'WRITTEN'
# Examples that are known to have another answer: the engine looks at properties that a type ignores.
KNOWN = ('Slots of properties, {a: {get_param: nowhere}}',
         'Slots of properties, {a: {list_join: [",", [5]]}}')
AT_ONCE = 4
PATIENCE = 60


class Section:
    """What stands under a heading."""

    def __init__(self, place, heading):
        self.place, self.heading = place, heading
        self.blocks, self.rows = [], []

    def cases(self):
        """The requests that it tells of, each with its answer."""
        if not self.rows:
            return [self.case(None)] if self.blocks else []
        return [self.case(row) for row in self.rows]

    def case(self, row):
        case = {'place': self.place, 'files': {}, 'environment_files': [], 'update': None, 'expect': {}}
        written, answer = row or (None, None)
        for label, name, text in self.blocks:
            if row:
                text = text.replace(SLOT, written)
            add(case, label, name, text)
        if row:
            case['place'] += ', ' + written
            add_answer(case['expect'], answer)
        if 'output_errors' in case['expect']:
            case['expect'].setdefault('outputs', {})
        return case


def add(case, label, name, text):
    """Adds a block to a case."""
    expect = case['expect']
    if label in ('template', 'environment'):
        case[label] = text
    elif label in ('template-object', 'environment-object'):
        case[label.removesuffix('-object')] = json.loads(text)
    elif label in ('file', 'environment-file'):
        case['files'][name] = text
        if label == 'environment-file':
            case['environment_files'].append(name)
    elif label == 'environment_files':
        case[label] = json.loads(text)
    elif label == 'parameters':
        case[label] = json.loads(text)
    elif label == 'operation':
        case[label] = text.strip()
    elif label.startswith('update-'):
        case['update'] = case['update'] or {}
        part = label.removeprefix('update-')
        case['update'][part] = json.loads(text) if part == 'parameters' else text
    elif label in ('outputs', 'resources', 'validate', 'output_errors', 'parameters-shown'):
        expect[label] = json.loads(text)
    elif label == 'error':
        expect[label] = text.rstrip('\n')
    else:
        raise ValueError('%s: no rule for a block called %s' % (case['place'], label))


def add_answer(expect, answer):
    """Adds what the second cell of a row says."""
    word, _, text = answer.partition(', ')
    if word == 'refused':
        expect['error'] = text.strip('`')
    elif word == 'fails':
        expect['output_errors'] = {'out': text.strip('`')}
    elif answer != 'accepted':
        expect['outputs'] = {'out': json.loads(answer.strip('`'))}


def sections(path):
    """The sections of a page."""
    page, found, block, in_table = os.path.basename(path), [], None, False
    with open(path, encoding='utf-8') as page_file:
        for number, line in enumerate(page_file.read().splitlines(), 1):
            if block is not None:
                if line == '```':
                    found[-1].blocks.append((block[0], block[1], ''.join(block[2])))
                    block = None
                else:
                    block[2].append(line + '\n')
            elif line.startswith('```'):
                words = line[3:].split(' ', 2) + ['', '']
                block = (words[1], words[2], [])
            elif line.startswith('## '):
                found.append(Section('%s:%d: %s' % (page, number, line[3:]), line[3:]))
                in_table = False
            elif line.startswith('| '):
                cells = [cell.strip().replace('\1', '|') for cell in
                         line[2:].replace('\\|', '\1').split('|')]
                if cells[0] == 'written':
                    in_table = True
                elif in_table and cells[0] != '---':
                    found[-1].rows.append((cells[0].strip('`'), cells[1]))
            else:
                in_table = False
    return found


class Api:
    """The API, over one connection for each thread."""

    def __init__(self, endpoint, token):
        self.url, self.token = urllib.parse.urlsplit(endpoint), token
        self.project = self.url.path.rsplit('/', 1)[-1]
        self.of_thread = threading.local()

    def call(self, method, path, body=None):
        """Status and answer."""
        connection = getattr(self.of_thread, 'connection', None)
        if connection is None:
            connection = http.client.HTTPConnection(self.url.netloc, timeout=PATIENCE)
            self.of_thread.connection = connection
        headers = {'X-Auth-Token': self.token, 'Content-Type': 'application/json'}
        connection.request(method, self.url.path + path, json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        text = response.read()
        is_json = (response.getheader('Content-Type') or '').startswith('application/json')
        return response.status, json.loads(text) if is_json else None

    def rest(self, path):
        """The stack when nothing is being done with it any more."""
        deadline = time.monotonic() + PATIENCE
        while True:
            status, answer = self.call('GET', path)
            stack = (answer or {}).get('stack', {})
            if status != 200 or not stack['stack_status'].endswith('IN_PROGRESS'):
                return stack
            if time.monotonic() > deadline:
                raise TimeoutError(path)


def request(case):
    """The body of a request."""
    parts = ('template', 'environment', 'environment_files', 'files', 'parameters')
    return {part: case[part] for part in parts if case.get(part)}


def attempt(api, case, name):
    """What came back: an error, a validation, or a stack."""
    body, operation = request(case), case.get('operation', 'create')
    if operation == 'validate':
        status, answer = api.call('POST', '/validate', body)
        return {'validate': answer} if status == 200 else answer
    body['stack_name'] = name
    if operation == 'preview':
        status, answer = api.call('POST', '/stacks/preview', body)
        if status != 200:
            return answer
        resources = flattened(answer['stack']['resources'])
        return {'stack': answer['stack'], 'resources': sorted(it['resource_name'] for it in resources)}
    status, answer = api.call('POST', '/stacks', body)
    if status != 201:
        return answer
    path = '/stacks/%s/%s' % (name, answer['stack']['id'])
    stack = api.rest(path)
    if case['update'] is not None:
        status, answer = api.call('PUT', path, request(dict(case, **case['update'])))
        if status != 202:
            api.call('DELETE', path)
            return answer
        stack = api.rest(path)
    _, resources = api.call('GET', path + '/resources')
    api.call('DELETE', path)
    return {'stack': stack, 'resources': sorted(it['resource_name'] for it in resources['resources'])}


def flattened(resources):
    """The resources of a preview, in which nested stacks are lists."""
    return [one for it in resources for one in (flattened(it) if isinstance(it, list) else [it])]


def differences(expect, seen, names):
    """What came back that should not have."""
    if 'error' in expect or 'error' in seen:
        error = seen.get('error', {})
        told = '%s: %s' % (error.get('type'), error.get('message'))
        return [] if is_message(expect.get('error', ''), told) else ['got %s' % (told if error else seen)]
    if 'validate' in seen:
        return [] if same(expect.get('validate', {}), seen['validate'], names, True) else [str(seen['validate'])]
    wrong, stack = [], seen['stack']
    if not stack.get('stack_status', '_COMPLETE').endswith('_COMPLETE'):
        wrong.append('%s: %s' % (stack['stack_status'], stack['stack_status_reason']))
    outputs = {it['output_key']: it for it in stack.get('outputs', [])}
    if 'outputs' in expect:
        values = {name: it['output_value'] for name, it in outputs.items() if 'output_error' not in it}
        if not same(expect['outputs'], values, names):
            wrong.append('outputs are %s' % json.dumps(values))
    errors = {name: it['output_error'] for name, it in outputs.items() if 'output_error' in it}
    for name, message in expect.get('output_errors', {}).items():
        if not is_message(message, errors.get(name, '')):
            wrong.append('the error of %s is %s' % (name, errors.get(name)))
    if 'resources' in expect and sorted(expect['resources']) != seen['resources']:
        wrong.append('resources are %s' % seen['resources'])
    if not same(expect.get('parameters-shown', {}), stack.get('parameters', {}), names, True):
        wrong.append('parameters are %s' % stack['parameters'])
    return wrong


def is_message(expected, told):
    """Whether a message is the expected one; of one between slashes a part must be found."""
    kind, separator, message = expected.partition(': ')
    if not separator or not re.fullmatch(r'\w+', kind):
        kind, separator, message = '', '', expected
    if not re.fullmatch('/.*/', message, re.DOTALL):
        return told == expected
    return told.startswith(kind + separator) and re.search(
        message[1:-1], told[len(kind + separator):], re.DOTALL) is not None


def named(text, names):
    """A text with names in place of what stands for them."""
    for name, value in names.items():
        text = text.replace('${%s}' % name, value)
    return text


def same(expected, value, names, in_part=False):
    """Whether a value is the expected one, types and all."""
    if isinstance(expected, dict) and list(expected) == ['$any']:
        return True
    if isinstance(expected, dict) and list(expected) == ['$regex']:
        pattern = named(expected['$regex'], names)
        return isinstance(value, str) and re.fullmatch(pattern, value, re.DOTALL) is not None
    if isinstance(expected, str):
        expected = named(expected, names)
    if type(expected) is not type(value):
        return False
    if isinstance(expected, list):
        return len(expected) == len(value) and all(
            same(one, other, names, in_part) for one, other in zip(expected, value))
    if isinstance(expected, dict):
        return (in_part or len(expected) == len(value)) and all(
            name in value and same(part, value[name], names, in_part) for name, part in expected.items())
    return expected == value


def main():
    api = Api(*cloud.orchestration(sys.argv[1]))
    pages = sorted(glob.glob(os.path.join(sys.argv[2], '*.md')))
    cases = [case for path in pages if not path.endswith('README.md')
             for section in sections(path) for case in section.cases()]
    numbers = itertools.count()

    def judge(case):
        name = 'example-%d' % next(numbers)
        seen = attempt(api, case, name)
        return differences(case['expect'], seen, {'stack_name': name, 'project_id': api.project})

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        for case, wrong in zip(cases, threads.map(judge, cases)):
            is_known = case['place'].endswith(KNOWN)
            failed += bool(wrong) and not is_known
            for what in wrong:
                print('%s: %s%s' % (case['place'], 'as we know, ' if is_known else '', what))
    print('%d examples sent, %d with another answer' % (len(cases), failed))
    return failed > 0 or len(cases) < 1900


if __name__ == '__main__':
    sys.exit(main())
