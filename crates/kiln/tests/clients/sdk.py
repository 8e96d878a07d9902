#!/usr/bin/env python3
"""Uses openstacksdk, unmodified, for all that it offers about stacks.

    sdk.py CLOUDS_YAML
"""
import os
import sys

import openstack
from openstack import exceptions

TEMPLATE = '''
heat_template_version: 2021-04-16
description: A word and its echo
parameters:
  length: {type: number, default: 6}
resources:
  word: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
  echo: {type: OS::Heat::Value, properties: {value: {get_attr: [word, value]}}}
outputs:
  word: {description: The word, value: {get_attr: [word, value]}}
  length: {value: {get_param: length}}
'''
FAILING = '''
heat_template_version: 2021-04-16
resources:
  bad: {type: OS::Heat::TestResource, properties: {fail: true}}
'''


def outputs(stack):
    """The outputs of a stack, by name."""
    return {output['output_key']: output['output_value'] for output in stack.outputs}


def refused(error, call, *arguments, **named):
    """Asserts that a call is refused in a way, and gives the refusal."""
    try:
        call(*arguments, **named)
    except error as refusal:
        return refusal
    raise AssertionError('%s was not refused' % call)


def test_a_stack_is_made_found_and_listed(heat):
    made = heat.create_stack(name='sdk', template=TEMPLATE, parameters={'length': 9},
                             tags='red,blue', timeout_mins=5)
    stack = heat.wait_for_status(made, 'CREATE_COMPLETE', failures=['CREATE_FAILED'], interval=0.2, wait=60)
    stack = heat.get_stack(stack.id)
    assert stack.name == 'sdk' and stack.description == 'A word and its echo', stack
    assert stack.status_reason == 'Stack CREATE completed successfully', stack.status_reason
    assert stack.parameters['length'] == '9' and stack.timeout_mins == 5, stack
    assert stack.is_rollback_disabled is True and stack.tags == ['red', 'blue'], stack
    assert len(outputs(stack)['word']) == 9 and outputs(stack)['length'] == 9, outputs(stack)
    assert heat.find_stack('sdk').id == heat.find_stack(stack.id).id == stack.id
    assert heat.find_stack('nobody', ignore_missing=True) is None
    assert [it.id for it in heat.stacks(name='sdk')] == [stack.id]
    assert list(heat.stacks(status='CREATE_FAILED', name='sdk')) == []
    assert [it.id for it in heat.stacks(tags=['red', 'blue'])] == [stack.id]
    refused(exceptions.ConflictException, heat.create_stack, name='sdk', template=TEMPLATE)
    refused(exceptions.NotFoundException, heat.get_stack, 'nobody')
    refusal = refused(exceptions.BadRequestException, heat.create_stack, name='9', template=TEMPLATE)
    assert 'Invalid stack name 9' in str(refusal), refusal


def test_its_parts_are_shown(heat):
    stack = heat.find_stack('sdk')
    resources = {it.name: it for it in heat.resources(stack)}
    assert sorted(resources) == ['echo', 'word'], resources
    assert resources['word'].resource_type == 'OS::Heat::RandomString', resources['word']
    assert resources['word'].status == 'CREATE_COMPLETE' and resources['word'].required_by == ['echo']
    events = list(heat.stack_events(stack))
    assert len(events) == 6, events
    assert {it.resource_status for it in events} == {'CREATE_IN_PROGRESS', 'CREATE_COMPLETE'}, events
    of_word = list(heat.stack_events(stack, 'word'))
    assert [it.logical_resource_id for it in of_word] == ['word', 'word'], of_word
    template = heat.get_stack_template(stack)
    assert template.heat_template_version == '2021-04-16', template
    assert sorted(template.resources) == ['echo', 'word'], template
    environment = heat.get_stack_environment(stack)
    assert environment.parameters == {'length': 9}, environment
    assert heat.get_stack_files(stack) == {}
    exported = heat.export_stack(stack)
    assert exported['name'] == 'sdk' and sorted(exported['resources']) == ['echo', 'word'], exported


