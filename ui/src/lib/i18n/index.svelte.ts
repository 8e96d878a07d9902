// Texts in the user's language: the browser's, or the one that was chosen.

import { en, type Key } from './en';
import { zh } from './zh';

export type Language = 'en' | 'zh';
export type { Key };

const TABLES: Record<Language, Record<Key, string>> = { en, zh };
const LANGUAGE_KEY = 'kiln.language';

class I18n {
  language = $state<Language>(chosen());

  use(language: Language): void {
    this.language = language;
    localStorage.setItem(LANGUAGE_KEY, language);
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  }
}

function chosen(): Language {
  const kept = localStorage.getItem(LANGUAGE_KEY);
  if (kept === 'en' || kept === 'zh') return kept;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export const i18n = new I18n();
i18n.use(i18n.language);

/** The text of a key, with values in place of `{names}`. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return TABLES[i18n.language][key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

const locale = (): string => (i18n.language === 'zh' ? 'zh-CN' : navigator.language);

/** A moment in local time. */
export function moment(time: string | number | null): string {
  if (!time) return '—';
  return new Date(time).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'medium' });
}

/** How long ago a moment was. */
export function ago(time: string | null, now = Date.now()): string {
  if (!time) return '—';
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' });
  for (const [unit, size] of UNITS) if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  return format.format(seconds, 'second');
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** A duration in milliseconds, such as `1 m 20 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} m`;
}
