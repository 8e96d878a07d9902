// The dashboard as static files behind a web server, in front of any Keystone and any orchestration service.

import { createReadStream, existsSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

const DIST = join(import.meta.dirname, '../../dist');
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the files, and passes requests on below `/identity` and `/orchestration`. */
export async function serveStatic(identity: string, orchestration: string): Promise<{ dashboard: string; stop: () => void }> {
  const config = JSON.stringify({ identity: 'identity', orchestration: 'orchestration/{project_id}', services: 'nothing/{type}' });
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '/';
    if (path.startsWith('/identity/')) pass(incoming, outgoing, identity + path.slice('/identity'.length));
    else if (path.startsWith('/orchestration/')) pass(incoming, outgoing, orchestration + path.slice('/orchestration'.length));
    else if (path === '/config.json') outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(config);
    else sendFile(outgoing, path.split('?')[0] ?? '/');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { dashboard: `http://127.0.0.1:${port}/`, stop: () => server.close() };
}

function sendFile(outgoing: ServerResponse, path: string): void {
  const file = join(DIST, normalize(path === '/' ? '/index.html' : path));
  if (!file.startsWith(DIST) || !existsSync(file)) return void outgoing.writeHead(404).end();
  outgoing.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Security-Policy': POLICY });
  createReadStream(file).pipe(outgoing);
}

function pass(incoming: IncomingMessage, outgoing: ServerResponse, url: string): void {
  const { host: _, ...headers } = incoming.headers;
  const passed = request(url, { method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  passed.on('error', () => outgoing.writeHead(502).end());
  incoming.pipe(passed);
}
