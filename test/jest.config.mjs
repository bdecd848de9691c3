import { availableParallelism } from 'node:os';

const isLong = process.env.TEST_TIER === 'long';
/** The site has packages of its own, and takes a minute to build: `npm run test:site`. */
const isSite = process.env.TEST_TIER === 'site';
const jsc = { target: 'es2023', parser: { syntax: 'typescript' }, experimental: { keepImportAttributes: true } };

export default {
  rootDir: '..',
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/packages/*/test/**/*.test.ts'],
  resolver: '<rootDir>/test/kit/resolve-client.cjs',
  testPathIgnorePatterns: isSite ? [] : ['\\.site\\.test\\.ts$', ...(isLong ? [] : ['\\.long\\.test\\.ts$'])],
  // Copies of the project, while `npm run mutation` runs.
  modulePathIgnorePatterns: ['<rootDir>/dist/mutation/'],
  extensionsToTreatAsEsm: ['.ts'],
  // On a terminal, Jest itself says how many files are left.
  reporters: ['default', ...(isLong && !process.stderr.isTTY ? ['<rootDir>/test/kit/progress-reporter.mjs'] : [])],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc, module: { type: 'es6' } }] },
  // A busy machine may be slow; what hangs is ended.
  testTimeout: 120_000,
  // Tests often wait for timeouts of the gateway. Meanwhile another one can use the processor.
  maxWorkers: availableParallelism() + 1,
};
