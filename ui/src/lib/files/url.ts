// URLs of files, as Python's urllib makes them.

/** The URL of a path below the root. */
export function urlOf(path: string): string {
  const quote = (part: string): string => encodeURIComponent(part).replace(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);
  return `file:///${path.split('/').map(quote).join('/')}`;
}

/** The path of a URL below the root; nothing if it is no file. */
export function pathOf(url: string): string | null {
  if (!url.startsWith('file:///')) return null;
  const path = url.slice('file:///'.length);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The directory of a URL, with a slash at its end. */
export const directory = (url: string): string => url.slice(0, url.lastIndexOf('/') + 1);

/** A name relative to a directory. */
export function join(base: string, name: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(name)) return name;
  const [, root = '', path = ''] = /^([a-z]+:\/\/[^/]*)(.*)$/i.exec(base) ?? [];
  const parts = (name.startsWith('/') ? name : path + name).split('/');
  const kept: string[] = [];
  parts.forEach((part, index) => {
    const isLast = index === parts.length - 1;
    if (part === '..') {
      if (kept.length > 1) kept.pop();
      if (isLast) kept.push('');
    } else if (part === '.') {
      if (isLast) kept.push('');
    } else kept.push(part);
  });
  return root + kept.join('/');
}
