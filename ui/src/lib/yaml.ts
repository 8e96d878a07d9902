// YAML as the clients of OpenStack read it: version 1.1, dates stay text, `y` and `n` are no booleans.

import { Document, isMap, isScalar, parseDocument, stringify, type CollectionTag, type ScalarTag, type Tags } from 'yaml';

const TRUE = /^(?:[Yy]es|YES|[Tt]rue|TRUE|[Oo]n|ON)$/;
const FALSE = /^(?:[Nn]o|NO|[Ff]alse|FALSE|[Oo]ff|OFF)$/;

const bool = (test: RegExp, value: boolean): ScalarTag => ({ tag: 'tag:yaml.org,2002:bool', default: true, identify: (it) => it === value, test, resolve: () => value, stringify: () => String(value) });

const isTag = (tag: string | ScalarTag | CollectionTag): tag is ScalarTag | CollectionTag => typeof tag !== 'string';

function tags(known: Tags): Tags {
  const kept = known.filter((tag) => isTag(tag) && !/:(bool|timestamp)$/.test(tag.tag));
  return [bool(TRUE, true), bool(FALSE, false), ...kept];
}

/** A mistake in the form of a text. */
export class YamlError extends Error {
  constructor(
    message: string,
    readonly line: number,
    readonly column: number,
  ) {
    super(message);
  }
}

/** Reads a text with the places of everything in it. */
export function document(text: string): Document.Parsed {
  return parseDocument(text, { version: '1.1', merge: true, customTags: tags, prettyErrors: true, uniqueKeys: false, logLevel: 'silent' });
}

/** Reads a text. */
export function parse(text: string): unknown {
  const read = document(text);
  const error = read.errors[0];
  if (error) throw new YamlError(error.message, error.linePos?.[0].line ?? 1, error.linePos?.[0].col ?? 1);
  return read.toJS({ maxAliasCount: 1000 });
}

/** Writes a value. */
export function write(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0, defaultKeyType: 'PLAIN' });
}

/** The offset of a path in a text; the nearest part of it that there is. */
export function offsetOf(read: Document.Parsed, path: string[]): number | null {
  let at: unknown = read.contents;
  let found: number | null = null;
  for (const part of path) {
    if (!isMap(at)) break;
    const pair = at.items.find((it) => isScalar(it.key) && String(it.key.value) === part);
    if (!pair) break;
    if (isScalar(pair.key) && pair.key.range) found = pair.key.range[0];
    at = pair.value;
  }
  return found;
}
