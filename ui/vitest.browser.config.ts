import { defineConfig } from 'vitest/config';

// Tests in a real Chromium against a running service. They share one machine, so they run one after the other.
export default defineConfig({
  test: { include: ['tests/browser/*.test.ts'], fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000, bail: 0 },
});
