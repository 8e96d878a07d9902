#!/usr/bin/env python3
"""Uses the identity service of `kiln dev` as clients do: tokens, application credentials, EC2
credentials, trusts; and the API with what they give.

    identity.py CLOUDS_YAML
"""
import sys

import keystoneauth1.exceptions
import keystoneauth1.identity
import keystoneauth1.session
import openstack

import cloud


def session(auth):
    return keystoneauth1.session.Session(auth)


def stacks(user):
    """What the API answers to someone."""
    return user.get('/stacks', endpoint_filter={'service_type': 'orchestration'}, raise_exc=False)


def refused(call, how=keystoneauth1.exceptions.Unauthorized):
    """Asserts that a call is not let in."""
    try:
        call()
    except how:
        return
    raise AssertionError('that should not be let in')


def test_a_password_gives_a_token_for_a_project(clouds):
    user = cloud.session(clouds)
    access = user.auth.get_access(user)
    assert access.username == 'demo' and access.project_name == 'demo', access
    assert sorted(access.role_names) == ['heat_stack_owner', 'member', 'reader'], access.role_names
    assert sorted(it['type'] for it in access.service_catalog.catalog) == [
        'cloudformation', 'cloudwatch', 'identity', 'orchestration']
    assert stacks(user).status_code == 200
    assert user.get_endpoint(service_type='orchestration', interface='internal')


def test_a_wrong_password_and_a_made_up_token_are_refused(clouds):
    url = cloud.session(clouds).auth.auth_url
    wrong = keystoneauth1.identity.V3Password(
        auth_url=url, username='demo', password='guess', project_name='demo',
        user_domain_id='default', project_domain_id='default')
    refused(session(wrong).get_token)
    endpoint, _ = cloud.orchestration(clouds)
    answer = session(None).get(endpoint + '/stacks', headers={'X-Auth-Token': 'made-up'},
                               raise_exc=False)
    assert answer.status_code == 401, answer


def test_an_application_credential_stands_for_its_user(clouds):
    user = cloud.session(clouds)
    identity = openstack.connection.Connection(session=user, region_name='RegionOne').identity
    made = identity.create_application_credential(
        user=user.get_user_id(), name='app', secret='s3cret', roles=[{'name': 'member'}])
    url = user.auth.auth_url

    def login(secret):
        return session(keystoneauth1.identity.V3ApplicationCredential(
            auth_url=url, application_credential_id=made.id, application_credential_secret=secret))

    assert login('s3cret').get_project_id() == user.get_project_id()
    assert stacks(login('s3cret')).status_code == 200
    refused(login('guess').get_token)
    identity.delete_application_credential(user.get_user_id(), made)
    refused(login('s3cret').get_token, keystoneauth1.exceptions.NotFound)


def test_ec2_credentials_are_made_and_removed(clouds):
    user = cloud.session(clouds)
    path = '/users/%s/credentials/OS-EC2' % user.get_user_id()
    of_identity = {'service_type': 'identity'}
    made = user.post(path, json={'tenant_id': user.get_project_id()},
                     endpoint_filter=of_identity).json()['credential']
    listed = user.get(path, endpoint_filter=of_identity).json()['credentials']
    assert [it['access'] for it in listed] == [made['access']] and made['secret'], listed
    user.delete('%s/%s' % (path, made['access']), endpoint_filter=of_identity)
    assert user.get(path, endpoint_filter=of_identity).json()['credentials'] == []


def test_a_trust_lets_another_act_for_its_user(clouds):
    trustor, trustee = cloud.session(clouds), cloud.session(clouds, 'kiln-admin')
    body = {'trust': {
        'trustor_user_id': trustor.get_user_id(), 'trustee_user_id': trustee.get_user_id(),
        'project_id': trustor.get_project_id(), 'impersonation': True, 'roles': [{'name': 'member'}]}}
    of_identity = {'service_type': 'identity'}
    trust = trustor.post('/OS-TRUST/trusts', json=body, endpoint_filter=of_identity).json()['trust']
    auth = keystoneauth1.identity.V3Password(
        auth_url=trustee.auth.auth_url, username='admin', password='admin', user_domain_id='default',
        trust_id=trust['id'])
    acting = session(auth)
    assert acting.get_user_id() == trustor.get_user_id()
    assert acting.get_project_id() == trustor.get_project_id()
    assert stacks(acting).status_code == 200
    trustor.delete('/OS-TRUST/trusts/' + trust['id'], endpoint_filter=of_identity)
    acting.invalidate()
    refused(acting.get_token)


def test_a_token_that_is_given_back_is_worth_nothing(clouds):
    user = cloud.session(clouds)
    token, endpoint = user.get_token(), user.get_endpoint(service_type='orchestration')
    user.delete('/auth/tokens', headers={'X-Subject-Token': token},
                endpoint_filter={'service_type': 'identity'})
    answer = session(None).get(endpoint + '/stacks', headers={'X-Auth-Token': token}, raise_exc=False)
    assert answer.status_code == 401, answer


def main():
    for name, test in [it for it in globals().items() if it[0].startswith('test_')]:
        print(name, flush=True)
        test(sys.argv[1])


if __name__ == '__main__':
    main()
