"""Where the cloud of a test is, and who may use it."""
import os

import keystoneauth1.identity
import keystoneauth1.session
import yaml

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', '..', 'tests', 'samples')


def sample(name):
    """A part of templates that many tests use."""
    with open(os.path.join(SAMPLES, name + '.yaml'), encoding='utf-8') as sample_file:
        return sample_file.read()


def session(clouds, name='kiln'):
    """A session of the user of a cloud."""
    with open(clouds, encoding='utf-8') as clouds_file:
        auth = yaml.safe_load(clouds_file)['clouds'][name]['auth']
    return keystoneauth1.session.Session(keystoneauth1.identity.V3Password(**auth))


def orchestration(clouds, name='kiln'):
    """The endpoint with the project in it, and a token."""
    user = session(clouds, name)
    return user.get_endpoint(service_type='orchestration'), user.get_token()
