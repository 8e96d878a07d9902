#!/usr/bin/env python3
"""Runs the API tests of heat-tempest-plugin, unmodified.

    gabbits.py CLOUDS_YAML
"""
import os
import sys
import tempfile
import unittest

import yaml

MODULE = 'heat_tempest_plugin.tests.api.test_heat_api'


def settings(clouds):
    """What tempest wants to know of the cloud."""
    with open(clouds, encoding='utf-8') as clouds_file:
        clouds = yaml.safe_load(clouds_file)['clouds']
    demo, admin = clouds['kiln']['auth'], clouds['kiln-admin']['auth']
    known = {
        'auth_url': demo['auth_url'], 'region': clouds['kiln']['region_name'],
        'username': demo['username'], 'password': demo['password'],
        'project_name': demo['project_name'],
        'user_domain_id': demo['user_domain_id'], 'project_domain_id': demo['project_domain_id'],
        'admin_username': admin['username'], 'admin_password': admin['password'],
        'admin_project_name': admin['project_name'],
    }
    lines = ['[heat_plugin]'] + ['%s = %s' % pair for pair in known.items()]
    return '\n'.join(lines + ['[service_available]', 'heat = True', ''])


def main():
    with tempfile.TemporaryDirectory(prefix='kiln-tempest-') as folder:
        with open(os.path.join(folder, 'tempest.conf'), 'w', encoding='utf-8') as conf:
            conf.write(settings(sys.argv[1]))
        os.environ.update(TEMPEST_CONFIG_DIR=folder, TEMPEST_CONFIG='tempest.conf')
        os.chdir(folder)
        tests = unittest.defaultTestLoader.loadTestsFromName(MODULE)
        result = unittest.TextTestRunner(verbosity=2).run(tests)
        # Nothing run, or nothing but skipped tests, proves nothing.
        return not (result.wasSuccessful() and result.testsRun > 0 and not result.skipped)


if __name__ == '__main__':
    sys.exit(main())