def test_it_changes(heat):
    stack = heat.find_stack('sdk')
    heat.update_stack(stack, template=TEMPLATE, parameters={'length': 12})
    stack = heat.wait_for_status(stack, 'UPDATE_COMPLETE', failures=['UPDATE_FAILED'], interval=0.2, wait=60)
    assert len(outputs(heat.get_stack(stack.id))['word']) == 12
    for action, act in [('CHECK', heat.check_stack), ('SUSPEND', heat.suspend_stack),
                        ('RESUME', heat.resume_stack)]:
        act(stack)
        heat.wait_for_status(stack, action + '_COMPLETE', failures=[], interval=0.2, wait=60)


def test_a_template_is_validated(heat):
    told = heat.validate_template(TEMPLATE)
    assert told.description == 'A word and its echo', told
    assert told.parameters['length']['Default'] == 6, told
    refusal = refused(exceptions.BadRequestException, heat.validate_template,
                      'heat_template_version: 2021-04-16\nresources: {r: {type: No::Such}}')
    assert 'The Resource Type (No::Such) could not be found.' in str(refusal), refusal


def test_a_failure_is_seen(heat):
    stack = heat.create_stack(name='sdk-bad', template=FAILING)
    refused(exceptions.ResourceFailure, heat.wait_for_status, stack, 'CREATE_COMPLETE',
            failures=['CREATE_FAILED'], interval=0.2, wait=60)
    stack = heat.get_stack('sdk-bad')
    assert 'Test Resource failed bad' in stack.status_reason, stack.status_reason
    heat.delete_stack(stack)
    heat.wait_for_delete(stack, interval=0.2, wait=60)


def test_software_is_configured_and_deployed(heat):
    config = heat.create_software_config(
        name='sdk-config', group='script', config='#!/bin/sh\n',
        inputs=[{'name': 'who', 'type': 'String'}], outputs=[{'name': 'said', 'type': 'String'}])
    assert heat.get_software_config(config.id).config == '#!/bin/sh\n'
    assert config.id in [it.id for it in heat.software_configs()]
    deployment = heat.create_software_deployment(
        config_id=config.id, server_id='a-server', action='CREATE', status='IN_PROGRESS')
    changed = heat.update_software_deployment(
        deployment, status='COMPLETE', output_values={'said': 'hello'})
    assert changed.status == 'COMPLETE', changed
    assert heat.get_software_deployment(deployment.id).output_values == {'said': 'hello'}
    assert [it.id for it in heat.software_deployments(server_id='a-server')] == [deployment.id]
    heat.delete_software_deployment(deployment, ignore_missing=False)
    heat.delete_software_config(config, ignore_missing=False)
    refused(exceptions.NotFoundException, heat.get_software_config, config.id)


def test_it_goes(heat):
    stack = heat.find_stack('sdk')
    heat.delete_stack(stack, ignore_missing=False)
    heat.wait_for_delete(stack, interval=0.2, wait=60)
    assert heat.find_stack('sdk') is None
    assert stack.id not in [it.id for it in heat.stacks()]


def test_the_cloud_layer_does_the_same(cloud, folder):
    path = os.path.join(folder, 'template.yaml')
    with open(path, 'w', encoding='utf-8') as template:
        template.write(TEMPLATE)
    stack = cloud.create_stack('sdk-cloud', template_file=path, wait=True, length=7)
    assert stack.status == 'CREATE_COMPLETE', stack
    stack = cloud.update_stack('sdk-cloud', template_file=path, wait=True, length=8)
    assert cloud.get_stack('sdk-cloud').status == 'UPDATE_COMPLETE'
    assert [it.name for it in cloud.search_stacks('sdk-cloud')] == ['sdk-cloud']
    assert cloud.delete_stack('sdk-cloud', wait=True) is True
    assert cloud.get_stack('sdk-cloud') is None


def main():
    os.environ['OS_CLIENT_CONFIG_FILE'] = sys.argv[1]
    cloud = openstack.connect(cloud='kiln')
    folder = os.path.dirname(os.path.abspath(sys.argv[1]))
    # One after the other: each goes on where the one before it stopped.
    for name, test in [it for it in globals().items() if it[0].startswith('test_')]:
        print(name, flush=True)
        if 'folder' in test.__code__.co_varnames:
            test(cloud, folder)
        else:
            test(cloud.orchestration)


if __name__ == '__main__':
    main()
