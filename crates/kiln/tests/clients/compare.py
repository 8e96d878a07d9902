"""Compares what a command printed with what a page says that it prints.

Ids, times, random strings, hosts and the widths of tables vary from run to run; everything else must be
the same. So must the order, but for what nobody can rely on: events of resources that do not need each
other, rows of lists of resources, rows that are sorted by something in which they do not differ.
"""
import difflib
import re

import page

# What varies, and what may stand in its place.
VARYING = [
    ('uuid', r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'),
    ('hex', r'\b[0-9a-f]{32}\b'),
    ('node', r'\b(?:r|cluster_stack)_[0-9a-f]{20}\b'),
    ('time', r'\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ'),
    ('host', r'http://127\.0\.0\.1:\d+'),
    ('token', r'<token>'),
    ('suffix', r'(?<=-)[a-z0-9]{12}(?![a-z0-9])'),
    ('random', r'(?<![\w.:/-])(?=\w*[0-9])(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z0-9]{7,32}(?!\w)'),
]
VARIES = re.compile('|'.join('(?P<%s>%s)' % pair for pair in VARYING))
INSTEAD = dict(VARYING, token=r"[^' ]+", suffix='[a-z0-9]{12}')

EVENT = re.compile(r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \S+ \[(\S+)\]: ')
ANY_EVENT = re.compile(r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \S+ \[\S+\]: ')
SORTED = re.compile(r"--sort '?(\w+):(asc|desc)")
REST_OF_LINE = '[…]'

# Commands whose rows come in any order.
UNORDERED = ('resource list', 'output list', 'stack list --nested')
# Commands that print maps whose members have no order that anyone could rely on.
SHUFFLED = ('-f dot', 'resource type show', '--show-nested', '--dry-run')
# Commands that print descriptions, which are worded as everyone likes.
WORDED = ('template function list', 'resource type show', 'software deployment metadata show')
# Commands whose lines are wrapped where the folder's name makes them too long.
WRAPPED = ('stack file list',)
# Commands that begin something, which may be over when they show how far it is.
BEGINNING = ('stack create', 'stack update', 'stack adopt', 'snapshot create')


class Difference(Exception):
    """The output is another one."""


class Comparison:
    """What a command should print, beside what it printed."""

    def __init__(self, command, needs):
        def is_one_of(commands):
            return any(words in command for words in commands)
        self.needs = needs
        self.is_unordered = is_one_of(UNORDERED)
        self.is_shuffled = is_one_of(SHUFFLED)
        self.is_worded = is_one_of(WORDED)
        self.is_wrapped = is_one_of(WRAPPED)
        self.is_limited = 'event list' in command and '--limit' in command
        self.may_be_over = is_one_of(BEGINNING) and '--wait' not in command
        self.sort = SORTED.search(command)

    def bind(self, expected, actual):
        """What stands for the varying parts of the expected lines; or a Difference."""
        expected, actual = self.prepared(expected), self.prepared(actual)
        head, left_out, tail = split(expected)
        shown = head + tail
        if left_out is None or left_out and self.is_worded:
            fits = len(shown) <= len(actual)
        else:
            fits = len(shown) + left_out == len(actual)
        places = self.assign(shown, len(head), actual) if fits else None
        if places is None or not self.is_sorted(actual):
            raise Difference(difference(expected, actual))
        bound = {}
        for line, at in zip(shown, places):
            found = self.pattern(line).match(actual[at])
            bound.update(zip((it.group() for it in VARIES.finditer(line)), found.groups()))
        return bound

    def prepared(self, lines):
        """The lines without what is not compared."""
        if self.is_worded:
            lines = without_descriptions(lines)
        if self.is_wrapped:
            lines = [' '.join(' '.join(lines).split())]
        if self.is_shuffled:
            lines = [re.sub(r',(\s*\|?\s*)$', r'\1', line) for line in lines]
        return lines

    def assign(self, shown, head, actual):
        """The actual line for each expected one, or nothing."""
        places = []
        for i, line in enumerate(shown):
            at = i if i < head else len(actual) - len(shown) + i
            places.append(None if self.moves(line) else at)
            if places[i] is not None and not self.pattern(line).match(actual[at]):
                return None
        free = [i for i, at in enumerate(places) if at is None]
        taken = {at for at in places if at is not None}
        for i in free:
            pattern = self.pattern(shown[i])
            fits = (at for at, line in enumerate(actual) if at not in taken and pattern.match(line))
            places[i] = next(fits, None)
            if places[i] is None:
                return None
            taken.add(places[i])
        in_order = all(
            places[i] < places[k] or not self.is_ordered(shown[i], shown[k])
            for at, i in enumerate(free) for k in free[at + 1:])
        return places if in_order else None

    def moves(self, line):
        """Whether a line may stand elsewhere."""
        is_row = line.startswith('| ') and (self.is_unordered or self.sort)
        return bool(EVENT.match(line) or is_row or self.is_shuffled)

    def is_ordered(self, first, second):
        """Whether one of two lines that may move comes first in any case."""
        events = EVENT.match(first), EVENT.match(second)
        if not all(events) or self.is_limited:
            return False
        stacks, names = zip(*(event.group(1).rpartition('.')[::2] for event in events))
        if not all(stacks) or names[0] == names[1]:
            return True
        # What goes need not wait for what comes.
        are_alike = (' DELETE_' in first) == (' DELETE_' in second)
        return are_alike and (names in self.needs or names[::-1] in self.needs)

    def is_sorted(self, actual):
        """Whether the rows are sorted as asked."""
        if not self.sort:
            return True
        rows = [[cell.strip() for cell in line.split('|')] for line in actual if line[:2] == '| ']
        titles = [title.lower().replace(' ', '_') for title in rows[0]]
        if self.sort.group(1) not in titles:
            return True
        keys = [row[titles.index(self.sort.group(1))] for row in rows[1:]]
        return keys == sorted(keys, reverse=self.sort.group(2) == 'desc')

    def pattern(self, line):
        """What an expected line looks like with everything that varies."""
        is_table, is_cut = line.startswith(('| ', '+-')), line.endswith(REST_OF_LINE)
        if self.is_limited and EVENT.match(line):
            # Which events are the first is as open as their order.
            return ANY_EVENT
        if self.is_worded and line.startswith('| '):
            # Only the first cell.
            line, is_cut = '|'.join(line.split('|')[:2]), True
        elif is_cut:
            # The last word may be cut as well.
            line = re.sub(r'''[^\s'"/]*$''', '', line[:-len(REST_OF_LINE)].rstrip())
        parts, end = [], 0
        for found in VARIES.finditer(line):
            parts += [literal(line[end:found.start()], is_table), '(%s)' % instead(found)]
            end = found.end()
        text = ''.join(parts) + literal(line[end:], is_table)
        if self.may_be_over and not EVENT.match(line):
            text = over(text)
        return re.compile(text + ('' if is_cut else r'\s*$'))


def literal(text, is_table):
    """A pattern for text as it is; in a table, of any width."""
    if not is_table:
        return re.escape(text)
    text = re.sub(r'-{3,}', '---', re.sub(r'\s+', ' ', text))
    return re.escape(text).replace(r'\ ', r'\s+').replace(r'\-\-\-', '-+')


def over(pattern):
    """The pattern of a line about something that may be over by now."""
    pattern = pattern.replace('IN_PROGRESS', '(?:IN_PROGRESS|COMPLETE)')
    pattern = re.sub(r'(status_reason.*)None', r'\1(?:None|Stack\\s+SNAPSHOT\\s+completed\\s+successfully)',
                     pattern)
    pattern = pattern.replace("'UPDATE'", "'(?:UPDATE|SNAPSHOT)'")
    return pattern.replace('started', r'(?:started|completed\s+successfully)')


def instead(found):
    """A pattern for what may stand in place of something that varies."""
    if found.lastgroup == 'random':
        return '[A-Za-z0-9]{%d}' % len(found.group())
    return INSTEAD[found.lastgroup]


def split(lines):
    """What is shown before and after the lines that are left out, and how many those are; None for any number."""
    for at, line in enumerate(lines):
        left_out = page.LEFT_OUT.match(line)
        if left_out:
            number = left_out.group(1)
            return lines[:at], number and int(number), lines[at + 1:]
    return lines, 0, []


def without_descriptions(lines):
    """The lines of YAML or JSON without descriptions, however many lines those take."""
    kept, depth = [], None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if depth is not None and indent > depth:
            continue
        depth = indent if re.match(r'\s*"?[Dd]escription"?: ', line) else None
        if depth is None:
            kept.append(line)
    return kept


def difference(expected, actual):
    """Both as people compare them."""
    def plain(line):
        line = VARIES.sub(lambda found: '<%s>' % found.lastgroup, line)
        return re.sub(r'-{3,}', '---', re.sub(r'(?<=\S)\s+', ' ', line)).rstrip()
    lines = difflib.unified_diff(
        [plain(line) for line in expected], [plain(line) for line in actual],
        'expected', 'printed', lineterm='', n=2)
    return '\n'.join(lines) or 'the same lines in another order'


def needs(templates):
    """The pairs of resources of which the second needs the first."""
    pairs = set()
    for template in templates:
        resources = template.get('resources') or {} if isinstance(template, dict) else {}
        for name, resource in resources.items():
            pairs.update((other, name) for other in references(resource) if other in resources)
    return pairs


def references(value):
    """The resources that a part of a template names."""
    if isinstance(value, list):
        return [name for item in value for name in references(item)]
    if not isinstance(value, dict):
        return []
    named = []
    for key, item in value.items():
        if key in ('get_resource', 'get_attr', 'depends_on'):
            names = item if isinstance(item, list) else [item]
            named += names[:1] if key == 'get_attr' else names
        named += references(item)
    return [name for name in named if isinstance(name, str)]
