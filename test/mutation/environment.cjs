/* Jest's environment for Node. With a mutant, it skips the other tests of a file after the first that fails. */
const { TestEnvironment } = require('jest-environment-node');

module.exports = class MutantEnvironment extends TestEnvironment {
  #failed = false;

  async handleTestEvent({ name, test }) {
    if (name === 'test_done' && test.errors.length > 0) this.#failed = true;
    if (name === 'test_start' && this.#failed && process.env.__STRYKER_ACTIVE_MUTANT__) test.mode = 'skip';
  }
};
