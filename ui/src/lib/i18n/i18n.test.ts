import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { en } from './en';
import { zh } from './zh';

const names = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((it) => it[1] ?? '').sort();

test('both languages have the same keys and the same values in their texts', () => {
  expect(Object.keys(zh)).toEqual(Object.keys(en));
  for (const [key, text] of Object.entries(en)) expect(names(zh[key as keyof typeof en]), key).toEqual(names(text));
});

test('every text is used', () => {
  const root = join(import.meta.dirname, '../..');
  const code = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(svelte|ts)$/.test(path) && !path.includes('i18n'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  const built = [...code.matchAll(/`(\w+\.)\$\{/g)].map((it) => it[1] ?? '');
  const unused = Object.keys(en).filter((key) => !code.includes(`'${key}'`) && !built.some((prefix) => key.startsWith(prefix)));
  expect(unused).toEqual([]);
});
