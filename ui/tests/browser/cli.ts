// What the command lines send for the same files: a service that records the request answers them.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** The bodies that the command lines send for `stack create`: Kiln's own, and `openstack` where it is installed. */
export async function bodiesOfClients(name: string, directory: string, template: string, environment: string): Promise<Record<string, unknown>[]> {
  const kiln = process.env.KILN_BIN ?? join(import.meta.dirname, '../../../target/debug/kiln');
  const openstack = join(process.env.KILN_CLIENTS ?? '/nowhere', 'bin/openstack');
  const programs = [kiln, ...(existsSync(openstack) ? [openstack] : [])];
  const found: Record<string, unknown>[] = [];
  for (const program of programs) found.push(await bodyOf(program, ['stack', 'create', '-t', join(directory, template), '-e', join(directory, environment), name]));
  return found;
}

function bodyOf(program: string, args: string[]): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const server = createServer((incoming, outgoing) => {
      let text = '';
      incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
      incoming.on('end', () => {
        // The recorder is no service: the client fails afterwards, and that is all right.
        outgoing.writeHead(503).end();
        if (incoming.method === 'POST' && incoming.url?.endsWith('/stacks')) {
          server.close();
          resolve(JSON.parse(text) as Record<string, unknown>);
        }
      });
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const env = { PATH: process.env.PATH, HOME: '/nonexistent', OS_AUTH_TYPE: 'none', OS_ENDPOINT: `http://127.0.0.1:${port}` };
      execFile(program, args, { env, timeout: 30_000 }, (error, _, stderr) => {
        // A body that was recorded has resolved the promise already.
        reject(new Error(`${program} sent no request: ${error?.message} ${stderr}`));
        server.close();
      });
    });
  });
}
