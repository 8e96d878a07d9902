// Where the cursor is in a template: the keys that lead to its line, by indentation. It works in texts that do not parse.

export interface Place {
  /** The keys from the root to the line's parent. */
  path: string[];
  /** The key of the line, if it has one before the cursor. */
  key: string | null;
  /** What is typed of the word at the cursor. */
  word: string;
}

const KEY = /^(\s*(?:- )*)([A-Za-z0-9_:.\-]+?):(?:\s|$)/;

/** The place of an offset. */
export function placeOf(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split('\n');
  const line = lines.pop() ?? '';
  const indent = (it: string): number => /^\s*(?:- )*/.exec(it)?.[0].length ?? 0;
  const own = KEY.exec(line);
  const word = /[A-Za-z0-9_:.\-]*$/.exec(line)?.[0] ?? '';
  const path: string[] = [];
  let depth = indent(line);
  for (const former of lines.reverse()) {
    const match = KEY.exec(former);
    if (!match || indent(former) >= depth) continue;
    path.unshift(match[2] ?? '');
    depth = indent(former);
    if (depth === 0) break;
  }
  return { path, key: own?.[2] ?? null, word };
}
