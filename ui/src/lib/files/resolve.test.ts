import { describe, expect, test } from 'vitest';
import { pythonJson } from './python';
import { kindOf, resolve, sort } from './resolve';
import { directory, join, pathOf, urlOf } from './url';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const set = (files: Record<string, string>): Map<string, Uint8Array> => new Map(Object.entries(files).map(([path, text]) => [path, bytes(text)]));

describe('files of a launch', () => {
  const files = set({
    'app/main.yaml': 'heat_template_version: 2016-10-14\nresources:\n  a: {type: nested/web.yaml}\n  b: {type: "My::Type"}\n',
    'app/nested/web.yaml': 'heat_template_version: 2016-10-14\nresources:\n  c:\n    type: OS::Heat::SoftwareConfig\n    properties: {config: {get_file: ../scripts/run.sh}}\n',
    'app/scripts/run.sh': '#!/bin/sh\necho hello\n',
    'app/env.yaml': 'parameters: {size: 3}\nresource_registry:\n  "My::Type": nested/web.yaml\n',
  });

  test('names become URLs, and nested files are gathered', () => {
    const { body, missing } = resolve(files, 'app/main.yaml', ['app/env.yaml']);
    expect(missing).toEqual([]);
    expect(body.template).toEqual({ heat_template_version: '2016-10-14', resources: { a: { type: 'file:///app/nested/web.yaml' }, b: { type: 'My::Type' } } });
    expect(Object.keys(body.files).sort()).toEqual(['file:///app/env.yaml', 'file:///app/nested/web.yaml', 'file:///app/scripts/run.sh']);
    expect(body.files['file:///app/nested/web.yaml']).toBe('{"heat_template_version": "2016-10-14", "resources": {"c": {"type": "OS::Heat::SoftwareConfig", "properties": {"config": {"get_file": "file:///app/scripts/run.sh"}}}}}');
    expect(body.environment).toEqual({ parameters: { size: 3 }, resource_registry: { 'My::Type': 'file:///app/nested/web.yaml' } });
    expect(body.environment_files).toEqual(['file:///app/env.yaml']);
  });

  test('what is missing is named with the file that names it', () => {
    const { missing } = resolve(set({ 'a.yaml': 'heat_template_version: 2016-10-14\nresources: {x: {type: y.yaml}}\n' }), 'a.yaml', []);
    expect(missing).toEqual([{ url: 'file:///y.yaml', by: 'a.yaml' }]);
  });

  test('later environments are merged into earlier ones', () => {
    const two = set({ 't.yaml': 'heat_template_version: 2016-10-14\n', '1.yaml': 'parameters: {a: 1, b: {c: 1}}\n', '2.yaml': 'parameters: {a: 2, b: {d: 2}}\n' });
    expect(resolve(two, 't.yaml', ['1.yaml', '2.yaml']).body.environment).toEqual({ parameters: { a: 2, b: { c: 1, d: 2 } } });
  });

  test('the template that no other names comes first', () => {
    expect(sort(files)).toEqual({ templates: ['app/main.yaml', 'app/nested/web.yaml'], environments: ['app/env.yaml'] });
    expect(kindOf(bytes('just: text'))).toBe('other');
    expect(kindOf(new Uint8Array([0xff, 0xfe]))).toBe('other');
  });

  test('values are those of YAML 1.1, and dates are text', () => {
    const text = 'heat_template_version: 2016-10-14\nparameters: {a: {default: yes}, b: {default: y}, c: {default: 010}, d: {default: 1.5}, e: {default: 2001-01-01}}\n';
    const { template } = resolve(set({ 't.yaml': text }), 't.yaml', []).body;
    expect(template).toMatchObject({ heat_template_version: '2016-10-14', parameters: { a: { default: true }, b: { default: 'y' }, c: { default: 8 }, d: { default: 1.5 }, e: { default: '2001-01-01' } } });
  });
});

describe('URLs', () => {
  test('paths are quoted as urllib does', () => {
    expect(urlOf('a b/ü(1).yaml')).toBe('file:///a%20b/%C3%BC%281%29.yaml');
    expect(pathOf('file:///a%20b/%C3%BC%281%29.yaml')).toBe('a b/ü(1).yaml');
    expect(pathOf('http://h/x')).toBeNull();
  });

  test('names are joined', () => {
    const base = directory('file:///a/b/t.yaml');
    expect(join(base, 'c.yaml')).toBe('file:///a/b/c.yaml');
    expect(join(base, './c.yaml')).toBe('file:///a/b/c.yaml');
    expect(join(base, '../c.yaml')).toBe('file:///a/c.yaml');
    expect(join(base, '/c.yaml')).toBe('file:///c.yaml');
    expect(join(base, 'http://h/c.yaml')).toBe('http://h/c.yaml');
  });
});

test('JSON is written as Python does', () => {
  expect(pythonJson({ a: [1, 'ü', null, true], b: {} })).toBe('{"a": [1, "\\u00fc", null, true], "b": {}}');
});
