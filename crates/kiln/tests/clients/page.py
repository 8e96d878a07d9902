"""Reads a page of console sessions.

A page is Markdown. A heading of the second level begins a flow; its `console` blocks are what was typed
(`$ command`) and what came back. `[exit status N]` follows the output of a command that failed,
`[… N lines …]` stands for output that is left out, `[… lines …]` for any number of lines, `[…]` at the end of a line for the rest of it. A name
in backticks alone on a line, followed by a block, is a file in the folder where the commands run.
"""
import dataclasses
import re

LEFT_OUT = re.compile(r'^\[… (?:(\d+) )?lines …\]$')
EXIT_STATUS = re.compile(r'^\[exit status (\d+)\]$')
FILE_NAME = re.compile(r'^`([\w./-]+)`$')


@dataclasses.dataclass
class Step:
    """A command and its answer."""
    place: str
    command: str
    lines: list = dataclasses.field(default_factory=list)
    status: int = 0


@dataclasses.dataclass
class Page:
    """The flows of a page by their headings, and the files that they use."""
    flows: dict
    files: dict


def read(path):
    """The page in a file."""
    page = Page({}, {})
    heading, block, file_name, kind = '', None, None, ''
    with open(path, encoding='utf-8') as page_file:
        for number, line in enumerate(page_file, 1):
            line = line.rstrip('\n')
            if block is not None:
                if line != '```':
                    block.append((number, line))
                    continue
                if kind == 'console':
                    page.flows.setdefault(heading, []).extend(steps(path, block))
                elif file_name:
                    page.files[file_name] = ''.join(text + '\n' for _, text in block)
                block = file_name = None
            elif line.startswith('```'):
                block, kind = [], line[3:].strip()
            elif line.startswith('## '):
                heading = line[3:]
            elif FILE_NAME.match(line):
                file_name = FILE_NAME.match(line).group(1)
            elif line:
                file_name = None
    return page


def steps(path, block):
    """The commands of a block."""
    found = []
    for number, line in block:
        status = EXIT_STATUS.match(line)
        if line.startswith('$ '):
            found.append(Step('%s:%d' % (path, number), line[2:]))
        elif status:
            found[-1].status = int(status.group(1))
        else:
            found[-1].lines.append(line)
    return found
