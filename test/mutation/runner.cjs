/*
 * A runner of Jest for one process that runs many mutants. It leaves out files without a test that Stryker chose, because each
 * starts a gateway when it is loaded, and with a mutant it stops after the first file that fails.
 */
const { default: TestRunner } = require('jest-runner');

/** The full names of the tests of each file, as its last run reported them. */
const names = new Map();

module.exports = class MutantRunner extends TestRunner {
  async runTests(tests, watcher, options) {
    let failed = false;
    this.on('test-file-success', ([{ path }, { testResults, numFailingTests }]) => {
      names.set(
        path,
        testResults.map(({ fullName }) => fullName),
      );
      failed ||= numFailingTests > 0;
    });
    this.on('test-file-failure', () => {
      failed = true;
    });
    const { testNamePattern } = this._globalConfig;
    const chosen = testNamePattern && new RegExp(testNamePattern, 'i');
    const isChosen = ({ path }) => !chosen || (names.get(path) ?? ['']).some((name) => !name || chosen.test(name));
    for (const test of tests.filter(isChosen)) {
      await super.runTests([test], watcher, options);
      if (failed && process.env.__STRYKER_ACTIVE_MUTANT__) return;
    }
  }
};
