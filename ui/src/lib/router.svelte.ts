// Addresses: `#/PROJECT/page/parts?query`. They are behind the hash, so any web server can serve the page.

/** An address. */
export interface Address {
  project: string;
  parts: string[];
  query: URLSearchParams;
}

/** Reads an address. */
export function parse(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [project = '', ...parts] = path.split('/').map(decode);
  return { project, parts: parts.filter((part) => part !== ''), query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

class Router {
  address = $state.raw<Address>(parse(location.hash));

  constructor() {
    addEventListener('hashchange', () => {
      this.address = parse(location.hash);
    });
  }

  /** The link to a page of the current project. */
  link(parts: string[], query?: Record<string, string | undefined>, project = this.address.project): string {
    const path = [project, ...parts].map((part) => encodeURIComponent(part)).join('/');
    const given = Object.entries(query ?? {}).filter((it): it is [string, string] => !!it[1]);
    const search = new URLSearchParams(given).toString();
    return `#/${path}${search ? `?${search}` : ''}`;
  }

  go(parts: string[], query?: Record<string, string | undefined>): void {
    location.hash = this.link(parts, query);
  }

  /** Changes the query in place, without an entry in the history. */
  requery(changes: Record<string, string | undefined>): void {
    const all = { ...Object.fromEntries(this.address.query), ...changes };
    history.replaceState(null, '', this.link(this.address.parts, all));
    this.address = parse(location.hash);
  }

  /** The same page in another project, or its list of stacks if the page is about one stack. */
  useProject(project: string): void {
    const parts = this.address.parts[0] === 'stacks' || !this.address.parts[0] ? ['stacks'] : this.address.parts;
    location.hash = this.link(parts, {}, project);
  }
}

/** The address of this tab. */
export const router = new Router();
