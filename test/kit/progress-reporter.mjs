/* A reporter of Jest for `npm run test:long` without a terminal, where Jest itself does not tell how many files are left. */
import { relative } from 'node:path';
import { startProgress } from '../../tools/progress.mjs';

export default class ProgressReporter {
  onRunStart({ numTotalTestSuites }) {
    this.progress = startProgress(numTotalTestSuites);
  }

  // Files run at the same time: a step is a file that has ended.
  onTestFileResult({ path }) {
    this.progress.step(relative('.', path));
  }

  onRunComplete() {
    this.progress.end();
  }
}
