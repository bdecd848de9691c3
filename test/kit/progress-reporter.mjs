/* A reporter of Jest for `npm run test:long` without a terminal, where Jest itself does not tell how many files are left. */
import { relative } from 'node:path';
import { startProgress } from '../../tools/progress.mjs';

export default class ProgressReporter {
  onRunStart({ numTotalTestSuites }) {
    this.progress = startProgress(numTotalTestSuites);
  }

  onTestFileStart({ path }) {
    this.progress.step(relative('.', path));
  }

  onRunComplete() {
    this.progress.end();
  }
}
