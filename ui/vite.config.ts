import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The names of assets carry hashes of their contents, so servers may let browsers keep them for ever. Paths are relative,
// so the same files work below any path.
export default defineConfig({
  base: './',
  plugins: [svelte({ compilerOptions: { css: 'external' } })],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    // `KILN_API=http://127.0.0.1:8004 npm run dev` works on the page with a running `kiln dev`.
    proxy: Object.fromEntries(
      ['/v1', '/config.json', '/identity', '/services'].map((path) => [
        path,
        { target: process.env.KILN_API ?? 'http://127.0.0.1:8004', rewrite: (it: string) => (path === '/v1' ? it : `/dashboard${it}`) },
      ]),
    ),
  },
});
