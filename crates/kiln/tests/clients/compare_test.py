#!/usr/bin/env python3
"""What counts as the same output, and what does not."""
import unittest

import compare

STARTED = '2026-01-01 00:00:00Z 00000000-0000-0000-0000-000000000001 [s]: CREATE_IN_PROGRESS  started'


def event(resource, status):
    number = '00000000-0000-0000-0000-%012d' % (hash((resource, status)) % 10**12)
    return '2026-01-01 00:00:00Z %s [%s]: %s  state changed' % (number, resource, status)


class Same(unittest.TestCase):

    def same(self, command, expected, printed, needs=()):
        return compare.Comparison(command, set(needs)).bind(expected, printed)

    def other(self, *arguments, **named):
        with self.assertRaises(compare.Difference):
            self.same(*arguments, **named)

    def test_ids_times_hosts_and_widths_vary(self):
        bound = self.same(
            'openstack stack show s',
            ['| id   | 11111111-2222-3333-4444-555555555555 |', '| made | 2026-01-01T00:00:00Z |',
             '| link | http://127.0.0.1:1/v1/s-abcdefghijkl |', '+------+---+'],
            ['| id | aaaaaaaa-2222-3333-4444-555555555555 |', '| made | 2027-02-02T01:02:03Z |',
             '| link | http://127.0.0.1:65000/v1/s-a2c4e6g8i0k2 |', '+----+-------+'])
        self.assertEqual(bound['11111111-2222-3333-4444-555555555555'],
                         'aaaaaaaa-2222-3333-4444-555555555555')

    def test_words_numbers_and_order_do_not(self):
        self.other('openstack stack show s', ['| a | 1 |'], ['| a | 2 |'])
        self.other('openstack stack show s', ['| a | None |'], ['| a | 2026-01-01T00:00:00Z |'])
        self.other('openstack stack show s', ['a', 'b'], ['b', 'a'])
        self.other('openstack stack show s', ['a', 'b'], ['a'])
        self.other('openstack stack show s', ['  "a": 1'], ['"a": 1'])

    def test_a_random_string_has_its_length(self):
        self.same('openstack stack show s', ['"aB3aB3aB3"'], ['"zzzzzzzzz"'])
        self.other('openstack stack show s', ['"aB3aB3aB3"'], ['"zzzz"'])

    def test_lines_and_ends_of_lines_may_be_left_out(self):
        self.same('openstack stack show s', ['a', '[… 2 lines …]', 'd'], ['a', 'b', 'c', 'd'])
        self.other('openstack stack show s', ['a', '[… 2 lines …]', 'd'], ['a', 'b', 'd'])
        for printed in (['a', 'd'], ['a', 'b', 'c', 'd']):
            self.same('openstack stack show s', ['a', '[… lines …]', 'd'], printed)
        self.other('openstack stack show s', ['a', '[… lines …]', 'd'], ['a', 'b', 'c'])
        self.same('openstack stack show s', ['| a | long te […]'], ['| a | long text |'])
        self.other('openstack stack show s', ['| a | long te […]'], ['| a | short text |'])

    def test_events_keep_the_order_that_needs_make(self):
        first, second = event('s.a', 'CREATE_COMPLETE'), event('s.b', 'CREATE_IN_PROGRESS')
        command, over = 'openstack stack event list s', event('s', 'CREATE_COMPLETE')
        self.same(command, [STARTED, first, second, over], [STARTED, second, first, over])
        self.other(command, [STARTED, first, second, over], [STARTED, second, first, over],
                   needs=[('a', 'b')])
        self.other(command, [STARTED, first, over], [first, STARTED, over])
        self.other(command, [STARTED, first], [STARTED, second])
        gone = event('s.b', 'DELETE_COMPLETE')
        self.same(command, [gone, first], [first, gone], needs=[('a', 'b')])

    def test_rows_of_resources_have_no_order_and_sorted_rows_have(self):
        title, rows = '| resource_name |', ['| a |', '| b |']
        self.same('openstack stack resource list s', [title, *rows], [title, *reversed(rows)])
        command = 'openstack stack list --sort stack_name:asc'
        self.other(command, ['| Stack Name |', *rows], ['| Stack Name |', *reversed(rows)])

    def test_what_was_begun_may_be_over(self):
        expected = ['| stack_status | CREATE_IN_PROGRESS |', '| reason | Stack CREATE started |']
        printed = ['| stack_status | CREATE_COMPLETE |', '| reason | Stack CREATE completed successfully |']
        self.same('openstack stack create -t t s', expected, printed)
        self.other('openstack stack show s', expected, printed)
        self.other('openstack stack create -t t s', printed, expected)

    def test_descriptions_are_not_compared(self):
        command = 'openstack orchestration resource type show T -f json'
        self.same(command, ['"a": {', '  "description": "x",', '  "type": "map"', '}'],
                  ['"a": {', '  "type": "map"', '}'])
        self.other(command, ['"a": {', '  "type": "map"', '}'], ['"a": {', '  "type": "list"', '}'])
        command = 'openstack orchestration template function list v'
        self.same(command, ['| f | one thing |'], ['| f | another |'])
        self.other(command, ['| f | one thing |'], ['| g | one thing |'])


if __name__ == '__main__':
    unittest.main()
